"""Requirements set aside on purpose: what a repair, or a profile, changes about a manifest."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import TypeAlias

from packaging.specifiers import SpecifierSet
from packaging.utils import NormalizedName, canonicalize_name
from packaging.version import Version

from envdoctor.model.dataclass import dataclass
from envdoctor.model.origin import DistributionOrigin
from envdoctor.model.override import PROJECT, Override, nothing_instead
from envdoctor.model.repair import VersionChange
from envdoctor.model.requirement import Requirement, RequirementKind
from envdoctor.model.resolution import Resolution, ResolvedPackage
from envdoctor.resolve.dependency_graph import DependencyGraph
from envdoctor.resolve.solver import ANY_OWNER, Demand, Line, View, any_version, background, demands_of_lines

__all__ = [
    "LEFT_OUT",
    "Element",
    "Relaxation",
    "changes_of",
    "effective",
    "elements_of",
    "from_elements",
    "from_profile",
    "kept_versions",
    "overrides_of",
    "overrides_of_exclusions",
    "says_so",
]

Element: TypeAlias = int | tuple[NormalizedName, NormalizedName]
"""What one override replaces: a line by its number, or the demand of a distribution on a project.

With ``LEFT_OUT`` in place of the distribution: every line that asks for the project, which is left out.
"""
LEFT_OUT = NormalizedName("-")


@dataclass(frozen=True, slots=True)
class Relaxation:
    """Lines and demands that do not count, with the positions that count instead (None: nothing does)."""

    lines: Mapping[int, int | None] = field(default_factory=dict)
    demands: Mapping[tuple[NormalizedName, NormalizedName], int | None] = field(default_factory=dict)
    overrides: Mapping[NormalizedName, Override] = field(default_factory=dict)
    """A profile's overrides in use, by project."""
    replaced: Mapping[NormalizedName, Sequence[Requirement]] = field(default_factory=dict)
    """The project's own overrides that count, which stand in place of distributions' demands whatever is set aside."""

    def demands_of_people(self, graph: DependencyGraph, lines: Sequence[Line]) -> list[Demand]:
        """Return the demands of people that are left; an override bounds its project whoever else asks for it."""
        return [*demands_of_lines(graph, lines, self.lines), *background(graph), *self._bounds(graph)]

    def _bounds(self, graph: DependencyGraph) -> Iterator[Demand]:
        for name, override in self.overrides.items():
            if graph.applies(override.requirement):
                yield Demand(name, graph.bits(name, override.requirement.specifier), constraint=True)

    def view(self, graph: DependencyGraph) -> View:
        """Return the graph without the demands that are set aside."""
        return View(graph, self.demands)

    def in_place_of(self, demand: Requirement) -> Sequence[Requirement]:
        """Return what counts of a distribution's demand: itself, or the project's own overrides in its place."""
        said = self.replaced.get(demand.name)
        return (demand,) if said is None else tuple(replace(demand, specifier=one.specifier, url=None) for one in said)

    def sets_aside(self, owner: NormalizedName, dependency: NormalizedName) -> bool:
        """Return whether a demand of metadata does not count (binary couplings always do)."""
        return (owner, dependency) in self.demands or (ANY_OWNER, dependency) in self.demands


def from_elements(graph: DependencyGraph, lines: Sequence[Line], elements: Collection[Element]) -> Relaxation:
    """Return the relaxation that leaves a bare name in place of each element.

    Nothing is left of a demand on a project of which the target can use no version at all.
    """
    relaxed: dict[int, int | None] = {}
    demands: dict[tuple[NormalizedName, NormalizedName], int | None] = {}
    for element in elements:
        if isinstance(element, int):
            line = lines[element]
            relaxed[element] = None if line.constraint else any_version(graph, line.requirement.name) or None
        elif element[0] != LEFT_OUT:
            demands[element] = any_version(graph, element[1]) or None
    left_out = {element[1] for element in elements if not isinstance(element, int) and element[0] == LEFT_OUT}
    relaxed.update((line.id, None) for line in lines if line.requirement.name in left_out)
    return Relaxation(relaxed, demands, replaced=_replaced(graph))


