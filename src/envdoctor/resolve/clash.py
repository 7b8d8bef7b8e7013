"""Where the chains of a conflict meet: the package on which its members cannot agree.

A proof of impossibility speaks of every version that the search met, and of three lines or more the demand that ends
it is often one of a version that another member of the core rules out. So a member is taken away and the others are
solved: what then stands against the member is a demand that really is made. Whether the conflict rests on it is asked
of the solver, which must find an answer once that demand is not heard. From there the chain is followed upwards in the
same way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import combinations
from operator import or_
from typing import TypeAlias

from packaging.specifiers import SpecifierSet
from packaging.utils import NormalizedName

from envdoctor.model.candidate import Rejection, RejectionKind
from envdoctor.model.conflict import Clash, ClashSide
from envdoctor.model.requirement import Requirement
from envdoctor.resolve.dependency_graph import DependencyGraph
from envdoctor.resolve.edges import Edge, base_name, highest, positions_of
from envdoctor.resolve.solver import Demand, Line, Solved, Solver, View, background, demands_of_lines

__all__ = ["ClashSearch", "find_clash"]

_Chains: TypeAlias = Mapping[NormalizedName, Mapping[int, tuple[str, ...]]]
"""Project -> member of the core -> the shortest chain of names from the one to the other."""


def find_clash(graph: DependencyGraph, core: Sequence[Line], proof: Iterable[Demand]) -> Clash:
    """Return where the members of a minimal core meet, by a proof that speaks of them alone."""
    written = {line.id: line.requirement for line in core}
    of_lines = [demand for demand in demands_of_lines(graph, core) if demand.node == demand.package]
    demands = [*of_lines, *_of_metadata(graph, proof)]
    chains = _chains(core, demands)
    sides = _meeting(graph, core, demands, chains)
    package = sides[0].package
    lacking = [side for side in sides if not side.bits & graph.candidates(package).all]
    candidates = graph.candidates(package)
    # What only a pin would take, yanked or not known to exist, is no way out.
    free = candidates.all & ~candidates.yanked
    available = tuple(str(candidates.versions[p]) for p in positions_of(free)) if lacking else ()
    if candidates.opaque:
        available = ()
    told = [_side(graph, side, demands, chains, written) for side in sides]
    return Clash(package, tuple(told), available, _rejections(graph, package, sides, told))


def _of_metadata(graph: DependencyGraph, proof: Iterable[Demand]) -> Iterable[Demand]:
    """Yield one demand per pair of projects: whatever version of the owner is taken, it asks for one of these."""
    merged: dict[tuple[str, NormalizedName], tuple[int, int]] = {}
    for demand in proof:
        structural = demand.owner_package == demand.package and demand.owner != demand.node
        if demand.owner and not structural:
            owner_bits, bits = merged.get((demand.owner, demand.package), (0, 0))
            merged[demand.owner, demand.package] = (owner_bits | demand.owner_bits, bits | demand.bits)
    for (owner, package), (owner_bits, bits) in merged.items():
        known = owner_bits & graph.candidates(base_name(owner)).all
        if known:
            yield Demand(package, bits, owner=owner, owner_bits=known)


def _chains(core: Sequence[Line], demands: Sequence[Demand]) -> _Chains:
    """Return, per project, the shortest chain of names that leads there from each member of the core."""
    chains: dict[NormalizedName, dict[int, tuple[str, ...]]] = {}
    edges: dict[NormalizedName, list[NormalizedName]] = {}
    for demand in demands:
        if demand.line is None:
            edges.setdefault(demand.owner_package, []).append(demand.package)
    for line in core:
        if line.constraint:
            continue
        frontier: list[tuple[NormalizedName, tuple[str, ...]]] = [
            (line.requirement.name, (str(line.requirement.name),))
        ]
        for name, chain in frontier:
            if line.id in chains.setdefault(name, {}):
                continue
            chains[name][line.id] = chain
            frontier.extend((found, (*chain, str(found))) for found in edges.get(name, ()))
    return chains


def _members(demand: Demand, chains: _Chains) -> frozenset[int]:
    if demand.line is not None:
        return frozenset({demand.line})
    return frozenset(chains.get(demand.owner_package, {}))


def _depth(demand: Demand, chains: _Chains) -> int:
    if demand.line is not None:
        return 0
    return min((len(chain) for chain in chains.get(demand.owner_package, {}).values()), default=99)


def _meeting(graph: DependencyGraph, core: Sequence[Line], demands: Sequence[Demand], chains: _Chains) -> list[Demand]:
    """Return the demands on one package that exclude each other, or the one that nothing can meet."""
    lacking = [d for d in demands if not d.bits & graph.candidates(d.package).all]
    if len(core) == 1 and lacking:
        return [min(lacking, key=lambda d: _depth(d, chains))]
    pairs = [
        (left, right)
        for left, right in combinations(demands, 2)
        if left.package == right.package and not left.bits & right.bits
    ]
    if pairs:
        left, right = min(pairs, key=lambda pair: _pair_rank(pair, chains))
        sides = [left, right, *_others(demands, chains, (left, right))]
        return sorted(sides, key=lambda side: min(_members(side, chains), default=len(core)))
    if lacking:
        return [min(lacking, key=lambda d: _depth(d, chains))]
    return _most_contested(demands, chains)


def _pair_rank(pair: tuple[Demand, Demand], chains: _Chains) -> tuple[int, int, int, str]:
    first, second = (_members(demand, chains) for demand in pair)
    alone = -len(first ^ second)
    return (len(first & second), _depth(pair[0], chains) + _depth(pair[1], chains), alone, pair[0].package)


def _others(demands: Sequence[Demand], chains: _Chains, chosen: tuple[Demand, Demand]) -> Iterable[Demand]:
    """Yield further demands on the same package by members whose side is not shown yet."""
    shown = _members(chosen[0], chains) | _members(chosen[1], chains)
    for demand in demands:
        members = _members(demand, chains)
        if demand.package == chosen[0].package and demand not in chosen and not members <= shown:
            shown |= members
            yield demand


def _most_contested(demands: Sequence[Demand], chains: _Chains) -> list[Demand]:
    groups: dict[NormalizedName, list[Demand]] = {}
    for demand in demands:
        groups.setdefault(demand.package, []).append(demand)
    return max(
        groups.values(), key=lambda group: (len(frozenset().union(*(_members(d, chains) for d in group))), len(group))
    )


def _owner_positions(graph: DependencyGraph, demand: Demand, demands: Sequence[Demand]) -> int:
    """Return the owner's versions that the other demands leave open, of those that make this demand."""
    bits = demand.owner_bits
    for other in demands:
        if other.package == demand.owner_package:
            bits = bits & other.bits or bits
    return bits & graph.candidates(demand.owner_package).all


