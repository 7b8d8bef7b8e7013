"""``check`` without a project: an environment, facts or a log in; report out. Nothing is resolved."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name
from packaging.version import Version

from envdoctor.diagnose.engine import examine, is_understood
from envdoctor.diagnose.examination import Examination
from envdoctor.model.candidate import DistributionFile, FileKind
from envdoctor.model.compatibility import can_use
from envdoctor.model.environment import EnvironmentKind, EnvironmentProblem, EnvironmentProblemKind
from envdoctor.model.report import Report, Verdict
from envdoctor.model.target import Target, TargetProperty
from envdoctor.ports import Index, IndexUnavailable, MetadataUnavailable, ProjectNotFound, Tell
from envdoctor.verbs import collector_paused
from envdoctor.verbs.card_choice import with_card
from envdoctor.verbs.host import cards_were_asked
from envdoctor.verbs.scope import target_facts
from envdoctor.verbs.settings import Settings, further_advisories
from envdoctor.verbs.target_choice import TargetChoice, assumed_of, fitted, on_python, pick_target, torch_of_facts

if TYPE_CHECKING:
    from packaging.utils import NormalizedName

    from envdoctor.diagnose.advisories.advisory import Advisory
    from envdoctor.model.conflict import Conflict
    from envdoctor.model.environment import InstalledDistribution, InstalledEnvironment
    from envdoctor.model.profile import Profile
    from envdoctor.verbs.index_choice import IndexChoice
    from envdoctor.verbs.patient import Patient

__all__ = ["answered", "could_be_asked", "report_of_patient", "with_requirements"]

_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")


def check_patient(examination: Examination, further: Sequence[Advisory]) -> Report:
    """Return the report of ``check`` over what is known of an environment or a machine alone."""
    begin = time.perf_counter()
    findings = examine(examination, further)
    seconds = round(time.perf_counter() - begin, 3)
    return Report(
        command="check",
        target=examination.target,
        profile=examination.profile.name if examination.profile else None,
        complete=could_be_asked(examination.environment)
        and cards_were_asked(examination.facts)
        and is_understood(findings),
        conflicts=_conflicts_of(examination.log),
        findings=findings,
        facts=tuple(examination.facts),
        timings={"total_s": seconds, "rules_s": seconds},
    )


def _conflicts_of(log: str | None) -> tuple[Conflict, ...]:
    if not log:
        return ()
    # Imported here: most runs have no log, and its readers take their time to load.
    from envdoctor.diagnose.logs.log_findings import conflicts_of_log

    return conflicts_of_log(log)


def could_be_asked(environment: InstalledEnvironment | None) -> bool:
    """Return whether the environment's interpreter answered in time, and everything that was to be read may be read."""
    if environment is None:
        return True
    in_time = all(outcome.status != "timed-out" for outcome in environment.imports.values())
    return in_time and not any(
        problem.kind
        in (
            EnvironmentProblemKind.INTERPRETER_TIMEOUT,
            EnvironmentProblemKind.INTERPRETER_FAILED,
            EnvironmentProblemKind.FOREIGN_INTERPRETER,
            EnvironmentProblemKind.FORBIDDEN,
        )
        for problem in environment.problems
    )


def with_requirements(
    environment: InstalledEnvironment, index: Index, target: Target | None = None
) -> InstalledEnvironment:
    """Return a listing with the requirements that the index has for its versions.

    Distributions that the index does not have in that version (local builds, editable installs) stay as they are,
    and so does an environment that is no listing. Never raises for what the index lacks or when it cannot be reached:
    what stays unknown is told as before.
    """
    if environment.kind is not EnvironmentKind.LISTING or any(item.requires_dist for item in environment.distributions):
        return environment
    wanted = {item.name: version for item in environment.distributions if (version := _version(item)) is not None}
    index.prefetch_pages(wanted)
    files = dict(_files(wanted, index, target))
    index.prefetch_metadata(files.values())
    distributions = tuple(_filled(item, files, index) for item in environment.distributions)
    filled = {
        item.name for item, before in zip(distributions, environment.distributions, strict=True) if item != before
    }
    if not filled:
        return environment
    open_ = tuple(item.name for item in environment.distributions if item.name not in filled)
    problems = list(_problems(environment, open_))
    chosen = not environment.partial and _is_choice(distributions)
    if chosen:
        named = environment.problems[0].subject if environment.problems else ""
        left_out = "distributions that it leaves out"
        problems.append(EnvironmentProblem(EnvironmentProblemKind.NOT_TOLD, named, left_out))
    partial = environment.partial or chosen
    return replace(environment, distributions=distributions, problems=tuple(problems), partial=partial)