def kept_versions(graph: DependencyGraph, lines: Sequence[Line], elements: Collection[Element]) -> dict[str, int]:
    """Return the positions to take, where they fit, for pins that give way: the same version without its build label.

    A label is easier to do without than a version: of ``torch==2.5.1+cu121`` the number is what was tested.
    """
    found: dict[str, int] = {}
    for element in elements:
        requirement = lines[element].requirement if isinstance(element, int) else None
        label = (
            next((s for s in requirement.specifier if s.operator == "==" and "+" in s.version), None)
            if requirement
            else None
        )
        if requirement is not None and label is not None:
            same = SpecifierSet(f"=={label.version.partition('+')[0]}")
            candidates = graph.candidates(requirement.name)
            bits = graph.bits(requirement.name, same) & candidates.all
            if bits:
                # The oldest of one number is the one without a label.
                found[requirement.name] = (bits & -bits).bit_length() - 1
    return found


def from_profile(graph: DependencyGraph, lines: Sequence[Line], overrides: Sequence[Override]) -> Relaxation:
    """Return the relaxation that a profile declares."""
    relaxed: dict[int, int | None] = {}
    demands: dict[tuple[NormalizedName, NormalizedName], int | None] = {}
    used: dict[NormalizedName, Override] = {}
    for override in overrides:
        requirement = override.requirement
        name = requirement.name
        used[name] = override
        bits = graph.bits(name, requirement.specifier) if graph.applies(requirement) else None
        if override.replaces_demand_of(PROJECT):
            relaxed.update((line.id, bits) for line in lines if line.requirement.name == name)
        owners = [NormalizedName(owner) for owner in override.replaces if owner != PROJECT]
        for owner in owners if override.replaces else [ANY_OWNER]:
            demands[owner, name] = bits
    return Relaxation(relaxed, demands, used, _replaced(graph))


def _replaced(graph: DependencyGraph) -> dict[NormalizedName, Sequence[Requirement]]:
    return {name: tuple(filter(graph.counts, said)) for name, said in graph.manifest.replaced.items()}


def elements_of(
    graph: DependencyGraph, lines: Sequence[Line], proof: Iterable[Demand], aside: Collection[Element] = frozenset()
) -> frozenset[Element]:
    """Return what could be set aside of the facts that a proof used, beyond what was set aside when it was found.

    A line that has nothing (more) to give, for any version of its project is too much, can only be left out; one that
    an option asks for is kept.
    """
    found: set[Element] = set()
    for demand in proof:
        line, owner = lines[demand.line] if demand.line is not None else None, demand.owner_package
        if line is not None and line.relaxable and line.id not in aside:
            found.add(line.id)
        elif line is not None and line.requirement.url is None and not line.typed:
            found.add((LEFT_OUT, line.requirement.name))
        elif owner and owner != demand.package and not graph.couplings.is_binary(owner, demand.package):
            found.add((owner, demand.package))
    return frozenset(found) - frozenset(aside)


def overrides_of_exclusions(graph: DependencyGraph, resolution: Resolution) -> tuple[Override, ...]:
    """Return one override per excluded project that a person, or a package of the resolution, asks for."""
    if not graph.excluded:
        return ()
    asked: dict[NormalizedName, list[Requirement]] = {}
    for requirement in (*_lines(graph), *_demands(graph, resolution)):
        asked.setdefault(requirement.name, []).append(requirement)
    return tuple(
        exclusion.override().resolved(nothing_instead(asked[exclusion.name][0]), dict.fromkeys(asked[exclusion.name]))
        for exclusion in {exclusion.name: exclusion for exclusion in graph.manifest.exclusions}.values()
        if exclusion.name in asked
    )


def _lines(graph: DependencyGraph) -> Iterator[Requirement]:
    for requirement in graph.manifest.requirements:
        asks = requirement.name in graph.excluded and requirement.kind is RequirementKind.REQUIRE
        if asks and graph.counts(requirement):
            yield requirement


def _demands(graph: DependencyGraph, resolution: Resolution) -> Iterator[Requirement]:
    for package in resolution.packages:
        for extra in ("", *sorted(package.extras)):
            yield from _of_package(graph, package, extra)


