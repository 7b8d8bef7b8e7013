"""Cores by what they have in common, so that ways out of one conflict are not tried with all ways out of another.

Sixteen conflicts of two lines have 65,536 ways out. Where the ways out of each were tried with one way out of all the
others, and no two of them stand in each other's way, every combination holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from itertools import combinations

from envdoctor.model.dataclass import dataclass
from envdoctor.resolve.dependency_graph import DependencyGraph
from envdoctor.resolve.hitting_sets import MinimalHittingSets
from envdoctor.resolve.solver import Line, demands_of_lines

__all__ = ["CoreGroups", "Exchange"]

_HITTING_SETS = 2_000
_COMPARED = 100
"""Ways out that are compared with each other; where there are more, they are tried in combination."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """What is different where one way out is taken in place of another."""

    brought: Sequence[Line]
    """Lines that count now."""
    positions: Mapping[str, int]
    """What was chosen with it."""


@dataclass(slots=True)
class _Group:
    cores: list[frozenset[int]] = field(default_factory=list)
    hitting: MinimalHittingSets[int] = field(default_factory=lambda: MinimalHittingSets(_HITTING_SETS))

    @property
    def first(self) -> frozenset[int]:
        return self.hitting.sets[0]

    def take(self, cores: Sequence[frozenset[int]]) -> None:
        for core in cores:
            self.cores.append(core)
            self.hitting.add(sorted(core))


class CoreGroups:
    """The cores found so far; those of different groups have no line in common."""

    def __init__(self) -> None:
        self._groups: list[_Group] = []

    @property
    def cores(self) -> tuple[frozenset[int], ...]:
        """Every core."""
        return tuple(core for group in self._groups for core in group.cores)

    @property
    def truncated(self) -> bool:
        """Whether there are more ways out than were written down."""
        return any(group.hitting.truncated for group in self._groups)

    def add(self, core: frozenset[int]) -> None:
        """Take in a core."""
        joined = [group for group in self._groups if any(core & known for known in group.cores)]
        self._join(joined).take([core])

    def join(self, one: int, other: int) -> None:
        """Let the ways out of two groups be tried in combination."""
        self._join([self._groups[one], self._groups[other]])

    def _join(self, joined: Sequence[_Group]) -> _Group:
        if not joined:
            self._groups.append(_Group())
            return self._groups[-1]
        first, *others = joined
        for group in others:
            first.take(group.cores)
        self._groups = [group for group in self._groups if not any(group is other for other in others)]
        return first

    @property
    def way_out(self) -> frozenset[int]:
        """One way out of everything: lines without which no core is left."""
        return frozenset[int]().union(*(group.first for group in self._groups))

    def ways_out(self) -> Iterator[tuple[int, frozenset[int]]]:
        """Yield that one, then every other of each group with the first of all others; each with its group."""
        yield 0, self.way_out
        for number, group in enumerate(self._groups):
            for other in group.hitting.sets[1:]:
                yield number, (self.way_out - group.first) | other

    def entangled(
        self, graph: DependencyGraph, base: Mapping[str, int], exchanges: Sequence[tuple[int, Exchange]]
    ) -> tuple[int, int] | None:
        """Return two groups of which ways out stand in each other's way, None where there are none."""
        if len(self._groups) > 1 and len(exchanges) > _COMPARED:
            return 0, 1
        for (number, one), (other_number, other) in combinations(exchanges, 2):
            apart = number != other_number
            if apart and not (_leaves(graph, base, one, other) and _leaves(graph, base, other, one)):
                return number, other_number
        return None


def _leaves(graph: DependencyGraph, base: Mapping[str, int], one: Exchange, other: Exchange) -> bool:
    """Return whether what one exchange asks for is there, too, where another is made beside it.

    Each holds by itself, so all that is to be looked at is what one asks of a project that the other moves or drops.
    """
    if any(line.constraint for line in one.brought):
        return False  # It bounds what the other may bring; rare, so not looked at.
    mine, others = _moved(base, one), _moved(base, other)
    if any(others.get(node, position) != position for node, position in mine.items()):
        return False
    asked = [(demand.node, demand.bits) for demand in demands_of_lines(graph, one.brought)]
    asked += [(e.dependency, e.bits) for node, position in mine.items() for e in graph.edges(node, position)]
    kept: set[str] = set()
    for node, bits in asked:
        if node in others and not bits >> others[node] & 1:
            return False
        if node in base and node not in other.positions and node not in kept:
            kept.add(node)
            asked.extend((edge.dependency, edge.bits) for edge in graph.edges(node, base[node]))
    return True


def _moved(base: Mapping[str, int], exchange: Exchange) -> dict[str, int]:
    return {node: position for node, position in exchange.positions.items() if base.get(node) != position}
