"""A version with a wheel in place of one that this machine cannot build: an override that nobody had to write.

Only what a distribution demands is set aside; what a person pinned stays a person's business.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from packaging.pylock import Pylock
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import NormalizedName, canonicalize_name
from packaging.version import Version

from envdoctor.diagnose.undeclared_imports import Undeclared, undeclared_imports
from envdoctor.diagnose.wheel_facts import shipped_wheel_facts
from envdoctor.lock.pylock_reader import AcceptedOverride, LockedProject, planned_files
from envdoctor.model.candidate import BuildRisk, DistributionFile, FileKind
from envdoctor.model.compatibility import can_use
from envdoctor.model.plan import PlannedFile
from envdoctor.model.target import Target
from envdoctor.planning.fix_refusals import BuildState
from envdoctor.ports import Index, IndexUnavailable, ProjectNotFound
from envdoctor.toml_tables import read_toml
from envdoctor.verbs.check import CheckRequest
from envdoctor.verbs.fix_request import FixPorts, FixRequest, Prepared
from envdoctor.verbs.lock import LockOutcome, lock

__all__ = ["FixLock", "distribution_file", "lock_for_fix", "with_wheels_instead"]

_WANTED = re.compile(r"^(?P<requirement>.*?) \((?P<origin>[^()]*)\)$")
_DISTRIBUTION = re.compile(r"^(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*) (?P<version>[0-9][^ ]*)$")


def with_wheels_instead(
    unbuildable: Iterable[PlannedFile], document: Pylock, locked: LockedProject | None, index: Index, target: Target
) -> tuple[LockedProject, tuple[str, ...]] | None:
    """Return the lock to start from, with overrides added, and a sentence for each; None where nothing helps."""
    added: list[AcceptedOverride] = []
    notes: list[str] = []
    for file in unbuildable:
        found = _override(file, document, index, target)
        if found is None:
            return None
        added.append(found[0])
        notes.append(found[1])
    if not added:
        return None
    base = locked or LockedProject("this fix", {})
    names = {file.name for file in unbuildable}
    versions = {name: version for name, version in base.versions.items() if name not in names}
    return replace(base, versions=versions, overrides=(*base.overrides, *added)), tuple(notes)


def _override(file: PlannedFile, document: Pylock, index: Index, target: Target) -> tuple[AcceptedOverride, str] | None:
    demands = _demands(file.name, document)
    try:
        files = index.page(file.name).files
    except (IndexUnavailable, ProjectNotFound):
        return None
    version = _with_wheel(files, Version(file.version), target)
    if version is None:
        return None
    against = [(text, origin) for text, origin in demands if not _admits(text, version)]
    makers = [_DISTRIBUTION.match(origin) for _, origin in against]
    if not against or not all(makers):
        return None
    sign = ">=" if version > Version(file.version) else "=="
    requirement = f"{file.name}{sign}{version}"
    aside = tuple(sorted(f"{text} ({origin})" for text, origin in against))
    replaces = tuple(sorted({str(canonicalize_name(match["name"])) for match in makers if match}))
    note = (
        f"`{requirement}` in place of {', '.join(aside)}: `{file.name}` {file.version} has no wheel, and cannot be "
        "built here"
    )
    return AcceptedOverride(requirement, aside, replaces), note


def _demands(name: NormalizedName, document: Pylock) -> list[tuple[str, str]]:
    """Return requirement and origin of all that is asked of a package, as the lock records it."""
    package = next((item for item in document.packages if item.name == name), None)
    table = (package.tool or {}).get("envdoctor", {}) if package is not None else {}
    matches = (_WANTED.match(str(line)) for line in table.get("wanted-by", ()))
    return [(match["requirement"], match["origin"]) for match in matches if match]


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


def _admits(text: str, version: Version) -> bool:
    try:
        return Requirement(text.partition(";")[0]).specifier.contains(version, prereleases=True)
    except InvalidRequirement:
        return False


_SHOWN = 4


@dataclass(frozen=True, slots=True)
class FixLock:
    """A lock on its way into a plan."""

    outcome: LockOutcome
    text: str
    document: Pylock
    files: tuple[PlannedFile, ...]
    builds: Mapping[str, BuildState]
    notes: tuple[str, ...] = ()
    check: CheckRequest | None = None
    """The request that gave it, where that is not the first."""


def lock_for_fix(request: FixRequest, ports: FixPorts) -> FixLock | Prepared:
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


def _buildable(request: FixRequest, ports: FixPorts) -> FixLock | Prepared:
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


def _lock_once(request: FixRequest, ports: FixPorts) -> FixLock | Prepared:
    outcome = lock(request.check, request.choice, request.index_urls)
    if outcome.refusal is not None or outcome.faults:
        faults = [str(fault) for fault in outcome.faults]
        complete = any(fault.wrong for fault in outcome.faults) or (outcome.report.complete and not outcome.faults)
        more = [f"and {len(faults) - _SHOWN} more, see `envdoctor check`"] if len(faults) > _SHOWN else []
        refusal = outcome.refusal or "; ".join([*faults[:_SHOWN], *more])
        return Prepared(outcome.report, refusal=refusal, complete=complete)
    text = next(text for name, text in outcome.files.items() if name.startswith("pylock."))
    document = Pylock.from_dict(read_toml(text))
    names = {url.rstrip("/"): name for name, url in request.index_urls.items()}
    files = planned_files(document, names)
    builds: dict[str, BuildState] = {file.name: _build(file, request.check, ports) for file in files if file.sdist}
    return FixLock(outcome, text, document, files, builds)


def _build(file: PlannedFile, check: CheckRequest, ports: FixPorts) -> BuildState:
    """Return what building a package needs, by the shipped table, the profile, and a look into the archive."""
    risk = BuildRisk.UNKNOWN
    if check.build_risk is not None:
        risk = check.build_risk(distribution_file(file))
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
