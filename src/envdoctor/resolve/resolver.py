"""A manifest as it looks on an index: what a search wants first is fetched, then an engine solves sets of lines.

What it chose becomes a resolution that says who wanted what.

What is fetched ahead comes breadth first, everything of one depth at once, for network time is what counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta

from packaging.utils import NormalizedName

from envdoctor.model.candidate import BuildRisk, DistributionFile, FileKind
from envdoctor.model.origin import written_by_a_person
from envdoctor.model.requirement import Requirement
from envdoctor.model.resolution import Resolution, ResolvedPackage, WalkedBack
from envdoctor.ports import Index
from envdoctor.resolve.brought import is_of_image
from envdoctor.resolve.dependency_graph import DependencyGraph
from envdoctor.resolve.edges import Edge, base_name, highest, nodes_of, release_series
from envdoctor.resolve.manifest import Manifest
from envdoctor.resolve.relaxations import Relaxation, from_profile, says_so
from envdoctor.resolve.solver import Line, Outcome, Solver, lines_of

__all__ = ["Resolver", "build_resolution", "walked_back", "warm"]


class _Wanted:
    """Every demand on every project of a resolution, in force and set aside."""

    def __init__(self) -> None:
        self.in_force: dict[NormalizedName, list[Requirement]] = {}
        self.set_aside: dict[NormalizedName, list[Requirement]] = {}
        self.made_by: dict[NormalizedName, list[Requirement]] = {}


def _wanted(
    graph: DependencyGraph, lines: Sequence[Line], positions: Mapping[str, int], relaxation: Relaxation
) -> _Wanted:
    """Return who demands what, given what was chosen."""
    demands = _Wanted()
    for line in lines:
        name = line.requirement.name
        aside = line.id in relaxation.lines
        if aside and name in positions and not (candidates := graph.candidates(name)).opaque:
            aside = not says_so(line.requirement, candidates.versions[positions[name]])
        (demands.set_aside if aside else demands.in_force).setdefault(name, []).extend(line.written)
    for name, override in relaxation.overrides.items():
        if graph.applies(override.requirement):
            demands.in_force.setdefault(name, []).append(override.requirement)
    for node, position in sorted(positions.items()):
        owner = base_name(node)
        if graph.candidates(owner).opaque:
            continue
        made = demands.made_by.setdefault(owner, [])
        further = bool(made)
        for requirement, edge in _made(graph, node, position):
            if not (further and requirement in made):
                made.append(requirement)
                aside = edge.stated is not None or (not edge.hard and relaxation.sets_aside(owner, requirement.name))
                bucket = demands.set_aside if aside else demands.in_force
                bucket.setdefault(requirement.name, []).append(requirement)
    for name in graph.manifest.replaced.keys() & demands.set_aside.keys():
        in_force = demands.in_force.setdefault(name, [])
        # A line of the project that an override replaces has become that override already.
        there = {(str(item), item.origin) for item in in_force}
        said = (item for item in graph.manifest.replaced[name] if graph.counts(item))
        in_force.extend(item for item in said if (str(item), item.origin) not in there)
    return demands


def _made(graph: DependencyGraph, node: str, position: int) -> tuple[tuple[Requirement, Edge], ...]:
    """Return the demands of a version in its own words, each once, with what became of it."""
    key = (node, position)
    found = graph.made.get(key)
    if found is None:
        version = graph.candidates(base_name(node)).versions[position]
        told: dict[tuple[object, ...], tuple[Requirement, Edge]] = {}
        for edge in graph.edges(node, position):
            if not edge.structural:
                # The nodes of its extras repeat a demand.
                stated = edge.specifier if edge.stated is None else edge.stated.specifier
                asked = (base_name(edge.dependency), stated, edge.extras)
                told.setdefault(asked, (edge.own_words(version), edge))
        found = graph.made[key] = tuple(told.values())
    return found


def build_resolution(
    graph: DependencyGraph,
    lines: Sequence[Line],
    positions: Mapping[str, int],
    relaxation: Relaxation,
    build_risk: Callable[[DistributionFile], BuildRisk] | None = None,
) -> Resolution:
    """Return the resolution; projects of which nothing is known are left out (see ``DependencyGraph.unknown``)."""
    demands = _wanted(graph, lines, positions, relaxation)
    extras: dict[NormalizedName, set[str]] = {}
    for node in positions:
        name, _, extra = node.rstrip("]").partition("[")
        if extra:
            extras.setdefault(NormalizedName(name), set()).add(extra)
    packages: list[ResolvedPackage] = []
    for node in sorted(positions):
        name = base_name(node)
        candidates = graph.candidates(name)
        if name != node or candidates.opaque:
            continue
        candidate = candidates.candidate(positions[node])
        metadata = graph.metadata(name, positions[node])
        graded = candidate.file.kind is FileKind.SDIST and build_risk is not None
        packages.append(
            ResolvedPackage(
                name=name,
                version=candidate.version,
                file=candidate.file,
                files=candidate.files,
                extras=frozenset(extras.get(name, ())) & (metadata.provides_extra if metadata else frozenset()),
                dependencies=tuple(demands.made_by.get(name, ())),
                wanted_by=tuple(demands.in_force.get(name, ())),
                # Lines that an override of the project has replaced are that override, each of them.
                set_aside=tuple(dict.fromkeys(demands.set_aside.get(name, ()))),
                build_risk=build_risk(candidate.file) if graded and build_risk else None,
                mended=metadata.mended if metadata else (),
            )
        )
    return Resolution(tuple(packages), walked_back=walked_back(graph, positions, demands.in_force))


_LONG = timedelta(days=365)


def walked_back(
    graph: DependencyGraph, positions: Mapping[str, int], in_force: Mapping[NormalizedName, Sequence[Requirement]]
) -> tuple[WalkedBack, ...]:
    """Return the packages that are far behind the newest that the target could use, by name.

    Not among them: what a person's own requirement holds back (they know), and what a distribution pins exactly.
    """
    found: list[WalkedBack] = []
    for node in sorted(positions):
        name = base_name(node)
        candidates = graph.candidates(name)
        if name != node or candidates.opaque:
            continue
        newest = graph.newest(name)
        if is_of_image(graph.manifest, candidates, positions[node]):
            continue  # What is there already is left alone, however old.
        if not _far(graph, name, positions[node], newest):
            continue
        demands = in_force.get(name, ())
        excluding = [r for r in demands if not r.admits(candidates.versions[newest])]
        # A distribution that names the very version it was built with takes no step back in time.
        if any(written_by_a_person(r.origin) or r.is_pin for r in excluding):
            continue
        forced = tuple(excluding) or tuple(dict.fromkeys(_failing(graph, positions, name, newest, in_force)))
        if forced:
            found.append(WalkedBack(name, candidates.versions[positions[node]], candidates.versions[newest], forced))
    return tuple(found)


def _far(graph: DependencyGraph, name: NormalizedName, chosen: int, newest: int) -> bool:
    """Return whether the chosen version is a release series, or about a year, behind."""
    if chosen >= newest:
        return False
    candidates = graph.candidates(name)
    if release_series(candidates.versions[chosen]) != release_series(candidates.versions[newest]):
        return True
    before, after = candidates.uploaded(chosen), candidates.uploaded(newest)
    return before is not None and after is not None and after - before > _LONG


def _failing(
    graph: DependencyGraph,
    positions: Mapping[str, int],
    name: NormalizedName,
    newest: int,
    in_force: Mapping[NormalizedName, Sequence[Requirement]],
) -> Iterator[Requirement]:
    """Yield what the newest version asks for that the resolution does not have, if it was looked at; and what pins it.

    Not what is there for the sake of the version in use alone: the newest one would bring another.
    """
    if not graph.loaded(name, newest):
        return
    version = graph.candidates(name).versions[newest]
    for edge in graph.edges(name, newest):
        usable = edge.bits & graph.candidates(base_name(edge.dependency)).all
        chosen = positions.get(edge.dependency)
        if usable and (chosen is None or edge.bits >> chosen & 1):
            continue
        against = [
            demand
            for demand in in_force.get(base_name(edge.dependency), ())
            if not graph.bits(demand.name, demand.specifier) & usable
        ]
        # What the package itself asks for, in the version that is in use, another version would not.
        pinning = [demand for demand in against if demand.asked_by != name]
        if not usable or not against or pinning:
            yield edge.requirement(version)
            yield from pinning


def warm(graph: DependencyGraph, lines: Sequence[Line]) -> None:
    """Fetch the pages and metadata that a search will look at first.

    Per project only the newest version that all demands met so far admit; no version is looked at here that a
    search without conflicts would not look at.
    """
    graph.index.prefetch_pages({line.requirement.name for line in lines} - graph.met)
    allowed: dict[str, int] = {}
    frontier: list[str] = []
    for line in lines:
        requirement = line.requirement
        bits = graph.bits(requirement.name, requirement.specifier)
        for node in nodes_of(requirement.name, requirement.extras):
            allowed[node] = allowed.get(node, bits) & bits or allowed.get(node, bits)
            if not line.constraint and node not in frontier:
                frontier.append(node)
    seen = set(frontier)
    while frontier:
        # What has one version left goes first: its demands may narrow the others.
        pinned = [node for node in frontier if not allowed[node] & (allowed[node] - 1)]
        turn = pinned or frontier
        frontier = [node for node in frontier if node not in turn] if pinned else []
        chosen = [(node, bits) for node in turn if (bits := _newest(graph, node, allowed[node]))]
        for node, bits in chosen:
            graph.prefetch(base_name(node), bits)
        graph.index.prefetch_pages(_names(graph, chosen))
        for node, bits in chosen:
            for edge in graph.edges(node, highest(bits)):
                known = allowed.get(edge.dependency, edge.bits)
                allowed[edge.dependency] = known & edge.bits or known
                if edge.dependency not in seen:
                    seen.add(edge.dependency)
                    frontier.append(edge.dependency)


def _newest(graph: DependencyGraph, node: str, bits: int) -> int:
    candidates = graph.candidates(base_name(node))
    bits &= candidates.all
    return 0 if candidates.opaque or not bits else 1 << highest(bits)


def _names(graph: DependencyGraph, chosen: Sequence[tuple[str, int]]) -> set[NormalizedName]:
    """Return the projects that the chosen versions ask for, whose pages are wanted next."""
    return {name for node, bits in chosen for name in graph.asks_for(node, highest(bits))}


class Resolver:
    """A manifest as it looks on an index: its lines, what the profile sets aside, and an engine that has learned it."""

    def __init__(self, manifest: Manifest, index: Index, solver: Solver | None = None) -> None:
        self.manifest = manifest
        self.index = index
        self.solver = solver or _first_engine(manifest)
        self.graph = DependencyGraph(manifest, index)
        self.lines = lines_of(self.graph)
        self.preferred = _preferred(self.graph)
        """Positions of locked versions that may be kept."""
        self.relaxation = from_profile(self.graph, self.lines, manifest.overrides)
        """What the profile's overrides do."""
        warm(self.graph, self.lines)
        self._as_overridden: Outcome | None = None
        self._as_written: Outcome | None = None

    def as_written(self) -> Outcome:
        """Solve for all lines with nothing set aside, once."""
        if self._as_written is None:
            nothing = Relaxation()
            demands = nothing.demands_of_people(self.graph, self.lines)
            self._as_written = self.solver.solve(demands, nothing.view(self.graph), self.preferred)
        return self._as_written

    def as_overridden(self) -> Outcome:
        """Solve with the profile's overrides, once."""
        if not self.relaxation.overrides:
            return self.as_written()
        if self._as_overridden is None:
            demands = self.relaxation.demands_of_people(self.graph, self.lines)
            self._as_overridden = self.solver.solve(demands, self.relaxation.view(self.graph), self.preferred)
        return self._as_overridden


def _first_engine(manifest: Manifest) -> Solver:
    from envdoctor.resolve.pubgrub import PubGrub  # imports the engine, which help and most verbs do without

    return PubGrub(manifest.limits.rounds)


def _preferred(graph: DependencyGraph) -> dict[str, int]:
    manifest = graph.manifest
    if ":all:" in manifest.upgrade:
        return {}
    found: dict[str, int] = {}
    for name, version in manifest.preferences.items():
        if name not in manifest.upgrade:
            bits = graph.candidates(name).bits(version)
            if bits:
                found[name] = bits.bit_length() - 1
    return found
