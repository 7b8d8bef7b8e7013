"""Sets of versions as bits: bit *n* is the version at position *n* of a candidate list.

Python's integers are the algebra: ``~`` of a finite set is negative, which stands for a set that goes on for
ever, so the empty set, the full set and every complement are exact and cheap.
"""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["highest", "positions_of"]


def highest(bits: int) -> int:
    """Return the highest position in a finite, non-empty set."""
    return bits.bit_length() - 1


def positions_of(bits: int) -> Iterator[int]:
    """Yield the positions of a finite set, highest (newest) first."""
    while bits:
        position = bits.bit_length() - 1
        yield position
        bits ^= 1 << position
