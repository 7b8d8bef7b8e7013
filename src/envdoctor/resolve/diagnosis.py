"""One diagnosis: every conflict, the smallest repairs, and the resolution in use."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field, replace

from packaging.utils import NormalizedName, canonicalize_name

from envdoctor.model.candidate import BuildRisk, DistributionFile, Rejection
from envdoctor.model.conflict import Conflict
from envdoctor.model.dataclass import dataclass
from envdoctor.model.repair import Repair, repair_in_use
from envdoctor.model.requirement import Requirement
from envdoctor.model.resolution import Resolution
from envdoctor.model.unknown import Subject, SubjectKind, Unknown, UnknownKind
from envdoctor.ports import Index, Progress
from envdoctor.resolve.conflicts import CoreSet, Oracle, conflicts_of, minimal_cores, strict_core
from envdoctor.resolve.dependency_graph import DependencyGraph
from envdoctor.resolve.manifest import Manifest
from envdoctor.resolve.offer import Judge, Offer, put_in_use
from envdoctor.resolve.offers import Offers
from envdoctor.resolve.placed_files import demands_at_urls, left_at_urls, placed_files
from envdoctor.resolve.resolver import Resolver, build_resolution
from envdoctor.resolve.solver import Solved, Solver

__all__ = ["Diagnosis", "diagnose", "resolve", "resolve_or_conflicts"]

_MOST_PLACED = 4
"""Searches after which wheels that metadata asks for by URL are left alone."""

BuildRiskOf = Callable[[DistributionFile], BuildRisk]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What was found; everything is sorted and repeats exactly."""

    conflicts: tuple[Conflict, ...] = ()
    conflicts_truncated: bool = False
    repairs: tuple[Repair, ...] = ()
    """Best first."""
    resolution: Resolution | None = None
    """The one in use: as the profile says, else the first repair, else the requirements as they stand."""
    resolutions: Mapping[str, Resolution] = field(default_factory=dict)
    """By repair id."""
    rejections: tuple[Rejection, ...] = ()
    """Versions whose metadata could not be read."""
    unknowns: tuple[Unknown, ...] = ()
    """What could not be checked; empty when everything was."""
    missing: tuple[NormalizedName, ...] = ()
    """Projects that were asked for and that no index has."""
    mended: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """``name version`` of the resolution in use -> its invalid metadata lines."""
    strict_core: tuple[Requirement, ...] = ()
    """Lines that cannot hold together for a tool that refuses invalid metadata; empty where nothing was mended."""
    profile_failure: tuple[Requirement, ...] = ()
    """Requirements that cannot be installed together even with the profile's overrides; empty where those work."""
    graph: DependencyGraph | None = field(default=None, compare=False, repr=False)

    @property
    def on_trust(self) -> tuple[Unknown, ...]:
        """Projects of which nothing is known, by name: direct references, an image's, pages that were not fetched."""
        kinds = (UnknownKind.DIRECT_REFERENCE, UnknownKind.IN_IMAGE)
        whole = (unknown for unknown in self.unknowns if unknown.is_of_an_index or unknown.kind in kinds)
        found = (unknown for unknown in whole if unknown.subject.name and not unknown.subject.version)
        return tuple(sorted(found, key=lambda unknown: unknown.subject.name))


def resolve(manifest: Manifest, index: Index, *, solver: Solver | None = None) -> Resolution | None:
    """Resolve a manifest with its overrides, without looking for conflicts or repairs; None where that cannot be."""
    resolver = Resolver(manifest, index, solver)
    outcome = resolver.as_overridden()
    if not isinstance(outcome, Solved):
        return None
    return build_resolution(resolver.graph, resolver.lines, outcome.positions, resolver.relaxation)


def resolve_or_conflicts(manifest: Manifest, index: Index) -> Diagnosis:
    """Return a resolution, or the conflicts that stand in its way: no repairs, for lists that decide nothing."""
    resolver = Resolver(manifest, index, None)
    outcome = resolver.as_overridden()
    if isinstance(outcome, Solved):
        found = build_resolution(resolver.graph, resolver.lines, outcome.positions, resolver.relaxation)
        return Diagnosis(resolution=found, unknowns=_unreached(resolver.graph))
    if resolver.graph.lacking:
        return Diagnosis(unknowns=(*_unreached(resolver.graph), *resolver.graph.lacking.values()))
    oracle = Oracle(resolver)
    cores = minimal_cores(oracle, manifest.limits.conflicts, manifest.limits.conflict_solves)
    return Diagnosis(conflicts=conflicts_of(resolver, oracle, cores), unknowns=_unreached(resolver.graph))


