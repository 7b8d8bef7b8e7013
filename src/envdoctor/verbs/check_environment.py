"""``check`` without a project: an environment, facts or a log in; report out. Nothing is resolved."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from envdoctor.diagnose.engine import examine, is_understood
from envdoctor.diagnose.examination import Examination
from envdoctor.model.environment import EnvironmentKind, EnvironmentProblemKind
from envdoctor.model.report import Report, Verdict
from envdoctor.model.target import Target, TargetProperty
from envdoctor.ports import Tell
from envdoctor.verbs import collector_paused
from envdoctor.verbs.card_choice import with_card
from envdoctor.verbs.host import cards_were_asked
from envdoctor.verbs.scope import target_facts
from envdoctor.verbs.settings import Settings, further_advisories
from envdoctor.verbs.target_choice import TargetChoice, assumed_of, fitted, on_python, pick_target, torch_of_facts

if TYPE_CHECKING:
    from envdoctor.diagnose.advisories.advisory import Advisory
    from envdoctor.model.conflict import Conflict
    from envdoctor.model.environment import InstalledEnvironment
    from envdoctor.model.profile import Profile
    from envdoctor.verbs.index_choice import IndexChoice
    from envdoctor.verbs.patient import Patient

__all__ = ["answered", "could_be_asked", "report_of_patient"]


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
    environment, target = _with_requirements(environment, index_choice, profile, target, tell)
    examination = Examination(
        target=target,
        profile=profile,
        environment=environment,
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
) -> tuple[InstalledEnvironment | None, Target]:
    """Return a listing with the requirements that the index knows, and the target with the Python of its wheels.

    Anything else, and all offline, stays as it is; so does a Python that was typed or told.
    """
    if environment is None or environment.kind is not EnvironmentKind.LISTING or choice.offline:
        return environment, target
    from envdoctor.verbs.index_choice import open_ports
    from envdoctor.verbs.listing_requirements import python_of_wheels, with_requirements

    index = open_ports(choice, profile, None)
    try:
        if target.python_assumed and environment.python is None:
            python = python_of_wheels(environment, index, target)
            target = target if python == target.python else replace(target, python=python, python_full=None)
        return with_requirements(environment, index, target), target
    finally:
        index.close()
        for text in dict.fromkeys(index.notes):
            tell(text)
