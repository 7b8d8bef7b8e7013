"""Why a package has the version it has: who wanted it, who wanted another, and what shuts newer ones out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from packaging.specifiers import SpecifierSet
from packaging.utils import NormalizedName, canonicalize_name
from packaging.version import Version

from envdoctor.model.candidate import Rejection, RejectionKind
from envdoctor.model.repair import Repair
from envdoctor.model.resolution import (
    Absence,
    AbsenceKind,
    Explanation,
    NewerVersion,
    Resolution,
    ResolvedPackage,
    Unmet,
)
from envdoctor.model.unknown import Unknown
from envdoctor.resolve.dependency_graph import DependencyGraph
from envdoctor.resolve.edges import base_name, positions_of

__all__ = ["absence", "explain"]

_NEWER = 50
"""Newer versions explained one by one, at most."""


def explain(
    resolution: Resolution,
    graph: DependencyGraph,
    name: str,
    *,
    repair: Repair | None = None,
    too_new: Callable[[NormalizedName], Iterable[Rejection]] | None = None,
) -> Explanation:
    """Explain one package of a resolution; ``graph`` is that of the diagnosis it came from.

    ``repair`` is the one in use. ``too_new`` tells the files of a project that a date has taken out of its page.
    """
    project = canonicalize_name(name)
    package = resolution.get(project)
    if package is None:
        return Explanation(project, None, absence(graph, repair, name))
    candidates = graph.candidates(project)
    position = candidates.versions.index(package.version)
    versions = set(candidates.page.versions) if candidates.page else set()
    dated: dict[Version, list[Rejection]] = {}
    for rejection in too_new(project) if too_new else ():
        if rejection.version is not None and rejection.version not in versions:
            dated.setdefault(rejection.version, []).append(rejection)
    newer = sorted((v for v in {*versions, *dated} if v > package.version), reverse=True)[:_NEWER]
    return Explanation(
        name=project,
        package=package,
        chains=_chains(resolution, graph, project),
        newer=tuple(_newer(resolution, graph, package, version, dated.get(version, ())) for version in newer),
        older=position,
    )


def _newer(
    resolution: Resolution,
    graph: DependencyGraph,
    package: ResolvedPackage,
    version: Version,
    dated: Iterable[Rejection],
) -> NewerVersion:
    candidates = graph.candidates(package.name)
    excluded = tuple(r for r in package.wanted_by if not r.admits(version))
    if version not in candidates.versions:
        page = candidates.page
        shut_out = graph.selector.rejections(page, (version,)) if page else ()
        return NewerVersion(version, excluded, rejections=(*dated, *shut_out))
    position = candidates.versions.index(version)
    rejections = tuple(_guards(graph, package.name, position))
    open_to_all = bool(graph.bits(package.name, SpecifierSet()) >> position & 1)
    return NewerVersion(
        version,
        excluded,
        tuple(_unmet(resolution, graph, package.name, position)),
        rejections,
        prerelease=version.is_prerelease and not open_to_all,
    )


def _guards(graph: DependencyGraph, name: NormalizedName, position: int) -> Iterator[Rejection]:
    """Yield what keeps a version with usable files from being taken unasked."""
    candidates = graph.candidates(name)
    version, file = candidates.versions[position], candidates.files[position][0]
    if candidates.yanked >> position & 1:
        kind = RejectionKind.UNSURE if file.yanked is None else RejectionKind.YANKED
        yield Rejection(kind, name, version, file.filename, file.yanked or "")
    if candidates.capped >> position & 1:
        detail = f"needs Python {file.requires_python}"
        yield Rejection(RejectionKind.REQUIRES_PYTHON, name, version, file.filename, detail)
    unreadable = graph.unreadable.get((name, position))
    if unreadable is not None:
        yield unreadable


def _unmet(resolution: Resolution, graph: DependencyGraph, name: NormalizedName, position: int) -> Iterator[Unmet]:
    if not graph.loaded(name, position):
        return
    version = graph.candidates(name).versions[position]
    for edge in graph.edges(name, position):
        dependency = base_name(edge.dependency)
        other = resolution.get(dependency)
        usable = edge.bits & graph.candidates(dependency).all
        if other is None and not usable and dependency not in graph.unknown:
            yield Unmet(edge.requirement(version), None)
        unread = _unread(graph, dependency, usable) if other is None else None
        if unread is not None:
            yield Unmet(edge.requirement(version), None, unread=unread)
        if other is None or edge.specifier.contains(other.version, prereleases=True):
            continue
        versions = [graph.candidates(dependency).versions[found] for found in positions_of(usable)]
        held = tuple(demand for demand in other.wanted_by if not any(demand.admits(wanted) for wanted in versions))
        others = tuple(demand for demand in held if demand.asked_by != name)
        if others or not held:
            yield Unmet(edge.requirement(version), other.version, others)


def _unread(graph: DependencyGraph, name: NormalizedName, usable: int) -> Unknown | None:
    """Return why the newest version could not be read, where none of these can be taken for want of that."""
    rejections = [graph.unreadable.get((name, position)) for position in positions_of(usable)]
    if not rejections or not all(rejections) or any(graph.usable(name, found) for found in positions_of(usable)):
        return None
    return rejections[0].unknown if rejections[0] else None


def _chains(resolution: Resolution, graph: DependencyGraph, project: NormalizedName) -> tuple[tuple[str, ...], ...]:
    """Walk from every project that a person names, breadth first."""
    children = {p.name: tuple(dict.fromkeys(r.name for r in p.dependencies)) for p in resolution.packages}
    found: list[tuple[str, ...]] = []
    for start in dict.fromkeys(r.name for r in graph.manifest.requirements if graph.applies(r)):
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


def absence(graph: DependencyGraph, repair: Repair | None, name: str) -> Absence | None:
    """Return why a project is not there with the repair in use, None where nobody has heard of it."""
    project = canonicalize_name(name)
    override = next((o for o in repair.overrides if o.requirement.name == project), None) if repair else None
    asked = override.sets_aside if override else ()
    exclusion = next((item for item in graph.manifest.exclusions if item.name == project), None)
    if exclusion is not None:
        return Absence(AbsenceKind.PROFILE, exclusion.because, asked)
    if override is not None:
        return Absence(_kind(graph, project, by_profile=override.from_profile), override.because, asked)
    written = tuple(line for line in graph.manifest.requirements if line.name == project)
    if project in graph.unknown:
        return Absence(AbsenceKind.UNKNOWN, "", written, graph.unknown[project])
    if written and not any(graph.counts(line) for line in written):
        return Absence(AbsenceKind.OTHER_TARGETS, "", written)
    return None


def _kind(graph: DependencyGraph, project: NormalizedName, *, by_profile: bool) -> AbsenceKind:
    if by_profile:
        return AbsenceKind.PROFILE
    if project in graph.missing:
        return AbsenceKind.NO_SUCH_PROJECT
    return AbsenceKind.NO_FILE if not graph.candidates(project).all else AbsenceKind.REPAIR
