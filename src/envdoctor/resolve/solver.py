"""What a search engine takes and gives, whichever it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from packaging.specifiers import SpecifierSet
from packaging.utils import NormalizedName

from envdoctor.model.requirement import Requirement, RequirementKind
from envdoctor.resolve.dependency_graph import DependencyGraph, Edge, base_name, nodes_of

__all__ = [
    "ANY_OWNER",
    "GaveUp",
    "Line",
    "Outcome",
    "Proof",
    "ProofEdge",
    "Root",
    "Solved",
    "Solver",
    "Unsolvable",
    "View",
    "any_version",
    "background",
    "lines_of",
    "roots_of",
]

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
    """A graph seen with some demands of distributions set aside."""

    graph: DependencyGraph
    relaxed: Mapping[tuple[NormalizedName, NormalizedName], int | None] = field(default_factory=dict)
    """``(owner, dependency)`` -> the positions that count instead, None: the demand vanishes; ``*``: any owner."""

    def edges(self, node: str, position: int) -> tuple[Edge, ...]:
        """Return the demands in force of one version."""
        edges = self.graph.edges(node, position)
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
        lines that cannot hold together; errors of the index other than a missing project or metadata pass through.
        """
        ...


@dataclass(frozen=True, slots=True)
class Line:
    """One requirement of a person; lines that say the same thing twice count as one."""

    id: int
    requirement: Requirement
    twins: tuple[Requirement, ...] = ()
    """Later lines that repeat it word for word."""

    absent: bool = False
    """True where the target can use no version of the project at all: a repair leaves the line out."""

    @property
    def relaxable(self) -> bool:
        """Whether a repair may replace it: a bare name, or a direct reference, has nothing to give."""
        return (self.absent or bool(len(self.requirement.specifier))) and self.requirement.url is None

    @property
    def constraint(self) -> bool:
        """Whether it only bounds what something else asks for."""
        return self.requirement.kind is RequirementKind.CONSTRAINT

    @property
    def written(self) -> tuple[Requirement, ...]:
        """The line and its twins."""
        return (self.requirement, *self.twins)


def lines_of(graph: DependencyGraph) -> tuple[Line, ...]:
    """Return the requirements that count on the target, in the order of the files."""
    groups: dict[tuple[object, ...], list[Requirement]] = {}
    for requirement in graph.manifest.requirements:
        if graph.applies(requirement):
            key = (requirement.name, str(requirement.specifier), requirement.extras, requirement.url, requirement.kind)
            groups.setdefault(key, []).append(requirement)
    graph.index.prefetch_pages({first.name for first, *_ in groups.values()})
    return tuple(
        Line(number, first, tuple(twins), absent=not any_version(graph, first.name))
        for number, (first, *twins) in enumerate(groups.values())
    )


def roots_of(
    graph: DependencyGraph, lines: Iterable[Line], relaxed: Mapping[int, int | None] | None = None
) -> list[Root]:
    """Return the demands of lines; ``relaxed`` gives the positions that count instead, None where nothing does."""
    relaxed = relaxed or {}
    roots: list[Root] = []
    for line in lines:
        requirement = line.requirement
        bits = graph.bits(requirement.name, requirement.specifier) if line.id not in relaxed else relaxed[line.id]
        if bits is None:
            continue
        extras = () if line.constraint else requirement.extras
        roots.extend(Root(line.id, node, bits, line.constraint) for node in nodes_of(requirement.name, extras))
    return roots


def background(graph: DependencyGraph) -> list[Root]:
    """Return the bounds that nothing sets aside; their line numbers are negative."""
    return [
        Root(-1 - number, requirement.name, graph.bits(requirement.name, requirement.specifier), constraint=True)
        for number, requirement in enumerate(graph.manifest.constraints)
        if graph.applies(requirement)
    ]


def any_version(graph: DependencyGraph, name: NormalizedName) -> int:
    """Return the positions that the bare name admits, 0 where the target can use none."""
    return graph.bits(name, SpecifierSet()) & graph.candidates(name).all
