"""A repair as it is offered, with all that decides its place in the list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from packaging.utils import NormalizedName

from envdoctor.model.candidate import BuildRisk, FileKind
from envdoctor.model.repair import Repair
from envdoctor.model.resolution import Resolution, ResolvedPackage
from envdoctor.resolve.failure import Failure
from envdoctor.resolve.lines import Line
from envdoctor.resolve.positions import highest
from envdoctor.resolve.relax import Element
from envdoctor.resolve.universe import Universe

__all__ = ["Offer", "rank"]


@dataclass(frozen=True, slots=True)
class Offer:
    """A repair (None: nothing needed one) with what it resolves to."""

    repair: Repair | None
    resolution: Resolution
    violations: tuple[str, ...]
    failures: tuple[Failure, ...]
    elements: frozenset[Element]
    at_fault: tuple[Failure, ...] = ()
    """The failures in which something that the repair moves, or drags along, has a part."""
    avoidable: tuple[Failure, ...] = ()
    """Those, and the ones that some other offer does not have; known once all offers are."""
    behind: bool = False
    """Whether a dearer repair that works goes before it."""

    @property
    def sound(self) -> bool:
        """Whether every requirement in force holds."""
        return not self.violations

    @property
    def verified(self) -> bool:
        """Whether the check could look at everything and found nothing."""
        return self.repair.verified if self.repair else self.sound

    @property
    def moved(self) -> frozenset[NormalizedName]:
        """The projects that the repair overrides."""
        return frozenset(o.requirement.name for o in self.repair.overrides) if self.repair else frozenset()

    def hard_builds(self) -> Iterator[ResolvedPackage]:
        """Yield the packages without a wheel whose build needs a compiler, or who knows what."""
        for package in self.resolution.packages:
            if package.file.kind is FileKind.SDIST and package.build_risk is not BuildRisk.ANYWHERE:
                yield package


def rank(universe: Universe, lines: Sequence[Line], offer: Offer) -> tuple[object, ...]:
    """Return what sorts offers, best first."""
    edges = sum(not _of_project(lines, element) for element in offer.elements)
    numbers = sorted(-element for element in offer.elements if isinstance(element, int))
    demands = sorted(element for element in offer.elements if not isinstance(element, int))
    return (
        not offer.sound,
        not offer.verified,
        offer.behind,
        offer.repair.cost if offer.repair else 0,
        not (offer.repair and offer.repair.from_profile),
        edges,
        len(offer.avoidable),
        _below(universe, lines, offer),
        sum(1 for _ in offer.hard_builds()),
        _away(universe, lines, offer),
        numbers,
        demands,
    )


def _of_project(lines: Sequence[Line], element: Element) -> bool:
    """Return whether a line gives way; one installed without its dependencies counts as metadata overruled.

    The project does that on purpose: it wants that version, and not what its metadata asks for.
    """
    return isinstance(element, int) and not lines[element].requirement.no_deps


def _below(universe: Universe, lines: Sequence[Line], offer: Offer) -> int:
    """Return how many of the replaced demands end below what they asked for."""
    return sum(position < (bits & -bits).bit_length() - 1 for _, position, bits in _ended(universe, lines, offer))


def _away(universe: Universe, lines: Sequence[Line], offer: Offer) -> int:
    """Return how many versions away from what they asked for the replaced lines end."""
    return sum(
        abs(position - highest(bits))
        for element, position, bits in _ended(universe, lines, offer)
        if isinstance(element, int)
    )


def _ended(universe: Universe, lines: Sequence[Line], offer: Offer) -> Iterator[tuple[Element, int, int]]:
    """Yield each replaced demand with the position it ended at and the positions it asked for."""
    for element in offer.elements:
        name, wanted = _asked(universe, lines, offer, element)
        candidates = universe.candidates(name)
        package = offer.resolution.get(name)
        bits = wanted & candidates.all
        if package is not None and bits:
            yield element, candidates.versions.index(package.version), bits


def _asked(universe: Universe, lines: Sequence[Line], offer: Offer, element: Element) -> tuple[NormalizedName, int]:
    """Return the project that an element speaks of, and the positions it asked for."""
    if isinstance(element, int):
        requirement = lines[element].requirement
        return requirement.name, universe.bits(requirement.name, requirement.specifier)
    owner, name = element
    package = offer.resolution.get(owner)
    bits = -1
    for requirement in package.dependencies if package else ():
        if requirement.name == name:
            bits &= universe.bits(name, requirement.specifier)
    return name, bits
