"""Demands of one version on another, over sets of versions as bits: bit *n* is position *n* of a candidate list.

Python's integers are the algebra: ``~`` of a finite set is negative, which stands for a set that goes on for
ever, so the empty set, the full set and every complement are exact and cheap.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from packaging.specifiers import SpecifierSet
from packaging.utils import NormalizedName
from packaging.version import Version

from envdoctor.model.dataclass import dataclass
from envdoctor.model.origin import DistributionOrigin
from envdoctor.model.requirement import Requirement

__all__ = ["Edge", "base_name", "highest", "nodes_of", "positions_of"]


def highest(bits: int) -> int:
    """Return the highest position in a finite, non-empty set."""
    return bits.bit_length() - 1


def positions_of(bits: int) -> Iterator[int]:
    """Yield the positions of a finite set, highest (newest) first."""
    while bits:
        position = bits.bit_length() - 1
        yield position
        bits ^= 1 << position


def base_name(node: str) -> NormalizedName:
    """Return the project of a node: ``coqui-tts`` of ``coqui-tts[languages]``."""
    return NormalizedName(node.partition("[")[0])


def nodes_of(name: str, extras: Iterable[str]) -> tuple[str, ...]:
    """Return the nodes that a requirement asks for: the project itself, and one more per extra."""
    return (name, *(f"{name}[{extra}]" for extra in sorted(extras)))


@dataclass(frozen=True, slots=True)
class Edge:
    """A demand of one version of a project on another."""

    owner: NormalizedName
    dependency: str
    """A node: the project, or one of its extras."""
    bits: int
    """Positions of the dependency that meet the demand; its ghost bit where none does."""
    specifier: SpecifierSet
    extras: frozenset[str] = frozenset()
    coupling: bool = False
    hard: bool = False
    """A binary coupling, never set aside."""
    structural: bool = False
    """An extra's tie to its own project at the same version."""
    instead_of: str = ""
    """The excluded project that the metadata names."""

    def requirement(self, version: Version) -> Requirement:
        """Return the demand as ``version`` of its owner makes it."""
        origin = DistributionOrigin(self.owner, str(version), coupling=self.coupling, instead_of=self.instead_of)
        return Requirement(base_name(self.dependency), origin, self.specifier, extras=self.extras)
