"""Why a package has the version it has: who wanted it, who wanted another, and what shuts newer ones out."""

from __future__ import annotations

from dataclasses import dataclass

from packaging.utils import NormalizedName, canonicalize_name
from packaging.version import Version

from envdoctor.model.candidate import Rejection
from envdoctor.model.requirement import Requirement
from envdoctor.model.resolution import Resolution, ResolvedPackage
from envdoctor.resolve.universe import Universe, base_name

__all__ = ["Explanation", "NewerVersion", "explain"]

_NEWER = 50
"""Newer versions explained one by one, at most."""


@dataclass(frozen=True, slots=True)
class NewerVersion:
    """A version newer than the one in use, and why it is not in use."""

    version: Version
    excluded_by: tuple[Requirement, ...] = ()
    """Requirements in force that do not admit it."""
    unmet: tuple[Requirement, ...] = ()
    """What it asks for itself that the resolution does not have; only where its metadata has been read."""
    rejections: tuple[Rejection, ...] = ()
    """Why the target cannot use it."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """All that is known of one package in a resolution."""

    name: NormalizedName
    package: ResolvedPackage | None
    """None where the resolution does not have it."""
    chains: tuple[tuple[str, ...], ...] = ()
    """From a person's requirement down to the package, shortest first, one per person's requirement that leads here."""
    newer: tuple[NewerVersion, ...] = ()
    """Newest first."""
    older: int = 0
    """How many older versions the target could use."""


def explain(resolution: Resolution, universe: Universe, name: str) -> Explanation:
    """Explain one package of a resolution; ``universe`` is that of the diagnosis it came from."""
    project = canonicalize_name(name)
    package = resolution.get(project)
    if package is None:
        return Explanation(project, None)
    candidates = universe.candidates(project)
    position = candidates.versions.index(package.version)
    versions = candidates.page.versions if candidates.page else ()
    newer = sorted((v for v in versions if v > package.version), reverse=True)[:_NEWER]
    return Explanation(
        name=project,
        package=package,
        chains=_chains(resolution, universe, project),
        newer=tuple(_newer(resolution, universe, package, version) for version in newer),
        older=position,
    )


def _newer(resolution: Resolution, universe: Universe, package: ResolvedPackage, version: Version) -> NewerVersion:
    candidates = universe.candidates(package.name)
    excluded = tuple(r for r in package.wanted_by if not r.specifier.contains(version, prereleases=True))
    if version not in candidates.versions:
        assert candidates.page is not None  # noqa: S101
        return NewerVersion(version, excluded, rejections=universe.selector.rejections(candidates.page, (version,)))
    position = candidates.versions.index(version)
    unmet: list[Requirement] = []
    if universe.loaded(package.name, position):
        for edge in universe.edges(package.name, position):
            other = resolution.get(base_name(edge.dependency))
            if other is not None and not edge.specifier.contains(other.version, prereleases=True):
                unmet.append(edge.requirement(version))
    return NewerVersion(version, excluded, tuple(unmet))


def _chains(resolution: Resolution, universe: Universe, project: NormalizedName) -> tuple[tuple[str, ...], ...]:
    """Walk from every project that a person names, breadth first."""
    children = {p.name: tuple(dict.fromkeys(r.name for r in p.dependencies)) for p in resolution.packages}
    found: list[tuple[str, ...]] = []
    for start in dict.fromkeys(r.name for r in universe.problem.requirements if universe.applies(r)):
        queue: list[tuple[NormalizedName, ...]] = [(start,)] if start in children else []
        seen = {start}
        for chain in queue:
            if chain[-1] == project:
                found.append(chain)
                break
            for child in children.get(chain[-1], ()):
                if child not in seen:
                    seen.add(child)
                    queue.append((*chain, child))
    return tuple(sorted(found, key=len))
