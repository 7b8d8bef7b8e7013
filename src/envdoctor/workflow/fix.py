"""``fix``: from a project and a profile to the plan of a treatment, and what is to be said when it is done."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from packaging.pylock import Pylock
from packaging.version import InvalidVersion, Version

from envdoctor import __version__
from envdoctor.diagnose.wheel_facts import shipped_wheel_facts
from envdoctor.lock.reading import LockedProject, parse_lock, tomllib
from envdoctor.model.candidate import BuildRisk, DistributionFile, FileKind
from envdoctor.model.plan import PatchPreview, Plan, PlannedFile, Refusal
from envdoctor.model.profile import Patch, Profile
from envdoctor.model.report import Report
from envdoctor.model.target import Target
from envdoctor.planning.lock_files import planned_files
from envdoctor.planning.plan import PlanInput, make_plan
from envdoctor.planning.refusals import BuildState, EnvironmentState
from envdoctor.planning.selection import Selection, expand_variables, select
from envdoctor.ports import IndexUnavailable, MetadataUnavailable
from envdoctor.workflow.avoid_builds import with_wheels_instead
from envdoctor.workflow.check import CheckRequest
from envdoctor.workflow.lock import LockChoice, LockOutcome, lock
from envdoctor.workflow.undeclared import Undeclared, undeclared_imports

__all__ = ["FixPorts", "FixRequest", "Prepared", "prepare"]


class FixPorts(Protocol):
    """What planning a treatment must know of this machine; nothing in here changes anything."""

    def look(self, environment: str) -> EnvironmentState:
        """Return what is at a place."""
        ...

    def find_python(self, wanted: Sequence[tuple[int, int]]) -> tuple[str, tuple[int, int]] | None:
        """Return an interpreter of the first wanted version that there is."""
        ...

    def installer(self, state: EnvironmentState) -> tuple[str, str, bool]:
        """Return the installer's name, a word on which it is, and whether it refuses invalid legacy metadata.

        Raises RuntimeError where there is none, with what to do about it.
        """
        ...

    def preview(
        self, patches: Sequence[Patch], arriving: Sequence[DistributionFile], state: EnvironmentState, *, builds: bool
    ) -> PatchPreview:
        """Apply patches in memory."""
        ...

    def missing_needs(self, needs: Sequence[str]) -> tuple[str, ...]:
        """Return what of a build's needs is not here."""
        ...

    def disk_free(self, environment: str) -> int | None:
        """Return the free bytes."""
        ...

    def other_machine(self, target: Target) -> str | None:
        """Return how this machine differs from the target, None where it is one."""
        ...


