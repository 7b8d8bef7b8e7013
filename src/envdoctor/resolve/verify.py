"""Checks a finished resolution against the metadata itself, sharing nothing with the search.

Everything is read and parsed again and compared version by version: no positions, no memos, no engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache

from packaging.requirements import InvalidRequirement
from packaging.requirements import Requirement as Pep508
from packaging.utils import NormalizedName, canonicalize_name
from packaging.version import Version

from envdoctor.model.marker import may_hold
from envdoctor.model.requirement import Requirement, RequirementKind
from envdoctor.model.resolution import Resolution, ResolvedPackage
from envdoctor.model.target import Target
from envdoctor.ports import Index, IndexUnavailable, MetadataUnavailable
from envdoctor.resolve.couplings import Couplings
from envdoctor.resolve.extra_lines import may_count

__all__ = ["violations"]


def violations(
    resolution: Resolution,
    requirements: Iterable[Requirement],
    target: Target,
    index: Index,
    couplings: Couplings,
    *,
    ignored: Callable[[NormalizedName, NormalizedName], bool],
    absent: frozenset[NormalizedName] = frozenset(),
) -> tuple[str, ...]:
    """Return every requirement in force that the resolution breaks, as text; empty when it is sound.

    ``requirements`` are those of people that are in force. ``ignored(owner, dependency)`` says which demands of
    metadata were set aside. ``absent`` names projects that are rightly not there: excluded, or unknown.
    """
    versions = {package.name: package.version for package in resolution.packages}
    broken: list[str] = []
    for requirement in requirements:
        version = versions.get(requirement.name)
        if version is None:
            if requirement.kind is RequirementKind.REQUIRE and requirement.name not in absent:
                broken.append(f"{requirement.pep508}: `{requirement.name}` is not there")
        elif not requirement.specifier.contains(version, prereleases=True):
            broken.append(f"{requirement.pep508}: {version} is there")
    for package in resolution.packages:
        broken.extend(_package(package, versions, target, index, couplings, ignored, absent))
    return tuple(broken)


def _package(
    package: ResolvedPackage,
    versions: dict[NormalizedName, Version],
    target: Target,
    index: Index,
    couplings: Couplings,
    ignored: Callable[[NormalizedName, NormalizedName], bool],
    absent: frozenset[NormalizedName],
) -> Iterable[str]:
    try:
        lines = index.metadata(package.file).requires_dist
    except (MetadataUnavailable, IndexUnavailable):
        return
    stated: set[str] = set()
    for name, parsed in _applicable(lines, package.extras, target):
        stated.add(name)
        binary = couplings.is_binary(package.name, name)
        if name in absent or (ignored(package.name, name) and not binary):
            continue
        found = versions.get(name)
        if found is None or not parsed.specifier.contains(found, prereleases=True):
            yield f"{package.name} {package.version} requires {parsed}: {found or 'nothing'} is there"
    for name, specifier in couplings.demands(package.name, package.version, frozenset(stated)):
        found = versions.get(name)
        if name not in absent and (found is None or not specifier.contains(found, prereleases=True)):
            yield f"{package.name} {package.version} was built for {name}{specifier}: {found or 'nothing'} is there"


@lru_cache(maxsize=4_096)
def _applicable(
    lines: tuple[str, ...], extras: frozenset[str], target: Target
) -> tuple[tuple[NormalizedName, Pep508], ...]:
    """Return the demands of a version that count; the resolutions of one diagnosis have most versions in common."""
    found = []
    environments = [target.marker_environment(extra) for extra in ("", *sorted(extras))]
    for line in lines:
        parsed = _parsed(line) if may_count(line, extras) else None
        if parsed is None:
            continue
        if any(may_hold(parsed.marker, environment) for environment in environments):
            found.append((canonicalize_name(parsed.name), parsed))
    return tuple(found)


@lru_cache(maxsize=32_768)
def _parsed(line: str) -> Pep508 | None:
    try:
        return Pep508(line)
    except InvalidRequirement:
        return None
