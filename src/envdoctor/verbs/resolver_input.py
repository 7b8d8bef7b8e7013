"""From a project and a profile to the manifest that the resolver takes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from packaging.specifiers import SpecifierSet
from packaging.utils import NormalizedName, canonicalize_name

from envdoctor.diagnose.wheel_facts import shipped_wheel_facts
from envdoctor.lock.pylock_reader import LockedProject
from envdoctor.model.build_label import read_label
from envdoctor.model.candidate import RejectionKind
from envdoctor.model.compatibility import admitted_beyond, newer_level
from envdoctor.model.conflict import Conflict
from envdoctor.model.file_table import tags_of
from envdoctor.model.override import Override, OverrideSource
from envdoctor.model.profile import Profile
from envdoctor.model.project import Brought, FileOption, Project
from envdoctor.model.requirement import Requirement, RequirementKind, may_hold
from envdoctor.model.target import Arch, Target, dotted
from envdoctor.model.unknown import Subject, SubjectKind, Unknown, UnknownKind
from envdoctor.ports import Index
from envdoctor.resolve.diagnosis import Diagnosis
from envdoctor.resolve.manifest import Manifest, Policy
from envdoctor.resolve.resolver import Resolver
from envdoctor.resolve.solver import Solved

__all__ = ["choose_python", "manifest_of", "with_newer_level", "without_unjudged"]

_MOST_LEVELS = 4


def manifest_of(
    project: Project,
    target: Target,
    *,
    profile: Profile | None = None,
    locked: LockedProject | None = None,
    upgrade: frozenset[str] = frozenset(),
) -> Manifest:
    """Return the manifest: the project's lines, then the profile's; versions of an existing lock are preferred.

    What a lock for the target set aside stays set aside, where the profile does not speak of that project and did not
    do so when the lock was written.
    """
    added = tuple(item.requirement for item in profile.requires) if profile else ()
    added += tuple(item.instead for item in project.substitutes if item.instead is not None)
    overrides = profile.overrides if profile else ()
    exclusions = (*(profile.excludes if profile else ()), *project.substitutes)
    excluded = {exclusion.name for exclusion in exclusions}
    declared = {override.name: override for override in overrides}
    if locked is not None and locked.is_for(target):
        kept = _kept(locked, {*excluded, *declared})
        overrides = tuple(_chosen(locked, excluded, declared)) if locked.chosen else (*overrides, *kept)
    return Manifest(
        requirements=(*map(_with_early_versions(project), project.requirements), *added),
        target=target,
        overrides=overrides,
        replaced=_replaced(project),
        exclusions=exclusions,
        couplings=profile.couplings if profile else (),
        preferences=dict(locked.versions) if locked else {},
        brought=_brought(project, target),
        upgrade=upgrade,
        policy=policy_of(project),
        described=dict(project.described),
    )


def _brought(project: Project, target: Target) -> dict[NormalizedName, Brought]:
    """Return what the image has, and whether the default index's torch of that version can stand for the image's.

    It does where both are for one major release of CUDA: what they ask for is the same then. For aarch64 a tag says
    nothing: PyTorch's own images have a build for the CPU there.
    """
    torch = next((one for one in project.brought if one.name == "torch"), None)
    stands = False
    if torch is None:
        return {}  # What was built for it does not stay with another.
    if torch.version is not None and target.arch is Arch.X86_64:
        usual = read_label(shipped_wheel_facts().build_label("torch", torch.version, target))
        own = read_label(torch.label)
        stands = usual is not None and own is not None and usual.backend is own.backend and own.same_release(usual, 1)
    return {one.name: replace(one, in_index=stands) for one in project.brought}


def _replaced(project: Project) -> dict[NormalizedName, tuple[Requirement, ...]]:
    """Return the project's own overrides by what they speak of; of one package there may be several."""
    found: dict[NormalizedName, tuple[Requirement, ...]] = {}
    for override in project.overrides:
        found[override.name] = (*found.get(override.name, ()), override)
    return found


def policy_of(project: Project) -> Policy:
    """Return what the project's options of pip and uv say of the files that may be used, the later over the earlier.

    An option of one command of several counts for what that command names; see ``FileOption.step``.
    """
    only, none, wheels, early = set[str](), set[str](), set[str](), False
    for option in project.options:
        names = _names_of(project, option) if option.step is not None else None
        if option.name in ("only-binary", "no-binary"):
            mine, other = (only, none) if option.name == "only-binary" else (none, only)
            _take(option.value, mine, other, names)
        elif option.name == "pre":
            early = early or names is None
        elif option.name == "prefer-binary":
            wheels |= {":all:"} if names is None else names
    return Policy(prereleases=early, no_build=frozenset(only), no_wheel=frozenset(none), prefer_wheel=frozenset(wheels))


def _with_early_versions(project: Project) -> Callable[[Requirement], Requirement]:
    """Return what makes a line admit pre-releases where the command that asks for it says ``--pre``."""
    steps = {option.step for option in project.options if option.name == "pre" and option.step is not None}

    def changed(line: Requirement) -> Requirement:
        if line.step not in steps:
            return line
        return replace(line, specifier=SpecifierSet(str(line.specifier), prereleases=True))

    return changed


def _names_of(project: Project, option: FileOption) -> frozenset[NormalizedName] | None:
    """Return what a step asks for, None where no other step asks for anything: the option counts for everything."""
    asked = [line for line in project.requirements if line.kind is RequirementKind.REQUIRE]
    if all(line.step == option.step for line in asked):
        return None
    return frozenset(line.name for line in asked if line.step == option.step)


