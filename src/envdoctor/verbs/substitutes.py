"""Another distribution with the same module, in place of one that would have to be built: a profile's, or as typed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from packaging.utils import NormalizedName, canonicalize_name

from envdoctor.diagnose.wheel_facts import shipped_wheel_facts
from envdoctor.lock.pylock_reader import LockedProject
from envdoctor.model.candidate import FileKind
from envdoctor.model.compatibility import can_use
from envdoctor.model.dataclass import dataclass
from envdoctor.model.origin import CommandLineOrigin, ProfileOrigin
from envdoctor.model.override import OverrideSource
from envdoctor.model.profile import Exclusion, Profile, ProfileRequirement
from envdoctor.model.project import Project
from envdoctor.model.requirement import Requirement, RequirementKind
from envdoctor.model.target import Target
from envdoctor.ports import Index, IndexUnavailable, ProjectNotFound, UsageError
from envdoctor.toml_tables import did_you_mean

if TYPE_CHECKING:
    from envdoctor.model.step import PlannedFile

__all__ = ["offers_of_substitutes", "typed_substitutes", "with_substitutes"]

_OPTION = "--substitute"


@dataclass(frozen=True, slots=True)
class Substituted:
    """A profile and a project with what stands in for what cannot be had as a wheel."""

    profile: Profile | None
    project: Project


def typed_substitutes(names: Collection[str]) -> frozenset[NormalizedName]:
    """Return the packages whose substitute was asked for. Raises UsageError for one of which none is known."""
    asked, known = frozenset(map(canonicalize_name, names)), shipped_wheel_facts().substitutes
    for name in sorted(asked - set(known)):
        listed = ", ".join(f"`{item}` (`{known[item]}`)" for item in sorted(known))
        close = did_you_mean(name, known)
        raise UsageError(f"{_OPTION}: no substitute is known for `{name}`{close or f'; there are: {listed}'}")
    return asked


def offers_of_substitutes(files: Iterable[PlannedFile]) -> Iterator[str]:
    """Yield a sentence for each package that would be built and has a known substitute."""
    known = shipped_wheel_facts().substitutes
    for file in files:
        if file.sdist and file.name in known:
            yield (
                f"`{file.name}` is built from source; `{known[file.name]}` has wheels and the same module: "
                f"`{_OPTION} {file.name}` takes it"
            )


def with_substitutes(
    profile: Profile | None,
    project: Project,
    typed: Collection[NormalizedName],
    locked: LockedProject | None,
    index: Index,
    target: Target,
) -> Substituted:
    """Return both with the substitutes that are asked for; a lock keeps those that it was written with.

    A profile's is taken where the substitute has a wheel for the target; without one the package stays as it was asked
    for. What distributions ask for is exchanged where their metadata is read.
    """
    asked = {item.name for item in project.requirements if item.kind is RequirementKind.REQUIRE}
    if profile is not None:
        profile = _of_profile(profile, asked, index, target)
    wanted = {*typed, *(_kept(locked) if locked is not None else ())}
    left = wanted - {item.name for item in (profile.excludes if profile is not None else ())}
    return Substituted(profile, replace(project, substitutes=tuple(map(_typed, sorted(left)))))


def _of_profile(profile: Profile, asked: Collection[NormalizedName], index: Index, target: Target) -> Profile:
    excludes, added = list[Exclusion](), list[ProfileRequirement]()
    for item in profile.excludes:
        if item.instead is None:
            excludes.append(item)
        elif _has_wheel(item.instead.name, index, target):
            excludes.append(item)
            if item.name in asked:
                added.append(ProfileRequirement(item.instead, item.because, item.evidence))
    return replace(profile, excludes=tuple(excludes), requires=(*profile.requires, *added))


def _has_wheel(name: NormalizedName, index: Index, target: Target) -> bool:
    try:
        files = index.page(name).files
    except (IndexUnavailable, ProjectNotFound):
        return False
    return any(file.kind is FileKind.WHEEL and can_use(file, target) for file in files)


def _kept(locked: LockedProject) -> Iterator[NormalizedName]:
    """Yield what a lock leaves out whose substitute it has."""
    known = shipped_wheel_facts().substitutes
    for override in locked.overrides:
        if override.leaves_out and not override.from_profile and known.get(override.name) in locked.versions:
            yield override.name


def _typed(name: NormalizedName) -> Exclusion:
    other = shipped_wheel_facts().substitutes[name]
    origin = CommandLineOrigin(f"{_OPTION} {name}")
    return Exclusion(
        name,
        because=f"`{other}` has wheels and the same module",
        instead=Requirement(other, origin, text=other),
        origin=ProfileOrigin("", str(origin)),
        source=OverrideSource.LOCK,
    )
