"""A manifest as it looks on an index: what a search wants first is fetched, then an engine solves sets of lines.

What is fetched ahead comes breadth first, everything of one depth at once, for network time is what counts.
"""

from __future__ import annotations

from collections.abc import Sequence

from packaging.utils import NormalizedName

from envdoctor.ports import Index
from envdoctor.resolve.dependency_graph import DependencyGraph
from envdoctor.resolve.edges import base_name, highest, nodes_of
from envdoctor.resolve.manifest import Manifest
from envdoctor.resolve.relaxations import Relaxation, from_profile
from envdoctor.resolve.solver import Line, Outcome, Solver, lines_of

__all__ = ["Resolver", "warm"]


def warm(graph: DependencyGraph, lines: Sequence[Line]) -> None:
    """Fetch the pages and metadata that a search will look at first.

    Per project only the newest version that all demands met so far admit; no version is looked at here that a
    search without conflicts would not look at.
    """
    graph.index.prefetch_pages({line.requirement.name for line in lines})
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
