"""Sets of positions in the form that the search engine wants its version ranges in."""

from __future__ import annotations

from nab_resolver.types import RangeRelation

__all__ = ["Positions"]


class Positions:
    """An immutable set of positions, as the search engine wants its version ranges."""

    __slots__ = ("bits",)

    def __init__(self, bits: int) -> None:
        self.bits = bits

    @classmethod
    def empty(cls) -> Positions:
        """Return the set of no positions."""
        return cls(0)

    @classmethod
    def full(cls) -> Positions:
        """Return the set of all positions."""
        return cls(-1)

    @classmethod
    def singleton(cls, version: int) -> Positions:
        """Return the set of one position."""
        return cls(1 << version)

    @property
    def is_empty(self) -> bool:
        """Whether no position is in the set."""
        return self.bits == 0

    def __contains__(self, version: object) -> bool:
        return isinstance(version, int) and bool(self.bits >> version & 1)

    def __and__(self, other: object) -> Positions:
        return Positions(self.bits & _bits(other))

    def __or__(self, other: object) -> Positions:
        return Positions(self.bits | _bits(other))

    def __invert__(self) -> Positions:
        return Positions(~self.bits)

    def __sub__(self, other: object) -> Positions:
        return Positions(self.bits & ~_bits(other))

    def is_subset(self, other: Positions) -> bool:
        """Return whether every position is in ``other`` too."""
        return not self.bits & ~other.bits

    def is_superset(self, other: Positions) -> bool:
        """Return whether every position of ``other`` is here too."""
        return not other.bits & ~self.bits

    def is_disjoint(self, other: Positions) -> bool:
        """Return whether no position is in both."""
        return not self.bits & other.bits

    def relation(self, other: Positions) -> RangeRelation:
        """Return how this set's members sit against the other's."""
        common = self.bits & other.bits
        if not common:
            return RangeRelation.DISJOINT if self.bits else RangeRelation.EMPTY
        return RangeRelation.SUBSET if common == self.bits else RangeRelation.OVERLAPPING

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Positions) and self.bits == other.bits

    def __hash__(self) -> int:
        return hash(self.bits)

    def __repr__(self) -> str:
        return f"Positions({self.bits:#b})"


def _bits(other: object) -> int:
    if not isinstance(other, Positions):
        raise TypeError(f"not a set of positions: {other!r}")
    return other.bits