def _side(
    graph: DependencyGraph,
    demand: Demand,
    demands: Sequence[Demand],
    chains: _Chains,
    written: Mapping[int, Requirement],
) -> ClashSide:
    if demand.line is not None:
        return ClashSide(written[demand.line])
    positions = _owner_positions(graph, demand, demands)
    owner = graph.candidates(demand.owner_package)
    requirement = _demand_of(graph, demand, highest(positions))
    chain = min(chains.get(demand.owner_package, {}).values(), key=len, default=(demand.owner_package,))
    versions = tuple(str(owner.versions[p]) for p in sorted(positions_of(positions)))
    return ClashSide(requirement, via=chain, versions_considered=versions)


def _demand_of(graph: DependencyGraph, demand: Demand, position: int) -> Requirement:
    """Return the demand as one version of its owner makes it, several lines on one project taken together."""
    edges = [e for e in graph.edges(demand.owner, position) if base_name(e.dependency) == demand.package]
    version = graph.candidates(demand.owner_package).versions[position]
    first = edges[0].requirement(version)
    specifier = SpecifierSet()
    for edge in edges:
        specifier &= edge.specifier
    return Requirement(first.name, first.origin, specifier, extras=first.extras)


def _rejections(
    graph: DependencyGraph, package: NormalizedName, sides: Sequence[Demand], told: Sequence[ClashSide]
) -> tuple[Rejection, ...]:
    if package in graph.missing:
        return (Rejection(RejectionKind.NOT_FOUND, package),)
    found = [rejection for (name, _), rejection in graph.unreadable.items() if name == package]
    candidates = graph.candidates(package)
    if candidates.page is None:
        return tuple(found)
    for side, words in zip(sides, told, strict=True):
        usable = {candidates.versions[p] for p in positions_of(side.bits & candidates.all)}
        wanted = {
            version
            for version in candidates.page.versions
            if version not in usable and words.requirement.admits(version)
        }
        # A side that has versions to choose from is told only of what was shut out for it alone.
        if not usable:
            found.extend(graph.selector.rejections(candidates.page, wanted))
    return tuple(dict.fromkeys(found))


_FOR_ONE = 24
"""Questions that may be asked of the solver for one core."""
_IN_ALL = 96
"""The same for all cores of a diagnosis."""


class _Deaf(View):
    """A graph in which one project's demands on another are not heard, binary couplings among them."""

    def _seen(self, owner: NormalizedName, edge: Edge) -> Edge | None:
        return None if (owner, base_name(edge.dependency)) in self.relaxed and not edge.structural else edge


class ClashSearch:
    """Finds, for the cores of one diagnosis, demands without any one of which they could hold together."""

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
        self, node: str, name: NormalizedName, wanted: int, others: Sequence[Line], positions: Mapping[str, int]
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