def _is_choice(distributions: Sequence[InstalledDistribution]) -> bool:
    """Return whether more is missing than listed: rows that a person chose, and no environment that ever ran."""
    there = {item.name for item in distributions}
    plain = (text for item in distributions for text in item.requires_dist if ";" not in text)
    needed = {canonicalize_name(found[0]) for text in plain if (found := _NAME.match(text))}
    # What `pip list` says of itself stands in whole lists alone.
    return "pip" not in there and len(needed - there) > max(len(there), 3)


def _version(item: InstalledDistribution) -> Version | None:
    """Return the version to ask for; a build from elsewhere may have other requirements than the index's own."""
    if item.editable or item.direct_url:
        return None
    try:
        return Version(item.version)
    except ValueError:
        return None


def _files(
    wanted: dict[NormalizedName, Version], index: Index, target: Target | None
) -> Iterator[tuple[str, DistributionFile]]:
    for name, version in wanted.items():
        try:
            page = index.page(name)
        except (ProjectNotFound, IndexUnavailable):
            continue
        files = [file for file in page.files if file.version == version]
        # A wheel says without a build what it requires; the one for the target is the one that is installed.
        files.sort(key=lambda file: (file.kind is not FileKind.WHEEL, target is not None and not can_use(file, target)))
        if files:
            yield name, files[0]


def _filled(item: InstalledDistribution, files: dict[str, DistributionFile], index: Index) -> InstalledDistribution:
    file = files.get(item.name)
    if file is None:
        return item
    try:
        metadata = index.metadata(file)
    except (MetadataUnavailable, IndexUnavailable):
        return item
    return replace(
        item,
        requires_dist=metadata.requires_dist,
        requires_python=metadata.requires_python,
        provides_extra=tuple(sorted(metadata.provides_extra)),
        metadata_path=file.filename,
    )


def _problems(environment: InstalledEnvironment, unfilled: tuple[str, ...]) -> Iterator[EnvironmentProblem]:
    for problem in environment.problems:
        if problem.kind is not EnvironmentProblemKind.REQUIREMENTS_NOT_TOLD:
            yield problem
        elif unfilled:
            shown = ", ".join(unfilled[:5]) + (f" and {len(unfilled) - 5} more" if len(unfilled) > 5 else "")
            yield replace(problem, detail=f"what these require: {shown}")


_ANSWERED_BY = {
    EnvironmentProblemKind.PYTHON_NOT_TOLD: TargetProperty.PYTHON,
    EnvironmentProblemKind.SYSTEM_NOT_TOLD: TargetProperty.OS,
}


def answered(patient: Patient, choice: TargetChoice) -> Patient:
    """Return the patient without the questions of its listing that what was typed, or facts, answer."""
    environment = patient.environment
    if environment is None:
        return patient
    assumed = assumed_of(patient, choice)
    still = tuple(each for each in environment.problems if _ANSWERED_BY.get(each.kind) in (None, *assumed))
    return replace(patient, environment=replace(environment, problems=still))


