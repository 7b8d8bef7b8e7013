"""Which of the known failures a repair can be blamed for, and which any choice would have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from packaging.utils import NormalizedName, canonicalize_name

from envdoctor.model.origin import DistributionOrigin
from envdoctor.model.requirement import Requirement
from envdoctor.model.resolution import ResolvedPackage
from envdoctor.resolve.failure import shared_by_all
from envdoctor.resolve.lowered import another_series
from envdoctor.resolve.offer import Offer
from envdoctor.resolve.positions import highest
from envdoctor.resolve.universe import Universe

__all__ = ["blamed"]


def blamed(universe: Universe, offers: Sequence[Offer]) -> list[Offer]:
    """Return the offers with the failures that each is at fault for, and those that it could have avoided.

    Where anything is known to fail, a repair works that has none of these and gives no distribution an older major
    version than it asks for: nobody tries those, so nobody reports that they fail.
    """
    shared = shared_by_all(offer.failures for offer in offers)
    found = []
    for offer in offers:
        moved = _dragged(universe, offer) if offer.failures else frozenset()
        at_fault = tuple(failure for failure in offer.failures if not failure.packages.isdisjoint(moved))
        avoidable = tuple(f for f in offer.failures if f in at_fault or f.key not in shared)
        found.append(replace(offer, at_fault=at_fault, avoidable=avoidable))
    if not any(offer.avoidable for offer in found):
        return found
    return [replace(offer, behind=bool(offer.avoidable) or _too_old(offer)) for offer in found]


def _too_old(offer: Offer) -> bool:
    return offer.repair is not None and another_series(offer.repair.overrides, offer.resolution)


def _dragged(universe: Universe, offer: Offer) -> frozenset[NormalizedName]:
    """Return what a repair moves, and what that keeps from its newest version in turn."""
    found = set(offer.moved)
    grown = True
    while grown:
        new = {p.name for p in offer.resolution.packages if p.name not in found and _held(universe, p, found)}
        found |= new
        grown = bool(new)
    return frozenset(found)


def _held(universe: Universe, package: ResolvedPackage, by: set[NormalizedName]) -> bool:
    newest = universe.candidates(package.name).versions[highest(universe.newest(package.name))]
    return any(
        _maker(demand) in by and not demand.specifier.contains(newest, prereleases=True) for demand in package.wanted_by
    )


def _maker(demand: Requirement) -> NormalizedName | None:
    origin = demand.origin
    return canonicalize_name(origin.name) if isinstance(origin, DistributionOrigin) else None