@dataclass(frozen=True, slots=True)
class FixRequest:
    """What is to be treated, and where."""

    check: CheckRequest
    environment: str
    index_urls: Mapping[str, str]
    choice: LockChoice = LockChoice()  # noqa: RUF009 - immutable
    label: str = ""
    moved: tuple[str, ...] = ()
    """Components that kernels sent away from the GPU, where they were run."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A plan, or why there is none."""

    report: Report | None = None
    plan: Plan | None = None
    files: tuple[PlannedFile, ...] = ()
    locks: Mapping[str, str] = field(default_factory=dict)
    """The lock and its companions, by file name."""
    accepted: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Packages of which something was set aside on purpose, and whose demands those were."""
    refusal: str | None = None
    complete: bool = True
    """False where the index could not be asked for all of it."""


@dataclass(frozen=True, slots=True)
class _Locked:
    """A lock on its way into a plan."""

    outcome: LockOutcome
    text: str
    document: Pylock
    files: tuple[PlannedFile, ...]
    builds: Mapping[str, BuildState]
    notes: tuple[str, ...] = ()
    check: CheckRequest | None = None
    """The request that gave it, where that is not the first."""


def prepare(request: FixRequest, ports: FixPorts) -> Prepared:
    """Return the plan for an environment; nothing is changed. Faults of the target come as refusals of the plan."""
    different = ports.other_machine(request.check.target)
    if different is not None:
        return Prepared(refusal=f"{different}; `envdoctor check` and `lock` work for other machines, `fix` does not")
    state = ports.look(request.environment)
    interpreter, check, missing = _with_python(request.check, state, ports)
    if missing is not None:
        return Prepared(refusal=missing)
    locked = _lock(replace(request, check=check), ports)
    if isinstance(locked, Prepared):
        return locked
    return _planned(replace(request, check=check), state, interpreter, locked, ports)


def _with_python(check: CheckRequest, state: EnvironmentState, ports: FixPorts) -> tuple[str, CheckRequest, str | None]:
    """Return the interpreter for a new environment, and the request for the Pythons that can be had here."""
    wanted = check.python_choices or (check.target.python,)
    if state.exists and state.fault is None and state.python is not None:
        if state.python not in wanted:
            have, choices = _dotted(state.python), ", ".join(_dotted(python) for python in wanted)
            message = (
                f"`{state.path}` is for Python {have}, and the profile or target wants {choices}; name another place "
                "with `--env`, an environment will be made there"
            )
            return "", check, message
        target = replace(check.target, python=state.python, python_full=None)
        return "", replace(check, target=target, python_choices=()), None
    found = [(python, ports.find_python((python,))) for python in wanted]
    available = tuple(python for python, answer in found if answer is not None)
    if not available:
        choices = " or ".join(_dotted(python) for python in wanted)
        return "", check, f"no Python {choices} was found here; install one (with its venv), or give it with `--python`"
    target = replace(check.target, python=available[0], python_full=None)
    request = replace(check, target=target, python_choices=available if len(available) > 1 else ())
    return "", request, None


def _dotted(python: tuple[int, int]) -> str:
    return f"{python[0]}.{python[1]}"


def _lock(request: FixRequest, ports: FixPorts) -> _Locked | Prepared:
    """Resolve and lock; once more where something cannot be built here, or is imported and not asked for."""
    made = _buildable(request, ports)
    if isinstance(made, Prepared):
        return made
    missing = _undeclared(made, request.check)
    if not missing or request.check.project is None:
        return made
    check = made.check or request.check
    project = replace(
        request.check.project,
        requirements=(*request.check.project.requirements, *(item.requirement for item in missing)),
    )
    target = made.outcome.report.target or check.target
    again = _lock_once(replace(request, check=replace(check, project=project, target=target, python_choices=())), ports)
    if isinstance(again, Prepared):
        return replace(made, notes=(*made.notes, *(f"{item.note}; it could not be" for item in missing)))
    return replace(again, notes=(*made.notes, *(item.note for item in missing)))


def _undeclared(made: _Locked, check: CheckRequest) -> tuple[Undeclared, ...]:
    resolution, archives = made.outcome.report.resolution, check.archives
    if resolution is None or archives is None or check.project is None:
        return ()
    locked = {(file.name, file.version) for file in made.files}
    if {(item.name, str(item.version)) for item in resolution.packages} != locked:
        return ()  # Another repair than the one in use was asked for.
    wanted = [item.name for item in check.project.requirements]
    wanted += [item.requirement.name for item in (check.profile.requires if check.profile else ())]
    return undeclared_imports(wanted, resolution, archives, made.outcome.report.target or check.target)


def _buildable(request: FixRequest, ports: FixPorts) -> _Locked | Prepared:
    """Resolve and lock; where something cannot be built here, once more with versions that have a wheel."""
    made = _lock_once(request, ports)
    if isinstance(made, Prepared):
        return made
    stuck = [file for file in made.files if file.sdist and made.builds[file.name].missing]
    index = request.check.index
    if not stuck or index is None:
        return made
    target = made.outcome.report.target or request.check.target
    instead = with_wheels_instead(stuck, made.document, request.check.locked, index, target)
    if instead is None:
        return made
    base, notes = instead
    check = replace(request.check, locked=base, target=target, python_choices=())
    again = _lock_once(replace(request, check=check), ports)
    if isinstance(again, Prepared) or any(file.sdist and again.builds[file.name].missing for file in again.files):
        return made
    return replace(again, notes=notes, check=check)


def _lock_once(request: FixRequest, ports: FixPorts) -> _Locked | Prepared:
    outcome = lock(request.check, request.choice, request.index_urls)
    if outcome.refusal is not None or outcome.faults:
        faults = [f"`{fault.package}` cannot be locked: {fault.reason}" for fault in outcome.faults]
        complete = outcome.report.complete and not outcome.faults
        return Prepared(outcome.report, refusal=outcome.refusal or "; ".join(faults), complete=complete)
    text = next(text for name, text in outcome.files.items() if name.startswith("pylock."))
    document = Pylock.from_dict(tomllib.loads(text))
    names = {url.rstrip("/"): name for name, url in request.index_urls.items()}
    files = planned_files(document, names)
    builds: dict[str, BuildState] = {file.name: _build(file, request.check, ports) for file in files if file.sdist}
    return _Locked(outcome, text, document, files, builds)


def _build(file: PlannedFile, check: CheckRequest, ports: FixPorts) -> BuildState:
    """Return what building a package needs, by the shipped table, the profile, and a look into the archive."""
    risk = BuildRisk.UNKNOWN
    if check.build_risk is not None:
        try:
            risk = check.build_risk(_distribution_file(file))
        except (IndexUnavailable, MetadataUnavailable):
            risk = BuildRisk.UNKNOWN
    known = None if risk is BuildRisk.ANYWHERE else shipped_wheel_facts().build_need(file.name, Version(file.version))
    needs = list(known.needs) if known is not None else []
    if known is None and risk is BuildRisk.COMPILER:
        needs.append("a C compiler")
    install = [known.instead] if known is not None and known.instead else []
    for need in check.profile.system if check.profile else ():
        if file.name in need.only_for and need.name not in needs:
            needs.append(need.name)
            install += [f"{how}: {what}" for how, what in need.install.items()]
    return BuildState(tuple(needs), ports.missing_needs(needs), tuple(install))


def _distribution_file(file: PlannedFile) -> DistributionFile:
    return DistributionFile(
        project=file.name,
        version=Version(file.version),
        filename=file.filename,
        kind=FileKind.SDIST if file.sdist else FileKind.WHEEL,
        url=file.url,
        index=file.index,
        hashes=file.hashes,
        size=file.size,
    )


def _planned(
    request: FixRequest, state: EnvironmentState, interpreter: str, locked: _Locked, ports: FixPorts
) -> Prepared:
    check, profile = request.check, request.check.profile
    target = locked.outcome.report.target or check.target
    if not state.exists:
        answer = ports.find_python((target.python,))
        interpreter = answer[0] if answer is not None else ""
    refusals: list[Refusal] = []
    name = ""
    try:
        name, _, strict = ports.installer(state)
        refusals += _legacy(locked.files, check) if strict else []
    except RuntimeError as error:
        refusals.append(Refusal("environment", request.environment, str(error)))
    chosen = select(profile, {file.name: file.version for file in locked.files}, request.moved or None)
    project = check.project.root if check.project else ""
    variables = expand_variables(chosen.variables, project=project, environment=request.environment)
    arriving = [_distribution_file(file) for file in locked.files if not file.sdist]
    # A package that stays as it is keeps its files, and they may be patched already.
    here = {(item.name, item.version) for item in state.distributions}
    arriving = [file for file in arriving if (file.project, str(file.version)) not in here]
    preview = ports.preview(chosen.patches, arriving, state, builds=bool(locked.builds))
    plan = make_plan(
        PlanInput(
            environment=state,
            project=project,
            files=locked.files,
            lock_text=locked.text,
            installer=name,
            profile=profile,
            interpreter=interpreter,
            python=target.python_version,
            builds=locked.builds,
            preview=preview,
            variables=variables,
            records=_records(request, profile, project, variables, locked, chosen),
            disk_free=ports.disk_free(request.environment),
            refusals=tuple(refusals),
            skipped=chosen.skipped,
            notes=(*locked.notes, *chosen.notes),
            label=request.label,
        )
    )
    accepted = _accepted(parse_lock(locked.text, "pylock.toml"), profile)
    return Prepared(locked.outcome.report, plan, locked.files, locked.outcome.files, accepted)


def _legacy(files: Sequence[PlannedFile], check: CheckRequest) -> list[Refusal]:
    """Refuse packages whose metadata the installer would not take."""
    found = []
    for file in files:
        if check.index is None:
            break
        try:
            mended = check.index.metadata(_distribution_file(file)).mended
        except (IndexUnavailable, MetadataUnavailable, InvalidVersion):
            continue
        if mended:
            message = (
                f"pip 24.1 and later refuse `{file.name}` {file.version}: its metadata is not valid (`{mended[0]}`)"
            )
            found.append(Refusal("archive", file.name, message, "install uv, which takes it: `--installer uv`"))
    return found


def _records(
    request: FixRequest,
    profile: Profile | None,
    project: str,
    variables: Mapping[str, str],
    locked: _Locked,
    chosen: Selection,
) -> tuple[tuple[str, str, str], ...]:
    about = {
        "schema": "envdoctor.environment/1",
        "tool": __version__,
        "profile": profile.name if profile else None,
        "profile_source": profile.source if profile else None,
        "environment": request.label or None,
        "project": project,
        "variables": dict(variables),
        "patches": [patch.name or patch.kind.value for patch in chosen.patches],
        "moved": list(request.moved),
    }
    return (
        ("pylock.toml", locked.text, "the lock"),
        ("environment.json", json.dumps(about, indent=1, ensure_ascii=False) + "\n", "profile and variables"),
    )


def _accepted(locked: LockedProject, profile: Profile | None) -> tuple[tuple[str, tuple[str, ...]], ...]:
    found: list[tuple[str, tuple[str, ...]]] = []
    for override in locked.overrides:
        name = override.requirement.partition(" ")[0]
        for sign in "=<>!~[;":
            name = name.partition(sign)[0]
        found.append((name.strip(), override.replaces))
    found += [(item.name, ()) for item in (profile.excludes if profile else ())]
    return tuple(found)
