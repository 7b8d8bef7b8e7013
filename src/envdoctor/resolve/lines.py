"""What people wrote, as the demands that count on the target."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from packaging.specifiers import SpecifierSet
from packaging.utils import NormalizedName

from envdoctor.model.requirement import Requirement, RequirementKind
from envdoctor.resolve.engine import Root
from envdoctor.resolve.universe import Universe, nodes_of

__all__ = ["Line", "any_version", "background", "lines_of", "roots_of"]


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


def lines_of(universe: Universe) -> tuple[Line, ...]:
    """Return the requirements that count on the target, in the order of the files."""
    groups: dict[tuple[object, ...], list[Requirement]] = {}
    for requirement in universe.problem.requirements:
        if universe.applies(requirement):
            key = (requirement.name, str(requirement.specifier), requirement.extras, requirement.url, requirement.kind)
            groups.setdefault(key, []).append(requirement)
    universe.index.prefetch_pages({first.name for first, *_ in groups.values()})
    return tuple(
        Line(number, first, tuple(twins), absent=not any_version(universe, first.name))
        for number, (first, *twins) in enumerate(groups.values())
    )


def roots_of(universe: Universe, lines: Iterable[Line], relaxed: Mapping[int, int | None] | None = None) -> list[Root]:
    """Return the demands of lines; ``relaxed`` gives the positions that count instead, None where nothing does."""
    relaxed = relaxed or {}
    roots: list[Root] = []
    for line in lines:
        requirement = line.requirement
        bits = universe.bits(requirement.name, requirement.specifier) if line.id not in relaxed else relaxed[line.id]
        if bits is None:
            continue
        extras = () if line.constraint else requirement.extras
        roots.extend(Root(line.id, node, bits, line.constraint) for node in nodes_of(requirement.name, extras))
    return roots


def background(universe: Universe) -> list[Root]:
    """Return the bounds that nothing sets aside; their line numbers are negative."""
    return [
        Root(-1 - number, requirement.name, universe.bits(requirement.name, requirement.specifier), constraint=True)
        for number, requirement in enumerate(universe.problem.constraints)
        if universe.applies(requirement)
    ]


def any_version(universe: Universe, name: NormalizedName) -> int:
    """Return the positions that the bare name admits, 0 where the target can use none."""
    return universe.bits(name, SpecifierSet()) & universe.candidates(name).all
