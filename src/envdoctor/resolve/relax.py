"""Requirements set aside on purpose: what a repair, or a profile, changes about a problem."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from packaging.utils import NormalizedName

from envdoctor.model.profile import ProfileOverride
from envdoctor.resolve.engine import ANY_OWNER, Proof, Root, View
from envdoctor.resolve.lines import Line, any_version, background, roots_of
from envdoctor.resolve.universe import Universe, base_name

__all__ = ["Element", "Relaxation", "elements_of", "from_elements", "from_profile"]

Element: TypeAlias = int | tuple[NormalizedName, NormalizedName]
"""What one override replaces: a line by its number, or the demand of a distribution on a project."""

PROJECT = "project"
_OVERRIDES = -1_000_000
"""Line numbers of overrides start here and go down."""


@dataclass(frozen=True, slots=True)
class Relaxation:
    """Lines and demands that do not count, with the positions that count instead (None: nothing does)."""

    lines: Mapping[int, int | None] = field(default_factory=dict)
    demands: Mapping[tuple[NormalizedName, NormalizedName], int | None] = field(default_factory=dict)
    overrides: Mapping[NormalizedName, ProfileOverride] = field(default_factory=dict)
    """A profile's overrides in use, by project."""

    def roots(self, universe: Universe, lines: Sequence[Line]) -> list[Root]:
        """Return the demands of people that are left; an override bounds its project whoever else asks for it."""
        return [*roots_of(universe, lines, self.lines), *background(universe), *self._bounds(universe)]

    def _bounds(self, universe: Universe) -> Iterator[Root]:
        for number, (name, override) in enumerate(self.overrides.items()):
            if universe.applies(override.requirement):
                bits = universe.bits(name, override.requirement.specifier)
                yield Root(_OVERRIDES - number, name, bits, constraint=True)

    def view(self, universe: Universe) -> View:
        """Return the universe without the demands that are set aside."""
        return View(universe, self.demands)

    def sets_aside(self, owner: NormalizedName, dependency: NormalizedName) -> bool:
        """Return whether a demand of metadata does not count (binary couplings always do)."""
        return (owner, dependency) in self.demands or (ANY_OWNER, dependency) in self.demands


def from_elements(universe: Universe, lines: Sequence[Line], elements: Collection[Element]) -> Relaxation:
    """Return the relaxation that leaves a bare name in place of each element.

    Nothing is left of a demand on a project of which the target can use no version at all.
    """
    relaxed: dict[int, int | None] = {}
    demands: dict[tuple[NormalizedName, NormalizedName], int | None] = {}
    for element in elements:
        if isinstance(element, int):
            line = lines[element]
            relaxed[element] = None if line.constraint else any_version(universe, line.requirement.name) or None
        else:
            demands[element] = any_version(universe, element[1]) or None
    return Relaxation(relaxed, demands)


def from_profile(universe: Universe, lines: Sequence[Line], overrides: Sequence[ProfileOverride]) -> Relaxation:
    """Return the relaxation that a profile declares."""
    relaxed: dict[int, int | None] = {}
    demands: dict[tuple[NormalizedName, NormalizedName], int | None] = {}
    used: dict[NormalizedName, ProfileOverride] = {}
    for override in overrides:
        requirement = override.requirement
        name = requirement.name
        used[name] = override
        bits = universe.bits(name, requirement.specifier) if universe.applies(requirement) else None
        everyone = not override.replaces
        owners = [NormalizedName(owner) for owner in override.replaces if owner != PROJECT]
        if everyone or PROJECT in override.replaces:
            relaxed.update((line.id, bits) for line in lines if line.requirement.name == name)
        for owner in [ANY_OWNER] if everyone else owners:
            demands[owner, name] = bits
    return Relaxation(relaxed, demands, used)


def elements_of(universe: Universe, lines: Sequence[Line], proof: Proof) -> frozenset[Element]:
    """Return what could be set aside of the facts that a proof used."""
    found: set[Element] = {number for number in proof.lines if number >= 0 and lines[number].relaxable}
    for edge in proof.edges:
        owner, dependency = base_name(edge.owner), base_name(edge.dependency)
        if owner != dependency and not universe.couplings.is_binary(owner, dependency):
            found.add((owner, dependency))
    return frozenset(found)
