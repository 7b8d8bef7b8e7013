"""What a search engine takes and gives, whichever it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from packaging.utils import NormalizedName

from envdoctor.resolve.universe import Edge, Universe, base_name

__all__ = ["ANY_OWNER", "GaveUp", "Outcome", "Proof", "ProofEdge", "Root", "Solved", "Solver", "Unsolvable", "View"]

ANY_OWNER = NormalizedName("*")


@dataclass(frozen=True, slots=True)
class Root:
    """One demand of a person on one node."""

    line: int
    """Which requirement it comes from; negative for demands that belong to the background."""
    node: str
    bits: int
    constraint: bool = False
    """It bounds the node only if something else asks for it."""


@dataclass(frozen=True, slots=True)
class View:
    """A universe seen with some demands of distributions set aside."""

    universe: Universe
    relaxed: Mapping[tuple[NormalizedName, NormalizedName], int | None] = field(default_factory=dict)
    """``(owner, dependency)`` -> the positions that count instead, None: the demand vanishes; ``*``: any owner."""

    def edges(self, node: str, position: int) -> tuple[Edge, ...]:
        """Return the demands in force of one version."""
        edges = self.universe.edges(node, position)
        if not self.relaxed:
            return edges
        owner = base_name(node)
        return tuple(found for edge in edges if (found := self._seen(owner, edge)) is not None)

    def _seen(self, owner: NormalizedName, edge: Edge) -> Edge | None:
        if edge.hard or edge.structural:
            return edge
        dependency = base_name(edge.dependency)
        key = (owner, dependency) if (owner, dependency) in self.relaxed else (ANY_OWNER, dependency)
        if key not in self.relaxed:
            return edge
        bits = self.relaxed[key]
        if bits is None:
            return None
        return Edge(edge.owner, edge.dependency, bits, edge.specifier, edge.extras)


@dataclass(frozen=True, slots=True)
class ProofEdge:
    """A fact of metadata that a proof used: these versions of the owner all make this demand."""

    owner: str
    owner_bits: int
    dependency: str
    bits: int


@dataclass(frozen=True, slots=True)
class Proof:
    """Why nothing holds together: the requirements and the facts that the argument used (rarely the fewest)."""

    lines: frozenset[int]
    edges: tuple[ProofEdge, ...]


@dataclass(frozen=True, slots=True)
class Solved:
    """A consistent choice: one position per node."""

    positions: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Unsolvable:
    """Proved to be impossible; ``proof`` is None for an engine that cannot say why."""

    proof: Proof | None


@dataclass(frozen=True, slots=True)
class GaveUp:
    """Neither: the search met its limit."""

    reason: str


Outcome: TypeAlias = Solved | Unsolvable | GaveUp


class Solver(Protocol):
    """A search engine."""

    def solve(self, roots: Sequence[Root], view: View, prefer: Mapping[str, int] | None = None) -> Outcome:
        """Find a consistent choice for all roots.

        ``prefer`` names positions to take where they still fit; otherwise the newest is taken. Never raises for
        an impossible problem; errors of the index other than a missing project or metadata pass through.
        """
        ...
