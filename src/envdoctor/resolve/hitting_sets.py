"""Hitting sets: sets that take at least one element from every set of a family.

The complements of hitting sets of all minimal conflicts are what can be kept, and the cheapest hitting sets of
all minimal conflicts are the cheapest repairs (Reiter 1987; the implicit form is that of MaxHS).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Generic, TypeVar

__all__ = ["MinimalHittingSets", "cheapest_hitting_sets"]

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
