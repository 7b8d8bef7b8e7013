"""Where the chains of three lines or more meet: a demand without which they could hold together, and the way to it.

A proof of impossibility speaks of every version that the search met, and the demand that ends it is often one of a
version that another member of the core rules out. So a member is taken away and the others are solved: what then
stands against the member is a demand that really is made. Whether the conflict rests on it is asked of the solver,
which must find an answer once that demand is not heard. From there the chain is followed upwards in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from operator import or_

from packaging.utils import NormalizedName

from envdoctor.resolve.dependency_graph import DependencyGraph
from envdoctor.resolve.edges import Edge, base_name, positions_of
from envdoctor.resolve.solver import Demand, Line, Solved, Solver, View, background, demands_of_lines

__all__ = ["ClashSearch"]

_FOR_ONE = 24
"""Questions that may be asked of the solver for one core."""
_IN_ALL = 96
"""The same for all cores of a diagnosis."""


class _Deaf(View):
    """A graph in which one project's demands on another are not heard, binary couplings among them."""

    def _seen(self, owner: NormalizedName, edge: Edge) -> Edge | None:
        return None if (owner, base_name(edge.dependency)) in self.relaxed and not edge.structural else edge


class ClashSearch:
    """Finds where the cores of one diagnosis meet."""

    def __init__(self, graph: DependencyGraph, solver: Solver, solves: int = _IN_ALL) -> None:
        self._graph = graph
        self._solver = solver
        self._left = solves

    def proof(self, core: Sequence[Line]) -> tuple[Demand, ...] | None:
        """Return the demands on each of which the whole conflict rests, None where no single one bears it.

        They are that of a line, those that lead from another line down, and at the end one that excludes the first.
        ``core`` is minimal: with any one of its members gone the others hold together. Gives up, with None, where too
        many questions are to be asked.
        """
        search = _Search(self._graph, self._solver, core, min(_FOR_ONE, self._left))
        lines = (line for line in core if len(line.requirement.specifier))
        found = next((proof for line in lines if (proof := search.against(line)) is not None), None)
        self._left = max(self._left - search.asked, 0)
        return found


class _Search:
    def __init__(self, graph: DependencyGraph, solver: Solver, core: Sequence[Line], solves: int) -> None:
        self._graph = graph
        self._solver = solver
        self._core = core
        self._background: list[Demand] = background(graph)
        self._solves = solves
        self.asked = 0
        self._essential: dict[tuple[NormalizedName, NormalizedName], bool] = {}

    def against(self, line: Line) -> tuple[Demand, ...] | None:
        """Return what a line asks for and the demands on which it rests that nothing is left of that."""
        others = [other for other in self._core if other is not line]
        outcome = self._solved(View(self._graph), others)
        if outcome is None:
            return None
        name = line.requirement.name
        wanted = self._graph.bits(name, line.requirement.specifier)
        for node in _making(self._graph, outcome, name, wanted):
            way = self._way_to(node, name, others, outcome, frozenset())
            if way is not None:
                end = self._speaking(node, name, wanted, others, outcome)
                return (Demand(name, wanted, line.id), *way, end)
        return None

    def _solved(self, view: View, lines: Sequence[Line]) -> Mapping[str, int] | None:
        if self.asked >= self._solves:
            return None
        self.asked += 1
        outcome = self._solver.solve([*demands_of_lines(self._graph, lines), *self._background], view)
        return outcome.positions if isinstance(outcome, Solved) else None

    def _rests_on(self, owner: NormalizedName, dependency: NormalizedName) -> bool:
        """Return whether the core could hold together if these demands were not heard."""
        pair = (owner, dependency)
        if pair not in self._essential:
            self._essential[pair] = self._solved(_Deaf(self._graph, {pair: None}), self._core) is not None
        return self._essential[pair]

    def _way_to(
        self,
        node: str,
        name: NormalizedName,
        others: Sequence[Line],
        positions: Mapping[str, int],
        seen: frozenset[str],
    ) -> tuple[Demand, ...] | None:
        """Return the demands that lead from a member down to a node, each such that the conflict rests on it."""
        owner = base_name(node)
        if not self._rests_on(owner, name):
            return None
        if any(line.requirement.name == owner and not line.constraint for line in others):
            return ()
        for above in _making(self._graph, positions, owner):
            if above not in seen and above != node:
                way = self._way_to(above, owner, others, positions, seen | {node})
                if way is not None:
                    made = _excluding(self._graph, above, positions[above], owner, None)
                    bits = reduce(or_, (edge.bits for edge in made))
                    return (*way, Demand(owner, bits, owner=above, owner_bits=1 << positions[above]))
        return None

    def _speaking(
        self,
        node: str,
        name: NormalizedName,
        wanted: int,
        others: Sequence[Line],
        positions: Mapping[str, int],
    ) -> Demand:
        """Return what the versions of a node want that the others leave and that speak against the line."""
        owner = base_name(node)
        left = self._graph.candidates(owner).all
        for line in others:
            if line.requirement.name == owner:
                left &= self._graph.bits(owner, line.requirement.specifier)
        for above in _making(self._graph, positions, owner):
            for edge in self._graph.edges(above, positions[above]):
                left &= edge.bits if base_name(edge.dependency) == owner else -1
        owner_bits = bits = 0
        for position in positions_of(left):
            if self._graph.loaded(owner, position):
                for edge in _excluding(self._graph, node, position, name, wanted):
                    owner_bits |= 1 << position
                    bits |= edge.bits
        return Demand(name, bits, owner=node, owner_bits=owner_bits)


def _making(
    graph: DependencyGraph, positions: Mapping[str, int], name: NormalizedName, wanted: int | None = None
) -> Iterator[str]:
    """Yield the nodes of a solution that ask for versions of a project; with ``wanted``: for none of these."""
    for node in sorted(positions):
        if base_name(node) != name and _excluding(graph, node, positions[node], name, wanted):
            yield node


def _excluding(
    graph: DependencyGraph, node: str, position: int, name: NormalizedName, wanted: int | None
) -> list[Edge]:
    return [
        edge
        for edge in graph.edges(node, position)
        if base_name(edge.dependency) == name
        and not edge.structural
        and (not edge.bits & wanted if wanted is not None else True)
    ]