def diagnose(
    manifest: Manifest,
    index: Index,
    *,
    progress: Progress | None = None,
    judge: Judge | None = None,
    build_risk: BuildRiskOf | None = None,
    solver: Solver | None = None,
    resolver: Resolver | None = None,
    repair: str = "",
) -> Diagnosis:
    """Find every conflict of the requirements as they stand, the smallest repairs, and the resolution in use.

    ``judge`` tells what is known to fail in a resolution: such repairs rank behind those that work, and say it.
    ``build_risk`` grades the sdists of a resolution. ``resolver``, where there is one, has solved the manifest on this
    index already. ``repair`` is the id of the one to put in use, where there is one of that id. Raises nothing of its
    own; an index that cannot be reached makes the diagnosis incomplete.
    """
    found = _diagnose(manifest, index, progress, judge, build_risk, solver, repair, resolver)
    for _ in range(_MOST_PLACED):
        assert found.graph is not None  # noqa: S101
        placed = placed_files(found.graph, found.resolution)
        if placed.keys() <= manifest.placed.keys():
            break
        fuller = replace(manifest, placed={**placed, **manifest.placed})
        again = _diagnose(fuller, index, progress, judge, build_risk, solver, repair)
        if not _go_with(found, again, placed):
            break
        found, manifest = again, fuller
    while found.conflicts and found.graph and found.graph.lacking.keys() - manifest.policy.open_ended:
        # That the other indexes lack what one that could not be read may have is no reason for a conflict.
        names = manifest.policy.open_ended | found.graph.lacking.keys()
        manifest = replace(manifest, policy=replace(manifest.policy, open_ended=names))
        found = _proven(found, _diagnose(manifest, index, progress, judge, build_risk, solver, repair))
    if not found.rejections or not (found.conflicts or any(map(_offline, found.unknowns))):
        return found
    # A version that could not be read cannot be chosen: a conflict that is found without it may be no conflict, and an
    # older version that is taken in its stead is not what an installer would take.
    hopeful = replace(manifest, policy=replace(manifest.policy, unread=True))
    if found.conflicts and not found.conflicts_truncated and _stand(found.conflicts, Resolver(hopeful, index, solver)):
        return found
    return _proven(found, _diagnose(hopeful, index, progress, judge, build_risk, solver, repair))


def _go_with(found: Diagnosis, again: Diagnosis, placed: Collection[NormalizedName]) -> bool:
    """Return whether what was found ``again``, with files in their places, says more than what was found without.

    Who asks for no URL may take what an index has: no conflict is made of a place that it need not know.
    """
    assert found.graph is not None and again.graph is not None  # noqa: S101
    new = {conflict.core for conflict in again.conflicts} - {conflict.core for conflict in found.conflicts}
    others = again.graph.by_name
    if new and any(name in others and found.graph.candidates(name).page is not None for name in placed):
        return False
    if again.resolution is None:
        return True
    taken = {canonicalize_name(line.name) for _, line in demands_at_urls(again.graph, again.resolution)}
    return all(again.resolution.get(name) is None or name in taken for name in placed)


def _offline(unknown: Unknown) -> bool:
    """Return whether it is the cache alone that does not know a version: an installer would read and could take it."""
    return unknown.kind is UnknownKind.OFFLINE and bool(unknown.subject.version)


def _stand(conflicts: Sequence[Conflict], hopeful: Resolver) -> bool:
    """Return whether conflicts are there with hope, too; then they are all: with hope more holds together, not less."""
    oracle = Oracle(hopeful)
    numbers = {line.requirement: line.id for line in oracle.lines}
    return not any(oracle.possible(frozenset(numbers[asked] for asked in conflict.core)) for conflict in conflicts)


def _proven(found: Diagnosis, hoped: Diagnosis) -> Diagnosis:
    """Return what was found, or, where some of it may be for want of metadata, what is left with hope."""
    if not found.conflicts:
        if hoped.conflicts or hoped.resolution is None:
            return found
        # What the cache does not know stays told where the second search did not come by it.
        passed_by = () if any(map(_offline, hoped.unknowns)) else filter(_offline, found.unknowns)
        return replace(hoped, unknowns=(*hoped.unknowns, *passed_by))
    if {conflict.core for conflict in found.conflicts} == {conflict.core for conflict in hoped.conflicts}:
        return found
    return replace(hoped, repairs=tuple(replace(repair, verified=False) for repair in hoped.repairs))


