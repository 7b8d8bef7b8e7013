"""What a careful person would be told before taking a repair."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from packaging.utils import NormalizedName

from envdoctor.model.candidate import BuildRisk
from envdoctor.model.repair import Override
from envdoctor.model.resolution import Resolution, ResolvedPackage
from envdoctor.resolve.lowered import lowered
from envdoctor.resolve.offer import Offer
from envdoctor.resolve.universe import Universe

__all__ = ["cautions_of"]

_MOST_FAILURES = 3


def cautions_of(universe: Universe, offer: Offer, offers: Sequence[Offer]) -> tuple[str, ...]:
    """Return the cautions of one offer among all: first what fails, then what is left out, old, or must be built."""
    if offer.repair is None:
        return ()
    overrides, resolution = offer.repair.overrides, offer.resolution
    found = [*_failures(offer), *_left_out(universe, overrides, resolution), *_older(overrides, resolution)]
    return tuple(dict.fromkeys([*found, *_builds(offer, offers), *_on_trust(universe)]))


def _failures(offer: Offer) -> Iterator[str]:
    for failure in offer.avoidable[:_MOST_FAILURES]:
        yield f"known to fail: {failure.message} ({failure.rule})"
    more = [failure.rule for failure in offer.avoidable[_MOST_FAILURES:]]
    if more:
        yield f"known to fail besides: {', '.join(dict.fromkeys(more))}"


def _left_out(universe: Universe, overrides: Sequence[Override], resolution: Resolution) -> Iterator[str]:
    """Yield what is left out because it cannot be had: nobody decided that it is not needed."""
    for override in overrides:
        name = override.requirement.name
        if override.from_profile or override.because or resolution.get(name) is not None or name in universe.unknown:
            continue
        if name in universe.missing:
            yield f"no index has `{name}`, and it is left out"
        elif not universe.candidates(name).all:
            yield f"`{name}` has no version for this target and is left out"
        else:
            yield f"`{name}` is left out"


def _older(overrides: Sequence[Override], resolution: Resolution) -> Iterator[str]:
    for package, aside in lowered(overrides, resolution):
        yield f"`{package.name}` {package.version} is older than {aside.origin} asks for (`{aside}`)"


def _builds(offer: Offer, offers: Sequence[Offer]) -> Iterator[str]:
    """Yield what must be built where another repair needs no such build, or what the repair itself chose."""
    everywhere = frozenset[NormalizedName].intersection(
        *(frozenset(package.name for package in other.hard_builds()) for other in offers)
    )
    for package in offer.hard_builds():
        if package.name in offer.moved or package.name not in everywhere:
            yield f"`{package.name}` {package.version} has no wheel for this target and {_needs(package)}"


def _needs(package: ResolvedPackage) -> str:
    return "needs a compiler" if package.build_risk is BuildRisk.COMPILER else "must be built"


def _on_trust(universe: Universe) -> Iterator[str]:
    for name in sorted(universe.unknown - universe.unreached):
        yield f"`{name}` is a direct reference: what it requires is not known"
    for name in sorted(universe.unreached):
        yield f"`{name}` could not be looked up: what it requires is not known"
