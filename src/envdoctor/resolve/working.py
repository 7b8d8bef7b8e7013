"""A repair that works, where all the cheapest end in something that is known to fail.

What a repair moves goes to the newest version there is. Where that one is known to fail, an older one may do: so the
versions that have a part in the failure are avoided, series by series, and the search is asked again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from packaging.utils import NormalizedName
from packaging.version import Version

from envdoctor.resolve.blame import blamed
from envdoctor.resolve.failure import Failure
from envdoctor.resolve.offer import Offer
from envdoctor.resolve.repairs import Found, RepairSearch
from envdoctor.resolve.universe import Universe

__all__ = ["working_repair"]

_STEPS = (1, 1, 2, 4, 8)
"""How many release series each further try goes back: a failure rarely ends with one, and each try costs a solve."""


@dataclass(frozen=True, slots=True)
class _Avoided:
    bits: int
    """Positions not to be taken again."""
    first: Version
    """The version that was avoided first."""
    failure: Failure


def working_repair(
    universe: Universe,
    offers: Sequence[Offer],
    search_without: Callable[[Mapping[NormalizedName, int]], RepairSearch],
    make: Callable[[Found], Offer],
) -> Offer | None:
    """Return a repair that no failure is known of, None where a few tries find none.

    ``offers`` are the best first, all to blame. ``search_without`` makes a search that avoids positions.
    """
    avoided: dict[NormalizedName, _Avoided] = {}
    limits = universe.problem.limits
    offer = offers[0]
    for steps in _STEPS:
        if not _avoid(universe, offer, steps, avoided):
            return None
        search = search_without({name: entry.bits for name, entry in avoided.items()})
        found = next(search.cheapest(limit=limits.repair_cost, most=1, solves=limits.repair_solves // 4), None)
        if found is None:
            return None
        offer = blamed(universe, [*offers, make(found)])[-1]
        if not offer.at_fault:
            return _with_reasons(offer, avoided)
    return None


def _avoid(universe: Universe, offer: Offer, steps: int, avoided: dict[NormalizedName, _Avoided]) -> bool:
    """Add the versions that have a part in an offer's failures; return whether there are any."""
    grown = False
    for failure in offer.at_fault:
        for name in sorted(failure.packages & offer.moved):
            package = offer.resolution.get(name)
            if package is None:
                continue
            bits = _and_newer(universe.candidates(name).versions, package.version, steps)
            known = avoided.get(name)
            grown = grown or known is None or bool(bits & ~known.bits)
            avoided[name] = (
                _Avoided(bits, package.version, failure) if known is None else replace(known, bits=known.bits | bits)
            )
    return grown


def _and_newer(versions: Sequence[Version], version: Version, steps: int) -> int:
    """Return the positions from the start of a version's release series on, or of some series before it."""
    series = list(dict.fromkeys(_series(item) for item in versions if item <= version))
    oldest = series[-min(steps, len(series))]
    return sum(1 << position for position, item in enumerate(versions) if _series(item) >= oldest)


def _series(version: Version) -> tuple[int, int, int]:
    return version.epoch, version.major, version.minor


def _with_reasons(offer: Offer, avoided: Mapping[NormalizedName, _Avoided]) -> Offer:
    """Let the overrides of avoided projects say what is known of the version that would have come."""
    if offer.repair is None:
        return offer
    overrides = tuple(
        replace(override, because=f"{entry.first} is known to fail: {entry.failure.message}")
        if (entry := avoided.get(override.requirement.name)) and not override.because and not override.leaves_out
        else override
        for override in offer.repair.overrides
    )
    return replace(offer, repair=replace(offer.repair, overrides=overrides))
