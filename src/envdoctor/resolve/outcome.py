"""From chosen positions to a resolution that says who wanted what."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from packaging.specifiers import SpecifierSet
from packaging.utils import NormalizedName

from envdoctor.model.candidate import BuildRisk, DistributionFile, FileKind
from envdoctor.model.requirement import Requirement
from envdoctor.model.resolution import Resolution, ResolvedPackage
from envdoctor.resolve.lines import Line
from envdoctor.resolve.relax import Relaxation
from envdoctor.resolve.universe import Edge, Universe, base_name
from envdoctor.resolve.walked import walked_back

__all__ = ["Demands", "build_resolution", "demands_of"]


class Demands:
    """Every demand on every project of a resolution, in force and set aside."""

    def __init__(self) -> None:
        self.in_force: dict[NormalizedName, list[Requirement]] = {}
        self.set_aside: dict[NormalizedName, list[Requirement]] = {}
        self.made_by: dict[NormalizedName, list[Requirement]] = {}


def demands_of(
    universe: Universe, lines: Sequence[Line], positions: Mapping[str, int], relaxation: Relaxation
) -> Demands:
    """Return who demands what, given what was chosen."""
    demands = Demands()
    for line in lines:
        bucket = demands.set_aside if line.id in relaxation.lines else demands.in_force
        bucket.setdefault(line.requirement.name, []).extend(line.written)
    for name, override in relaxation.overrides.items():
        if universe.applies(override.requirement):
            demands.in_force.setdefault(name, []).append(override.requirement)
    for node, position in sorted(positions.items()):
        owner = base_name(node)
        candidates = universe.candidates(owner)
        if candidates.opaque:
            continue
        for edge in _distinct(universe.edges(node, position)):
            requirement = edge.requirement(candidates.versions[position])
            made = demands.made_by.setdefault(owner, [])
            if requirement not in made:
                made.append(requirement)
                aside = not edge.hard and relaxation.sets_aside(owner, requirement.name)
                bucket = demands.set_aside if aside else demands.in_force
                bucket.setdefault(requirement.name, []).append(requirement)
    return demands


def _distinct(edges: Iterable[Edge]) -> Iterable[Edge]:
    """Yield one edge per demand: the nodes of its extras repeat it."""
    seen: set[tuple[NormalizedName, SpecifierSet, frozenset[str]]] = set()
    for edge in edges:
        key = (base_name(edge.dependency), edge.specifier, edge.extras)
        if not edge.structural and key not in seen:
            seen.add(key)
            yield edge


def build_resolution(
    universe: Universe,
    lines: Sequence[Line],
    positions: Mapping[str, int],
    relaxation: Relaxation,
    repair: str | None = None,
    build_risk: Callable[[DistributionFile], BuildRisk] | None = None,
) -> Resolution:
    """Return the resolution; projects of which nothing is known are left out (see ``Universe.unknown``)."""
    demands = demands_of(universe, lines, positions, relaxation)
    extras: dict[NormalizedName, set[str]] = {}
    for node in positions:
        name, _, extra = node.rstrip("]").partition("[")
        if extra:
            extras.setdefault(NormalizedName(name), set()).add(extra)
    packages: list[ResolvedPackage] = []
    for node in sorted(positions):
        name = base_name(node)
        candidates = universe.candidates(name)
        if name != node or candidates.opaque:
            continue
        candidate = candidates.candidate(positions[node])
        metadata = universe.metadata(name, positions[node])
        graded = candidate.file.kind is FileKind.SDIST and build_risk is not None
        packages.append(
            ResolvedPackage(
                name=name,
                version=candidate.version,
                file=candidate.file,
                files=candidate.files,
                extras=frozenset(extras.get(name, ())) & (metadata.provides_extra if metadata else frozenset()),
                dependencies=tuple(demands.made_by.get(name, ())),
                wanted_by=tuple(demands.in_force.get(name, ())),
                set_aside=tuple(demands.set_aside.get(name, ())),
                build_risk=build_risk(candidate.file) if graded and build_risk else None,
                mended=metadata.mended if metadata else (),
            )
        )
    return Resolution(tuple(packages), repair, walked_back(universe, positions, demands.in_force))