def _diagnose(
    manifest: Manifest,
    index: Index,
    progress: Progress | None,
    judge: Judge | None,
    build_risk: BuildRiskOf | None,
    solver: Solver | None,
    repair: str,
    resolver: Resolver | None = None,
) -> Diagnosis:
    _say(progress, "reading the index")
    resolver = resolver or Resolver(manifest, index, solver)
    graph = resolver.graph
    _done(progress, "reading the index")
    _say(progress, "looking for conflicts")
    oracle = Oracle(resolver)
    cores = minimal_cores(oracle, manifest.limits.conflicts, manifest.limits.conflict_solves)
    conflicts = conflicts_of(resolver, oracle, cores)
    _done(progress, "looking for conflicts")
    _say(progress, "looking for repairs")
    offers = Offers(resolver, conflicts, judge=judge, build_risk=build_risk)
    for core in cores.cores:
        proof = oracle.proof(core)
        if proof is not None:
            offers.search.learn(proof)
    found = offers.all()
    _done(progress, "looking for repairs")
    diagnosis = _assemble(graph, conflicts, cores, oracle, offers, found, repair)
    in_use = repair_in_use(diagnosis.repairs, diagnosis.resolution)
    return replace(diagnosis, strict_core=strict_core(resolver, diagnosis.resolution, in_use, oracle, solver))


def _assemble(
    graph: DependencyGraph,
    conflicts: Sequence[Conflict],
    cores: CoreSet,
    oracle: Oracle,
    offers: Offers,
    found: Sequence[Offer],
    repair: str,
) -> Diagnosis:
    found, in_use, unsound = put_in_use(found, repair)
    resolution = in_use.resolution if in_use else None
    mended = [(f"{p.name} {p.version}", p.mended) for p in resolution.packages if p.mended] if resolution else []
    stops = [_given_up(reason) for reason in (*oracle.gave_up, *offers.search.gave_up)]
    stops.extend(unsound)
    return Diagnosis(
        conflicts=tuple(conflicts),
        conflicts_truncated=cores.truncated,
        repairs=tuple(offer.repair for offer in found if offer.repair is not None),
        resolution=resolution,
        resolutions={offer.repair.id: offer.resolution for offer in found if offer.repair is not None},
        rejections=tuple(graph.unreadable.values()),
        unknowns=tuple(
            dict.fromkeys(
                (
                    *graph.unknowns,
                    *_unread(graph, resolution),
                    *_doubtful(graph, resolution),
                    *left_at_urls(graph, resolution),
                    *stops,
                    *_direct(graph),
                )
            )
        ),
        missing=tuple(sorted(graph.missing)),
        mended=tuple(mended),
        profile_failure=offers.profile_failure,
        graph=graph,
    )


def _given_up(reason: str) -> Unknown:
    return Unknown(UnknownKind.SEARCH_GIVEN_UP, Subject(SubjectKind.PROJECT), cause=reason)


def _unreached(graph: DependencyGraph) -> tuple[Unknown, ...]:
    return tuple(graph.unknown[name] for name in sorted(graph.unreached))


def _direct(graph: DependencyGraph) -> list[Unknown]:
    direct = [name for name, found in graph.unknown.items() if found.kind is UnknownKind.DIRECT_REFERENCE]
    return [graph.unknown[name] for name in sorted(direct) if graph.unknown[name].cause or name not in graph.described]


def _marker(subject: Subject, line: str) -> Unknown:
    return Unknown(UnknownKind.MARKER, subject, demand=line)


def _unread(graph: DependencyGraph, resolution: Resolution | None) -> list[Unknown]:
    """Return which versions without metadata leave something open: those in use, and those passed over for it."""
    found: list[Unknown] = []
    for (name, position), rejection in graph.unreadable.items():
        package = resolution.get(name) if resolution else None
        newer = package is None or rejection.version is None or package.version < rejection.version
        passed_over = newer and not graph.usable(name, position)
        if passed_over or (package is not None and package.version == rejection.version):
            found.extend([rejection.unknown] if rejection.unknown else [])
    return found


def _doubtful(graph: DependencyGraph, resolution: Resolution | None) -> list[Unknown]:
    """Return which demands of the versions in use (without a resolution: of any) have a marker that says nothing."""
    lines = graph.metadata_lines
    if resolution is None or not lines.doubtful:
        return [_marker(Subject(SubjectKind.PACKAGE), line) for line in sorted(lines.doubtful)]
    return [
        _marker(Subject(SubjectKind.PACKAGE, package.name, str(package.version)), line)
        for package in resolution.packages
        for line in lines.doubtful_in(graph.metadata_of(package))
    ]


def _say(progress: Progress | None, activity: str) -> None:
    if progress is not None:
        progress.start(activity)


def _done(progress: Progress | None, activity: str) -> None:
    if progress is not None:
        progress.finish(activity)