def _of_package(graph: DependencyGraph, package: ResolvedPackage, extra: str) -> Iterator[Requirement]:
    metadata = graph.metadata_of(package)
    for parsed in graph.metadata_lines.wanted(metadata, extra) if metadata else ():
        name = canonicalize_name(parsed.name)
        if name in graph.excluded:
            origin = DistributionOrigin(package.name, str(package.version))
            extras = frozenset(canonicalize_name(asked) for asked in parsed.extras)
            yield Requirement(name, origin, parsed.specifier, extras=extras)


def overrides_of(lines: Sequence[Line], resolution: Resolution, relaxation: Relaxation) -> tuple[Override, ...]:
    """Return one override per project: the lines that say otherwise, and the demands that would not have held."""
    aside: dict[NormalizedName, list[Requirement]] = {}
    for line in lines:
        package = resolution.get(line.requirement.name)
        if line.id in relaxation.lines and not (package is not None and says_so(line.requirement, package.version)):
            aside.setdefault(line.requirement.name, []).extend(line.written)
    for _, requirement in _broken_demands(resolution, relaxation):
        aside.setdefault(requirement.name, []).append(requirement)
    return tuple(_override(tuple(found), resolution, relaxation) for found in aside.values())


def effective(lines: Sequence[Line], resolution: Resolution, relaxation: Relaxation) -> frozenset[Element]:
    """Return the elements of a relaxation without which its resolution would not hold."""
    found: set[Element] = {owner for owner, _ in _broken_demands(resolution, relaxation)}
    for line in lines:
        if line.id in relaxation.lines and not _holds(line.requirement, resolution):
            found.add(line.id)
    return frozenset(found)


def changes_of(lines: Sequence[Line], resolution: Resolution, relaxation: Relaxation) -> tuple[VersionChange, ...]:
    """Return the pins of people that come out different."""
    found: dict[NormalizedName, VersionChange] = {}
    for line in lines:
        package = resolution.get(line.requirement.name)
        if line.id in relaxation.lines and package is not None and not _holds(line.requirement, resolution):
            change = VersionChange(package.name, _pinned(line.requirement), str(package.version))
            found.setdefault(package.name, change)
    return tuple(found.values())


def _broken_demands(
    resolution: Resolution, relaxation: Relaxation
) -> Iterator[tuple[tuple[NormalizedName, NormalizedName], Requirement]]:
    """Yield the demands of distributions, as the project's own overrides leave them, that are set aside and not met."""
    for package in resolution.packages:
        aside = [item for item in package.dependencies if relaxation.sets_aside(package.name, item.name)]
        for asked in dict.fromkeys(one for item in aside for one in relaxation.in_place_of(item)):
            if not _holds(asked, resolution):
                yield (package.name, asked.name), asked


def says_so(requirement: Requirement, version: Version) -> bool:
    """Return whether a line already pins the version that comes out, in any build: nothing stands in its place."""
    series = any(clause.version.endswith(".*") for clause in requirement.specifier)
    return requirement.is_pin and not series and requirement.admits(version)


def _holds(requirement: Requirement, resolution: Resolution) -> bool:
    package = resolution.get(requirement.name)
    return package is not None and requirement.admits(package.version)


def _override(aside: tuple[Requirement, ...], resolution: Resolution, relaxation: Relaxation) -> Override:
    first = aside[0]
    declared = relaxation.overrides.get(first.name)
    override = declared or Override(first)
    package = resolution.get(first.name)
    if package is None:
        return override.resolved(override.requirement if declared else nothing_instead(first), aside)
    pin = SpecifierSet(f"=={package.version}")
    instead = replace(override.requirement, specifier=pin, extras=first.extras, text="", hashes=())
    return replace(override, index=package.file.index).resolved(instead, aside)


def _pinned(requirement: Requirement) -> str:
    """Return ``2.7`` of ``==2.7``, else the specifier as it stands."""
    text = str(requirement.specifier)
    return text.lstrip("=") if text.startswith("==") and "," not in text else text