def report_of_patient(
    named: str | None,
    target_choice: TargetChoice,
    patient: Patient,
    index_choice: IndexChoice,
    *,
    tell: Tell,
) -> Report:
    """Return the report. Raises UsageError.

    The index is asked for one thing: what the distributions of a listing require.
    """
    patient = replace(patient, facts=with_card(patient.facts, target_choice.gpu))
    if patient.environment is None:
        patient = replace(patient, environment=torch_of_facts(patient.facts))
    patient = answered(patient, target_choice)
    profile = _profile(named)
    target, _ = pick_target(target_choice, profile, None)
    assumed: frozenset[TargetProperty] = frozenset()
    environment = patient.environment
    if profile is None:
        target = fitted(target, patient, target_choice)
        assumed = assumed_of(patient, target_choice)
        if environment is not None:
            of_python, of_system = TargetProperty.PYTHON in assumed, TargetProperty.OS in assumed
            full = None if of_python and target_choice.python is None else target.python_full
            of_python = of_python or target.python_assumed
            target = replace(target, python_full=full, python_assumed=of_python, os_assumed=of_system)
    elif target_choice.python is None and environment is not None and environment.python is not None:
        target = on_python(target, environment.python, environment)
    if profile is not None and environment is not None:
        environment = _without_torch(environment, profile)
    examination = Examination(
        target=target,
        profile=profile,
        environment=_with_requirements(environment, index_choice, profile, target, tell),
        binaries=patient.binaries,
        facts=patient.facts,
        log=patient.log,
        assumed=assumed,
        not_read=patient.not_read,
    )
    with collector_paused():
        further = further_advisories(Settings(), Path())
        report = check_patient(examination, further)
        put_in = None if environment is not None else _put_in(patient.log)
        if put_in is not None:
            judged = check_patient(replace(examination, environment=put_in), further)
            # A log that ends well asks nothing: what cannot run is told, and not what could be better.
            report = judged if judged.verdict is Verdict.BROKEN else report
    place = (environment.root,) if environment is not None and environment.root else ()
    settings = target_facts(target, target_choice, Settings(), profile, patient)
    if environment is None and profile is None:
        settings = tuple(each for each in settings if not _is_assumed(each.name, assumed))
        report = replace(report, target=target if settings else None)
    return replace(report, scope=replace(report.scope, environments=place, target_facts=settings))


def _put_in(log: str | None) -> InstalledEnvironment | None:
    """Return what the log of an install that went well has put in; a failure speaks for itself."""
    if not log:
        return None
    from envdoctor.diagnose.advisories.log_reading import installed_by
    from envdoctor.diagnose.logs.log_failures import failures_of

    return None if failures_of(log) else installed_by(log)


def _is_assumed(name: str, assumed: frozenset[TargetProperty]) -> bool:
    """Return whether a property of the target is this machine's alone, of which a log or facts say nothing."""
    of_system = name in ("glibc", "macos") and TargetProperty.OS in assumed
    return of_system or name in {kind.value for kind in assumed}


def _without_torch(environment: InstalledEnvironment, profile: Profile) -> InstalledEnvironment:
    """Return the environment with torch as a missing module, where the profile proves itself in torch's kernels.

    Which torch that is, the project's files say; without them its absence would be passed over.
    """
    measured = environment.executable is not None and not environment.imports
    if not profile.smoke.kernels or not measured or environment.get("torch") is not None:
        return environment
    from envdoctor.model.environment import ImportOutcome

    outcome = ImportOutcome("torch", "missing", "the profile's kernels run in it")
    return replace(environment, imports={"torch": outcome})


def _profile(named: str | None) -> Profile | None:
    if named is None:
        return None
    from pathlib import Path

    from envdoctor.verbs.project_inputs import pick_profile

    return pick_profile(named, Settings(), Path())


def _with_requirements(
    environment: InstalledEnvironment | None, choice: IndexChoice, profile: Profile | None, target: Target, tell: Tell
) -> InstalledEnvironment | None:
    """Return a listing with the requirements that the index knows; anything else, and all offline, as it is."""
    if environment is None or environment.kind is not EnvironmentKind.LISTING or choice.offline:
        return environment
    from envdoctor.verbs.index_choice import open_ports

    index = open_ports(choice, profile, None)
    try:
        return with_requirements(environment, index, target)
    finally:
        index.close()
        for text in dict.fromkeys(index.notes):
            tell(text)
