"""The conflicts found so far, grouped by the lines they share, and the smallest sets of lines that take from each.

These are hitting sets: they take at least one element from every set of a family.

Sixteen conflicts of two lines have 65,536 ways out. Where the ways out of each were tried with one way out of all the
others, and no two of them stand in each other's way, every combination holds.

The complements of hitting sets of all minimal conflicts are what can be kept, and the cheapest hitting sets of
all minimal conflicts are the cheapest repairs (Reiter 1987; the implicit form is that of MaxHS). Ways out of one
conflict are not to be tried with all ways out of another.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import combinations
from typing import Generic, TypeVar

from envdoctor.model.dataclass import dataclass
from envdoctor.resolve.dependency_graph import DependencyGraph
from envdoctor.resolve.solver import Line, demands_of_lines

__all__ = ["CoreGroups", "Exchange", "MinimalHittingSets", "cheapest_hitting_sets", "hitting_sets_by_group"]

T = TypeVar("T", bound=Hashable)


class MinimalHittingSets(Generic[T]):
    """All minimal (by inclusion) hitting sets of a family that grows, by Berge's multiplication."""

    def __init__(self, cap: int) -> None:
        self._cap = cap
        self.sets: list[frozenset[T]] = [frozenset()]
        self.truncated = False

    def add(self, members: Sequence[T]) -> None:
        """Take one more set into the family; its order decides which hitting sets come first."""
        hitting = [found for found in self.sets if not found.isdisjoint(members)]
        missing = [found for found in self.sets if found.isdisjoint(members)]
        # Kept in the order of generation: sets of strings iterate differently from run to run.
        grown = dict.fromkeys(found | {member} for found in missing for member in members)
        hitting.extend(g for g in grown if not any(kept <= g for kept in hitting))
        hitting.sort(key=len)
        if len(hitting) > self._cap:
            self.truncated = True
            del hitting[self._cap :]
        self.sets = hitting


def cheapest_hitting_sets(
    family: Sequence[frozenset[T]],
    weight: Callable[[T], tuple[int, ...]],
    limit: int,
    allowed: Callable[[T], bool] = lambda _: True,
    steps: int = 20_000,
) -> Iterator[frozenset[T]]:
    """Yield hitting sets of at most ``limit`` elements whose elements are ``allowed``, the smallest first.

    Among sets of one size those with the smaller sum of weights come first, so ``weight`` only breaks ties.
    Sets that have a hitting set inside them may be yielded too, later. Stops after ``steps`` partial sets.
    """
    ordered = sorted(family, key=len)
    if not all(any(map(allowed, members)) for members in ordered):
        return
    start: frozenset[T] = frozenset()
    heap: list[tuple[int, tuple[int, ...], int, frozenset[T]]] = [(_bound(ordered, start), (), 0, start)]
    seen = {start}
    serial = 0
    while heap and serial < steps:
        bound, _, _, chosen = heapq.heappop(heap)
        unhit = next((members for members in ordered if members.isdisjoint(chosen)), None)
        if unhit is None:
            yield chosen
            continue
        for element in sorted(filter(allowed, unhit), key=lambda e: (weight(e), str(e))):
            grown = chosen | {element}
            bound = len(grown) + _bound(ordered, grown)
            if grown not in seen and bound <= limit:
                seen.add(grown)
                serial += 1
                heapq.heappush(heap, (bound, _total(grown, weight), serial, grown))


def hitting_sets_by_group(
    family: Sequence[frozenset[T]],
    weight: Callable[[T], tuple[int, ...]],
    limit: int,
    allowed: Callable[[T], bool] = lambda _: True,
    steps: int = 20_000,
) -> Iterator[frozenset[T]]:
    """Yield hitting sets as ``cheapest_hitting_sets`` does, where more sets than ``limit`` have nothing in common.

    Nothing where that is not so. Of sets that hang together the hitting sets, of at most ``limit`` elements, are found
    by themselves and put together afterwards: all at once, each further set would double what there is to try.
    """
    usable = [frozenset(filter(allowed, members)) for members in family]
    if not all(usable) or _bound(sorted(usable, key=len), frozenset()) <= limit:
        return
    groups = [_Drawn(cheapest_hitting_sets(group, weight, limit, steps=steps)) for group in _groups(usable)]
    start = (0,) * len(groups)
    heap: list[tuple[int, tuple[int, ...], tuple[int, ...]]] = (
        [(0, (), start)] if all(group.at(0) is not None for group in groups) else []
    )
    while heap and steps:
        steps -= 1
        places = tuple(-place for place in heapq.heappop(heap)[2])
        yield frozenset[T]().union(*(group.known[place] for group, place in zip(groups, places, strict=True)))
        # Only from the last one that was moved on: so each combination comes once.
        for number in range(max((n for n, place in enumerate(places) if place), default=0), len(groups)):
            moved = (*places[:number], places[number] + 1, *places[number + 1 :])
            if groups[number].at(moved[number]) is not None:
                whole = frozenset[T]().union(*(g.known[place] for g, place in zip(groups, moved, strict=True)))
                # Of equals the one that moves on the first group goes first.
                heapq.heappush(heap, (len(whole), _total(whole, weight), tuple(-place for place in moved)))


class _Drawn(Generic[T]):
    """What an iterator yields, taken when it is asked for."""

    def __init__(self, source: Iterator[frozenset[T]]) -> None:
        self._source = source
        self.known: list[frozenset[T]] = []

    def at(self, place: int) -> frozenset[T] | None:
        while len(self.known) <= place:
            found = next(self._source, None)
            if found is None:
                return None
            self.known.append(found)
        return self.known[place]


def _groups(family: Iterable[frozenset[T]]) -> list[list[frozenset[T]]]:
    """Return the sets by what hangs together: those of different groups have no element in common."""
    groups: list[list[frozenset[T]]] = []
    for members in family:
        joined = [group for group in groups if any(members & known for known in group)]
        groups = [group for group in groups if not any(group is other for other in joined)]
        groups.append([known for group in joined for known in group] + [members])
    return groups


def _bound(family: Iterable[frozenset[T]], chosen: frozenset[T]) -> int:
    """Return how many pairwise disjoint members are still to be hit: never more than what is needed."""
    used: set[T] = set()
    count = 0
    for members in family:
        if members.isdisjoint(chosen) and members.isdisjoint(used):
            used |= members
            count += 1
    return count


def _total(chosen: frozenset[T], weight: Callable[[T], tuple[int, ...]]) -> tuple[int, ...]:
    return tuple(map(sum, zip(*map(weight, chosen), strict=True)))


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
        """Yield ``way_out``, then each other one of each group with the first of all others; each with its group."""
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
