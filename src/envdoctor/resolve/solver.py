"""What a search engine takes (people's lines, demands, a view of the graph) and gives, whichever engine it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Protocol, TypeAlias

from packaging.specifiers import SpecifierSet
from packaging.utils import NormalizedName

from envdoctor.model.dataclass import dataclass
from envdoctor.model.origin import CommandLineOrigin
from envdoctor.model.requirement import Requirement, RequirementKind
from envdoctor.resolve.dependency_graph import DependencyGraph
from envdoctor.resolve.edges import Edge, base_name, nodes_of

__all__ = [
    "ANY_OWNER",
    "Demand",
    "GaveUp",
    "Line",
    "Outcome",
    "Solved",
    "Solver",
    "Unsolvable",
    "View",
    "any_version",
    "background",
    "demands_of_lines",
    "lines_of",
]

ANY_OWNER = NormalizedName("*")


@dataclass(frozen=True, slots=True)
class Demand:
    """What a person's line, or versions of a project, ask of a node."""

    node: str
    bits: int
    """The positions that meet it."""
    line: int | None = None
    """The number of the line, where one asks for it."""
    owner: str = ""
    """The node whose versions ask for it. Where neither is given, it is a bound that nothing sets aside."""
    owner_bits: int = 0
    """Versions of the owner that all ask for it."""
    constraint: bool = False
    """It bounds the node only if something else asks for it."""

    @property
    def package(self) -> NormalizedName:
        """The project of the node."""
        return base_name(self.node)

    @property
    def owner_package(self) -> NormalizedName:
        """The project of the owner; empty where there is none."""
        return base_name(self.owner)


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
class Solved:
    """A consistent choice: one position per node."""

    positions: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Unsolvable:
    """Proved to be impossible."""

    proof: tuple[Demand, ...] | None
    """The demands that the argument used (rarely the fewest); None for an engine that cannot say why."""

    @property
    def lines(self) -> tuple[int, ...]:
        """The numbers of the lines among them, in the order of the files."""
        return tuple(sorted({demand.line for demand in self.proof or () if demand.line is not None}))


@dataclass(frozen=True, slots=True)
class GaveUp:
    """Neither a choice nor a proof: the search met its limit."""

    reason: str


Outcome: TypeAlias = Solved | Unsolvable | GaveUp


class Solver(Protocol):
    """A search engine."""

    def solve(self, demands: Sequence[Demand], view: View, prefer: Mapping[str, int] | None = None) -> Outcome:
        """Find a consistent choice that meets all demands.

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
        """Whether a repair may replace it: a bare name, or a direct reference that can be used, has nothing to give."""
        gives = self.absent or (bool(len(self.requirement.specifier)) and self.requirement.url is None)
        return gives and not self.typed

    @property
    def typed(self) -> bool:
        """Whether an option asks for it: what the user has just chosen, or what the card can run, is no way out."""
        return isinstance(self.requirement.origin, CommandLineOrigin)

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
    lines = [first for first, *_ in groups.values()]
    # What a URL names is read there: no index hears of it.
    graph.index.prefetch_pages({one.name for one in lines} - {one.name for one in lines if one.url})
    return tuple(
        Line(number, first, tuple(twins), absent=not any_version(graph, first.name))
        for number, (first, *twins) in enumerate(groups.values())
    )


def demands_of_lines(
    graph: DependencyGraph, lines: Iterable[Line], relaxed: Mapping[int, int | None] | None = None
) -> list[Demand]:
    """Return the demands of lines; ``relaxed`` gives the positions that count instead, None where nothing does."""
    relaxed = relaxed or {}
    found: list[Demand] = []
    for line in lines:
        requirement = line.requirement
        bits = graph.bits(requirement.name, requirement.specifier) if line.id not in relaxed else relaxed[line.id]
        if bits is None:
            continue
        extras = () if line.constraint else requirement.extras
        found.extend(
            Demand(node, bits, line.id, constraint=line.constraint) for node in nodes_of(requirement.name, extras)
        )
    return found


def background(graph: DependencyGraph) -> list[Demand]:
    """Return the bounds that nothing sets aside."""
    return [
        Demand(requirement.name, graph.bits(requirement.name, requirement.specifier), constraint=True)
        for requirement in graph.manifest.constraints
        if graph.applies(requirement)
    ]


def any_version(graph: DependencyGraph, name: NormalizedName) -> int:
    """Return the positions that the bare name admits, 0 where the target can use none."""
    return graph.bits(name, SpecifierSet()) & graph.candidates(name).all
