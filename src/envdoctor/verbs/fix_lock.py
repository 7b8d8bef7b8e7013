"""A version with a wheel in place of one that this machine cannot build: an override that nobody had to write.

Only what a distribution demands is set aside; what a person pinned stays a person's business.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from envdoctor.diagnose.module_owners import Undeclared, undeclared_imports
from envdoctor.diagnose.wheel_facts import shipped_wheel_facts
from envdoctor.lock.locked_files import planned_files, rebased
from envdoctor.lock.pylock_reader import LockedProject
from envdoctor.lock.pylock_writer import lock_text
from envdoctor.model.candidate import BuildRisk, DistributionFile, FileKind
from envdoctor.model.compatibility import can_use
from envdoctor.model.dataclass import dataclass
from envdoctor.model.origin import FileOrigin, written_by_a_person
from envdoctor.model.override import Override, OverrideSource
from envdoctor.model.refusal import Refusal, RefusalKind
from envdoctor.model.report import Report
from envdoctor.model.requirement import Requirement
from envdoctor.model.resolution import Resolution
from envdoctor.model.step import PlannedFile
from envdoctor.model.target import Target
from envdoctor.planning.fix_refusals import BuildState
from envdoctor.ports import Index, IndexUnavailable, ProjectNotFound
from envdoctor.shipped import needs_in_words
from envdoctor.verbs.check_request import CheckRequest
from envdoctor.verbs.fix_request import FixRequest, Prepared
from envdoctor.verbs.lock import LockOutcome, lock
from envdoctor.verbs.this_machine import ThisMachine

__all__ = ["FixLock", "distribution_file", "lock_for_fix", "with_wheels_instead"]

_THIS_FIX = "this fix"


def with_wheels_instead(
    unbuildable: Iterable[PlannedFile],
    resolution: Resolution,
    locked: LockedProject | None,
    index: Index,
    target: Target,
) -> tuple[LockedProject, tuple[str, ...]] | None:
    """Return the lock to start from, with overrides added, and a sentence for each; None where nothing helps."""
    added: list[Override] = []
    notes: list[str] = []
    for file in unbuildable:
        found = _override(file, resolution, index, target)
        if found is None:
            return None
        added.append(found[0])
        notes.append(found[1])
    if not added:
        return None
    base = locked
    if base is None or not base.is_for(target):
        base = LockedProject(_THIS_FIX, locked.versions if locked is not None else {})
    names = {file.name for file in unbuildable}
    versions = {name: version for name, version in base.versions.items() if name not in names}
    return replace(base, versions=versions, overrides=(*base.overrides, *added)), tuple(notes)


def _override(file: PlannedFile, resolution: Resolution, index: Index, target: Target) -> tuple[Override, str] | None:
    try:
        files = index.page(file.name).files
    except (IndexUnavailable, ProjectNotFound):
        return None
    package, current = resolution.get(file.name), Version(file.version)
    version = _with_wheel(files, current, target)
    if version is None or package is None:
        return None
    against = [item for item in package.wanted_by if not item.admits(version)]
    if not against or any(written_by_a_person(item.origin) for item in against):
        return None
    specifier = f"{'>=' if version > current else '=='}{version}"
    text = f"{file.name}{specifier}"
    instead = Requirement(file.name, FileOrigin(_THIS_FIX), SpecifierSet(specifier), text=text)
    aside = ", ".join(sorted({f"{item} ({item.origin})" for item in against}))
    note = f"`{text}` in place of {aside}: `{file.name}` {file.version} has no wheel, and cannot be built here"
    return Override(instead, source=OverrideSource.LOCK).resolved(instead, against), note


def _with_wheel(files: Iterable[DistributionFile], current: Version, target: Target) -> Version | None:
    """Return the lowest version above with a wheel for the target, else the highest below."""
    versions = {
        file.version
        for file in files
        if file.kind is FileKind.WHEEL and not file.version.is_prerelease and can_use(file, target)
    }
    above = [version for version in versions if version > current]
    below = [version for version in versions if version < current]
    return min(above, default=None) or max(below, default=None)


@dataclass(frozen=True, slots=True)
class FixLock:
    """A lock on its way into a plan."""

    outcome: LockOutcome
    text: str
    resolution: Resolution
    files: tuple[PlannedFile, ...]
    builds: Mapping[str, BuildState]
    notes: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    """Those that are told also of who is not shown the plan."""
    check: CheckRequest | None = None
    """The request that gave it, where that is not the first."""


def lock_for_fix(request: FixRequest, machine: ThisMachine) -> FixLock | Prepared:
    """Resolve and lock; once more where something cannot be built here, or is imported and not asked for."""
    made = _buildable(request, machine)
    if isinstance(made, Prepared):
        return made
    missing = _undeclared(made, request.check)
    if not missing or request.check.project is None:
        return made
    target = made.outcome.report.target or request.check.target
    beside = request.check.lock_for(target)
    left: tuple[str, ...] = ()
    if beside is not None and _says(beside, made.resolution):
        # A lock that lies beside the project says what is installed, here as on every other machine that it is for.
        left = tuple(_not_locked(item) for item in missing if item.requirement.name not in beside.versions)
        missing = tuple(item for item in missing if item.requirement.name in beside.versions)
        made = replace(made, left=left)
    if not missing:
        return made
    check = made.check or request.check
    project = replace(
        request.check.project,
        requirements=(*request.check.project.requirements, *(item.requirement for item in missing)),
    )
    again = _lock_once(
        replace(request, check=replace(check, project=project, target=target, python_choices=())), machine
    )
    if isinstance(again, Prepared):
        return replace(made, notes=(*made.notes, *(f"{item.note}; it could not be" for item in missing)))
    return replace(again, notes=(*made.notes, *(item.note for item in missing)), left=left)


def _says(beside: LockedProject, resolution: Resolution) -> bool:
    return all(beside.versions.get(package.name) == package.version for package in resolution.packages)


def _not_locked(item: Undeclared) -> str:
    name = item.requirement.name
    return f"{item.cause}, and the lock has no `{name}`: add `{name}` to the requirements and lock again"


def _undeclared(made: FixLock, check: CheckRequest) -> tuple[Undeclared, ...]:
    resolution, archives = made.outcome.report.resolution, check.archives
    if resolution is None or archives is None or check.project is None:
        return ()
    locked = {(file.name, file.version) for file in made.files}
    if {(item.name, str(item.version)) for item in resolution.packages} != locked:
        return ()  # Another repair than the one in use was asked for.
    wanted = [item.name for item in check.project.requirements]
    wanted += [item.requirement.name for item in (check.profile.requires if check.profile else ())]
    return undeclared_imports(wanted, resolution, archives, made.outcome.report.target or check.target)


def _buildable(request: FixRequest, machine: ThisMachine) -> FixLock | Prepared:
    """Resolve and lock; where something cannot be built here, once more with versions that have a wheel."""
    made = _lock_once(request, machine)
    if isinstance(made, Prepared):
        return made
    stuck = [file for file in made.files if file.sdist and made.builds[file.name].missing]
    index = request.check.index
    if not stuck or index is None:
        return made
    target = made.outcome.report.target or request.check.target
    instead = with_wheels_instead(stuck, made.resolution, request.check.locked, index, target)
    if instead is None:
        return made
    base, notes = instead
    check = replace(request.check, locked=base, target=target, python_choices=())
    again = _lock_once(replace(request, check=check), machine)
    if isinstance(again, Prepared) or any(file.sdist and again.builds[file.name].missing for file in again.files):
        return made
    return replace(again, notes=notes, check=check)


def _lock_once(request: FixRequest, machine: ThisMachine) -> FixLock | Prepared:
    outcome = lock(request.check, request.choice, request.index_urls)
    if outcome.resolution is None or outcome.document is None:
        complete = _is_settled(outcome.refusals, outcome.report)
        return Prepared(outcome.report, refusals=outcome.refusals, complete=complete)
    root = Path(request.check.project.root if request.check.project is not None else "")
    text = lock_text(rebased(outcome.document, root, Path(request.environment, ".envdoctor")))
    names = {url.rstrip("/"): name for name, url in request.index_urls.items()}
    files = planned_files(outcome.document, names, root)
    builds: dict[str, BuildState] = {file.name: _build(file, request.check, machine) for file in files if file.sdist}
    return FixLock(outcome, text, outcome.resolution, files, builds)


def _is_settled(refusals: Sequence[Refusal], report: Report) -> bool:
    """Return whether asking again would change nothing: a person must correct something, or all was looked at."""
    if all(refusal.kind in (RefusalKind.CONFLICT, RefusalKind.NO_REPAIR) for refusal in refusals):
        return report.complete
    return any(refusal.wrong for refusal in refusals)


def _build(file: PlannedFile, check: CheckRequest, machine: ThisMachine) -> BuildState:
    """Return what building a package needs, by the shipped table, the profile, and a look into the archive."""
    risk = BuildRisk.UNKNOWN
    if check.build_risk is not None:
        risk = check.build_risk(distribution_file(file))
    known = None if risk is BuildRisk.ANYWHERE else shipped_wheel_facts().build_need(file.name, Version(file.version))
    needs = list(known.on(check.target)) if known is not None else []
    if known is None and risk is BuildRisk.COMPILER:
        needs.append("c-compiler")
    install = [known.way_around] if known is not None and known.way_around else []
    for need in check.profile.system if check.profile else ():
        if file.name in need.only_for and need.name not in needs:
            needs.append(need.name)
            install += [f"{how}: {what}" for how, what in need.install.items()]
    return BuildState(needs_in_words(needs), needs_in_words(machine.missing_needs(needs)), tuple(install))


def distribution_file(file: PlannedFile) -> DistributionFile:
    """Return a planned file as an index lists it."""
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