def _take(value: str, mine: set[str], other: set[str], names: frozenset[NormalizedName] | None) -> None:
    for text in filter(None, (part.strip() for part in value.split(","))):
        if text == ":none:":
            mine.clear()
        elif text != ":all:":
            other.discard(canonicalize_name(text))
            mine.add(canonicalize_name(text))
        elif names is None:
            other.clear()
            mine.clear()
            mine.add(text)
        else:
            other.difference_update(names)
            mine.update(names)


def _kept(locked: LockedProject, spoken_of: Collection[NormalizedName]) -> Iterator[Override]:
    """Yield what a search found; what the profile or the project asked for and does not any more goes."""
    for override in _recorded(locked):
        if override.name not in spoken_of and override.source is OverrideSource.LOCK:
            yield override


def _chosen(
    locked: LockedProject, excluded: Collection[NormalizedName], declared: Mapping[NormalizedName, Override]
) -> Iterator[Override]:
    """Yield the repair that a person chose, in the words of the profile where it is the profile's."""
    for override in _recorded(locked):
        if override.name not in excluded and override.source is not OverrideSource.PROJECT:
            # What the profile asked for and no longer does stays, for a person chose it: it is the lock's alone now.
            mine = declared.get(override.name) if override.from_profile else None
            yield mine or replace(override, source=OverrideSource.LOCK)


def _recorded(locked: LockedProject) -> Iterator[Override]:
    """Yield the lock's overrides as bounds; extras, and a URL, are the business of those who ask."""
    for override in locked.overrides:
        if override.replaces:
            bound = replace(override.requirement, extras=frozenset(), url=None)
            yield replace(override, requirement=bound, sets_aside=())


def choose_python(candidates: Sequence[Manifest], index: Index) -> tuple[Manifest, Resolver | None]:
    """Return the first of the manifests, which are for one interpreter each, that resolves.

    Where none does, the first is kept: its diagnosis says why. With it comes the resolver that solved it, None where
    there was nothing to choose between.
    """
    for candidate in candidates[1:] and candidates:
        resolver = Resolver(candidate, index)
        if isinstance(resolver.as_overridden(), Solved):
            return candidate, resolver
    return candidates[0], None


def with_newer_level(
    manifest: Manifest, found: Diagnosis, again: Callable[[Manifest], Diagnosis]
) -> tuple[Manifest, Diagnosis]:
    """Return what is left where the target has the glibc or macOS that the conflicts' files need, and its manifest.

    Where nothing tells the target's, a conflict that a newer one settles is none, and not known to be none.
    ``again`` diagnoses another manifest.
    """
    tried, unknowns = manifest.target, list[Unknown]()
    for _ in range(_MOST_LEVELS if tried.level_assumed else 0):
        levels = [level for conflict in found.conflicts for level in _levels(conflict, tried)]
        if not levels:
            break
        tried = tried.at_level(min(levels))
        needed = f"{tried.level_name} {dotted(min(levels))}"
        hoped = again(replace(manifest, target=tried))
        left = {conflict.core for conflict in hoped.conflicts}
        settled = [conflict for conflict in found.conflicts if conflict.core not in left]
        if settled and not hoped.conflicts_truncated:
            unknowns += [_unknown_of(UnknownKind.NEWER_LEVEL, conflict, needed) for conflict in settled]
            manifest, found = replace(manifest, target=tried), hoped
    return manifest, replace(found, unknowns=(*found.unknowns, *unknowns)) if unknowns else found


def without_unjudged(found: Diagnosis, project: Project, target: Target) -> Diagnosis:
    """Return what is left where another Python would settle a conflict, by its files or as a line is not for it.

    Nothing is judged for that one: such a conflict is not known to be one, and what would repair it is no remedy.
    """
    if not found.conflicts or not project.unjudged_on(target):
        return found
    others = [target.for_python(python) for python in admitted_beyond(project.chosen_python[0] or SpecifierSet())]
    open_ = [item for item in found.conflicts if _is_of_python(item, target, others)]
    if not open_:
        return found
    unknowns = [_unknown_of(UnknownKind.PYTHON_NOT_JUDGED, item, f"Python {target.python_version}") for item in open_]
    kept = tuple(item for item in found.conflicts if item not in open_)
    return replace(
        found, conflicts=kept, repairs=(), resolution=None, resolutions={}, unknowns=(*found.unknowns, *unknowns)
    )


_OF_PYTHON = (RejectionKind.TAG, RejectionKind.REQUIRES_PYTHON)


def _is_of_python(conflict: Conflict, target: Target, others: Sequence[Target]) -> bool:
    """Return whether what is a conflict on the target may be none on one of the others."""
    if any(one.kind in _OF_PYTHON for one in conflict.clash.rejections):
        return True
    markers = [line.marker for line in (*conflict.core, *(side.requirement for side in conflict.clash.sides))]
    here = {str(marker): marker for marker in markers if may_hold(marker, target.marker_environment())}
    return not all(may_hold(marker, other.marker_environment()) for marker in here.values() for other in others)


def _levels(conflict: Conflict, target: Target) -> Iterator[tuple[int, int]]:
    for item in conflict.clash.rejections:
        if item.kind is RejectionKind.TAG and (level := newer_level(tags_of(item.filename or "") or "", target)):
            yield level


def _unknown_of(kind: UnknownKind, conflict: Conflict, cause: str) -> Unknown:
    line, subject = conflict.core[0], Subject(SubjectKind.PACKAGE, conflict.clash.package)
    return Unknown(kind, subject, cause=cause, demand=str(line), origin=line.origin)
