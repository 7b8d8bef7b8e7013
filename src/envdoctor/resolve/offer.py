"""A repair as it is offered: what it resolves to, what of that holds, and what speaks against it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from packaging.utils import NormalizedName

from envdoctor.model.candidate import BuildRisk, FileKind
from envdoctor.model.dataclass import dataclass
from envdoctor.model.finding import Finding
from envdoctor.model.repair import Repair
from envdoctor.model.resolution import Resolution, ResolvedPackage, Unmet
from envdoctor.model.unknown import Subject, SubjectKind, Unknown, UnknownKind
from envdoctor.resolve.relaxations import LEFT_OUT, Element
from envdoctor.resolve.verification import Objection, Promise, rederive
from envdoctor.shipped import vouched_demands

__all__ = ["Judge", "Offer", "evidence_for", "put_in_use"]

Judge: TypeAlias = Callable[[Resolution], Sequence[Finding]]
"""Tells what is known to break in a resolution."""


def evidence_for(owner: NormalizedName, name: NormalizedName, resolution: Resolution) -> str | None:
    """Return how it is known that a distribution works with what a resolution has, whatever its metadata says."""
    table, there, other = vouched_demands().get((owner, name)), resolution.get(owner), resolution.get(name)
    wanted = table.wanted(there.version) if table is not None and there is not None else None
    fits = table is not None and wanted is not None and other is not None and table.fits(wanted, other.version)
    return table.evidence if table is not None and fits else None


@dataclass(frozen=True, slots=True)
class Offer:
    """A repair (None: nothing needed one) with what it resolves to."""

    repair: Repair | None
    resolution: Resolution
    promise: Promise
    """What is in force of the requirements, with what is resolved."""
    unmet: tuple[Unmet, ...]
    """What of it does not hold."""
    failures: tuple[Finding, ...]
    elements: frozenset[Element]
    at_fault: tuple[Finding, ...] = ()
    """The failures in which something that the repair moves, or drags along, has a part."""
    avoidable: tuple[Finding, ...] = ()
    """Those, and the ones that some other offer does not have; known once all offers are."""
    behind: bool = False
    """Whether a dearer repair that works goes before it."""
    builds: tuple[ResolvedPackage, ...] = ()
    """What must be built, and need not be but for the repair."""

    @property
    def sound(self) -> bool:
        """Whether every requirement in force holds."""
        return not self.unmet

    @property
    def verified(self) -> bool:
        """Whether the check could look at everything and found nothing."""
        return self.repair.verified if self.repair else self.sound

    @property
    def overrules(self) -> bool:
        """Whether it goes against what distributions ask for, and neither a profile nor a table vouches for that."""
        return not self._from_profile and any(
            not isinstance(element, int) and element[0] != LEFT_OUT and not self.is_vouched(element)
            for element in self.elements
        )

    def is_vouched(self, element: Element) -> bool:
        """Return whether a demand that is set aside is known to be stricter than what works."""
        return not isinstance(element, int) and evidence_for(*element, self.resolution) is not None

    @property
    def leaves_out(self) -> bool:
        """Whether it does without projects that could be had."""
        return any(not isinstance(element, int) and element[0] == LEFT_OUT for element in self.elements)

    @property
    def runs(self) -> bool:
        """Whether nothing is known that speaks against it."""
        safe = not (self.avoidable or self.builds or self.overrules or self.leaves_out or self.behind)
        return self.sound and safe

    @property
    def _from_profile(self) -> bool:
        return self.repair is not None and self.repair.from_profile

    @property
    def moved(self) -> frozenset[NormalizedName]:
        """The projects that the repair overrides."""
        return frozenset(o.requirement.name for o in self.repair.overrides) if self.repair else frozenset()

    def hard_builds(self) -> Iterator[ResolvedPackage]:
        """Yield the packages without a wheel whose build needs a compiler, or who knows what."""
        for package in self.resolution.packages:
            if package.file.kind is FileKind.SDIST and package.build_risk is not BuildRisk.ANYWHERE:
                yield package

    def numbered(self, number: int) -> Offer:
        """Return the offer as that of this place in the list."""
        if self.repair is None:
            return self
        repair = replace(self.repair, id=f"R{number}")
        return replace(self, repair=repair, resolution=replace(self.resolution, repair=repair.id))


def put_in_use(offers: Sequence[Offer], repair: str) -> tuple[list[Offer], Offer | None, tuple[Unknown, ...]]:
    """Return the offers, the one to use, and what the independent check has against it: nothing, where any passes.

    Offers that it was asked of and that fail are not verified any more.
    """
    tested = list(offers)
    named = [number for number, offer in enumerate(offers) if offer.repair and offer.repair.id == repair]
    # Who gives up what the profile requires says so by name.
    kept = [number for number, offer in enumerate(offers) if offer.repair is None or not offer.repair.given_up()]
    order = named or sorted(kept, key=lambda number: not _by_profile(offers[number]))
    against: dict[int, tuple[Objection, ...]] = {}
    for number in order:
        offer = offers[number]
        against[number] = offer.unmet or rederive(offer.promise)
        if not against[number]:
            return tested, offer, ()
        if offer.repair is not None:
            tested[number] = replace(offer, repair=replace(offer.repair, verified=False))
    return (tested, tested[order[0]], tuple(map(_unsound, against[order[0]]))) if order else (tested, None, ())


def _by_profile(offer: Offer) -> bool:
    return offer.repair is not None and offer.repair.from_profile and offer.sound


def _unsound(found: Objection) -> Unknown:
    if isinstance(found, Unmet):
        asked, there = found.requirement, str(found.there) if found.there else ""
        subject = Subject(SubjectKind.PACKAGE, asked.name, there)
        return Unknown(UnknownKind.UNSOUND, subject, demand=str(asked), origin=asked.origin)
    return Unknown(UnknownKind.UNSOUND, Subject(SubjectKind.PACKAGE, found.name, str(found.version)))
