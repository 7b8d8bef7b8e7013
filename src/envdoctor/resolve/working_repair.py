"""A repair again with other versions, where those that would come are known to fail."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from packaging.specifiers import SpecifierSet
from packaging.utils import NormalizedName, canonicalize_name
from packaging.version import Version

from envdoctor.model.dataclass import dataclass
from envdoctor.model.finding import Finding
from envdoctor.model.override import Override
from envdoctor.model.requirement import Requirement
from envdoctor.model.resolution import Resolution
from envdoctor.model.target import Backend
from envdoctor.resolve.dependency_graph import DependencyGraph
from envdoctor.resolve.offer import Offer
from envdoctor.resolve.ranking import blamed
from envdoctor.resolve.relaxations import LEFT_OUT, Element
from envdoctor.resolve.repairs import Found, RepairSearch, of_people
from envdoctor.resolve.solver import Line, Solved
from envdoctor.shipped import same_module

__all__ = ["culprits_of", "pinned_by", "working_repair"]

_WHOLE_MAJOR = 0
_STEPS = (1, 1, 1, 1, 1, 4, 8, _WHOLE_MAJOR)
"""How many release series each further try goes back: a failure rarely ends with one, and each try costs a solve."""


_MOST_KEPT = 3
"""How many of the best repairs are tried again with other versions."""


_Names: TypeAlias = Callable[[Offer, Finding], frozenset[str]]
"""Which projects of a failure are to have other versions."""


@dataclass(frozen=True, slots=True)
class _Avoided:
    bits: int
    """Positions not to be taken again."""
    first: Version
    """The version that was avoided first."""
    failure: Finding


def pinned_by(lines: Sequence[Line]) -> frozenset[NormalizedName]:
    """Return the projects of which people name one version."""
    return frozenset(line.requirement.name for line in lines if line.requirement.is_pin)


def culprits_of(
    offer: Offer, asked: Collection[NormalizedName], lines: Sequence[Line], backend: Backend
) -> frozenset[Element]:
    """Return what must go for an offer not to fail: projects that are asked for; nothing where that does not help.

    Of two that are asked for and give the same module, the one for the backend stays, in another version.
    """
    named: dict[NormalizedName, set[int]] = {}
    for line in lines:
        named.setdefault(line.requirement.name, set()).add(line.id)
    kept = {
        name: canonicalize_name(other)
        for failure in offer.at_fault
        for name in failure.packages
        for other, by_backend in same_module(name).items()
        if name in named and other in named and by_backend.get(backend.value) == name
    }
    found: set[Element] = set()
    for failure in offer.at_fault:
        names = frozenset(asked).intersection(failure.packages) - offer.moved
        if not names:
            return frozenset()
        found |= {(LEFT_OUT, kept.get(name, name)) for name in names}
        found |= {number for name in names if name in kept for number in named[name]}
    return frozenset(found)


def working_repair(
    graph: DependencyGraph,
    offers: Sequence[Offer],
    search_without: Callable[[Mapping[NormalizedName, int]], RepairSearch],
    make: Callable[[Found], Offer],
    lines: Sequence[Line],
) -> Offer | None:
    """Return a repair that no failure is known of, None where a few tries find none.

    ``offers`` are the best first, all to blame. ``search_without`` makes a search that avoids positions. First the
    best few keep what they replace and take other versions; then anything may be replaced.
    """
    pinned = pinned_by(lines)
    limits = graph.manifest.limits

    def same(search: RepairSearch, offer: Offer) -> Found | None:
        outcome = search.outcome(offer.elements)
        return Found(offer.elements, outcome.positions) if isinstance(outcome, Solved) else None

    def any_other(search: RepairSearch, _: Offer) -> Found | None:
        solves = limits.repair_solves // 4
        allowed = of_people(lines)
        found = search.cheapest(limit=limits.repair_cost, most=1, solves=solves, allowed=allowed, by_conflict=True)
        return next(found, None)

    def beside(offer: Offer, failure: Finding) -> frozenset[str]:
        return frozenset(failure.packages) - offer.moved - pinned

    def moved(offer: Offer, failure: Finding) -> frozenset[str]:
        return offer.moved.intersection(failure.packages) or beside(offer, failure)

    def last(first: Offer, offer: Offer, failure: Finding) -> frozenset[str]:
        """Return one of those that moved: what others are built for, which rules name last; then what is to follow it.

        A failure that the first offer did not have came with going back.
        """
        both = [name for name in failure.packages if name in offer.moved]
        known = any((failure.rule, failure.subject) == (one.rule, one.subject) for one in first.avoidable)
        return frozenset(both[-1:] if known else both[:1])

    def ways(offer: Offer) -> Sequence[_Names]:
        together = any(len(offer.moved.intersection(failure.packages)) > 1 for failure in offer.avoidable)
        return (beside, partial(last, offer), moved) if together else (beside, moved)

    kept = [(offer, names, same) for offer in offers[:_MOST_KEPT] for names in ways(offer)]
    for offer, names, again in [*kept, (offers[0], moved, any_other)]:
        found = _avoiding(graph, offer, names, search_without, again, make)
        if found is not None:
            return found
    return None


def _avoiding(
    graph: DependencyGraph,
    offer: Offer,
    names: _Names,
    search_without: Callable[[Mapping[NormalizedName, int]], RepairSearch],
    again: Callable[[RepairSearch, Offer], Found | None],
    make: Callable[[Found], Offer],
) -> Offer | None:
    """Return what comes of an offer when the versions that fail in it are avoided, None where that fails too."""

    def without(offer: Offer, steps: int, avoided: dict[NormalizedName, _Avoided]) -> Offer | None:
        if not _avoid(graph, offer, steps, avoided, names):
            return None
        found = again(search_without({name: entry.bits for name, entry in avoided.items()}), offer)
        if found is None:
            return None
        known = {(failure.rule, failure.subject) for failure in offer.avoidable}
        (other,) = blamed(graph, [make(found)])
        left = [failure for failure in other.failures if (failure.rule, failure.subject) in known]
        return replace(other, avoidable=(*other.at_fault, *(f for f in left if f not in other.at_fault)))

    avoided: dict[NormalizedName, _Avoided] = {}
    for steps in _STEPS:
        before = dict(avoided)
        found = without(offer, steps, avoided)
        if found is None:
            return _less_far(partial(without, offer), steps, before)
        if not found.avoidable:
            return _nearest(partial(without, offer), found, steps, before, avoided)
        offer = found
    return None


def _less_far(
    without: Callable[[int, dict[NormalizedName, _Avoided]], Offer | None],
    steps: int,
    before: Mapping[NormalizedName, _Avoided],
) -> Offer | None:
    """Return what comes of going back fewer release series, where a long step leaves nothing that others take."""
    for fewer in range(1, steps):
        avoided = dict(before)
        other = without(fewer, avoided)
        if other is None or not other.avoidable:
            return other and _with_reasons(other, avoided)
    return None


def _nearest(
    without: Callable[[int, dict[NormalizedName, _Avoided]], Offer | None],
    found: Offer,
    steps: int,
    before: dict[NormalizedName, _Avoided],
    avoided: dict[NormalizedName, _Avoided],
) -> Offer:
    """Return what comes of going back as few release series as will do: a long step goes past the first that works."""
    low, high = 1, steps
    while low < high:
        middle, fewer = (low + high) // 2, dict(before)
        other = without(middle, fewer)
        if other is not None and not other.avoidable:
            found, avoided, high = other, fewer, middle
        else:
            low = middle + 1
    return _with_reasons(found, avoided)


def _avoid(
    graph: DependencyGraph,
    offer: Offer,
    steps: int,
    avoided: dict[NormalizedName, _Avoided],
    names: _Names,
) -> bool:
    """Add the versions that have a part in an offer's failures; return whether there are any new ones for each."""
    grown = False
    for failure in offer.avoidable:
        blamed_for = names(offer, failure)
        if not blamed_for:
            return False
        for package in offer.resolution.packages:
            name = package.name
            if name not in blamed_for:
                continue
            bits = _and_newer(graph.candidates(name).versions, package.version, steps)
            known = avoided.get(name)
            grown = grown or known is None or bool(bits & ~known.bits)
            avoided[name] = (
                _Avoided(bits, package.version, failure) if known is None else replace(known, bits=known.bits | bits)
            )
    return grown


def _and_newer(versions: Sequence[Version], version: Version, steps: int) -> int:
    """Return the positions from the start of a version's release series on, or of some series before it."""
    series = list(dict.fromkeys(_series(item) for item in versions if item <= version))
    if steps == _WHOLE_MAJOR:
        steps = sum(item[:2] == series[-1][:2] for item in series)
    oldest = series[-min(steps, len(series))]
    return sum(1 << position for position, item in enumerate(versions) if _series(item) >= oldest)


def _series(version: Version) -> tuple[int, int, int, int]:
    """Return what the releases of a series share: of 0.0.x each is one."""
    return version.epoch, version.major, version.minor, 0 if version.major or version.minor else version.micro


def _with_reasons(offer: Offer, avoided: Mapping[NormalizedName, _Avoided]) -> Offer:
    """Let the overrides of avoided projects say what is known of the version that would have come.

    What nobody asked for by a version is pinned: without that the version that fails would come.
    """
    if offer.repair is None:
        return offer
    overrides = {override.name: override for override in offer.repair.overrides}
    for name, entry in avoided.items():
        override = overrides.get(name) or _pinned(offer.resolution, name)
        if override is not None and not override.because and not override.leaves_out:
            because = f"{entry.first} is known to fail: {entry.failure.message}"
            overrides[name] = replace(override, because=because)
    added = len(overrides) - len(offer.repair.overrides)
    repair = replace(offer.repair, overrides=tuple(overrides.values()), cost=offer.repair.cost + added)
    return replace(offer, repair=repair)


def _pinned(resolution: Resolution, name: NormalizedName) -> Override | None:
    package = resolution.get(name)
    if package is None or not package.wanted_by:
        return None
    pin = Requirement(name, package.wanted_by[0].origin, SpecifierSet(f"=={package.version}"))
    return Override(pin, index=package.file.index)
