"""What a careful person would be told before taking a repair."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from packaging.utils import NormalizedName, canonicalize_name

from envdoctor.model.candidate import BuildRisk
from envdoctor.model.origin import DistributionOrigin, ProfileOrigin
from envdoctor.model.override import Override
from envdoctor.model.repair import Repair
from envdoctor.model.requirement import Requirement
from envdoctor.model.resolution import Resolution, ResolvedPackage
from envdoctor.resolve.dependency_graph import DependencyGraph
from envdoctor.resolve.offer import Offer, evidence_for
from envdoctor.resolve.ranking import lowered, raised

__all__ = ["with_cautions"]

_MOST_FAILURES = 3


def with_cautions(graph: DependencyGraph, offer: Offer, offers: Sequence[Offer]) -> Offer:
    """Return one offer among all with its cautions: first what fails, then what is left out, old, or must be built."""
    if offer.repair is None:
        return offer
    overrides, resolution = offer.repair.overrides, offer.resolution
    left_out = [*_given_up(offer.repair), *_left_out(graph, offer.repair, resolution)]
    found = [*_failures(offer), *left_out, *_older(overrides, resolution), *_newer(overrides, resolution)]
    cautions = tuple(dict.fromkeys([*found, *_builds(offer, offers), *_on_trust(graph)]))
    return replace(offer, repair=replace(offer.repair, cautions=cautions))


def _failures(offer: Offer) -> Iterator[str]:
    for failure in offer.avoidable[:_MOST_FAILURES]:
        yield f"known to fail: {failure.message} ({failure.rule})"
    more = [failure.rule for failure in offer.avoidable[_MOST_FAILURES:]]
    if more:
        yield f"known to fail besides: {', '.join(dict.fromkeys(more))}"


def _given_up(repair: Repair) -> Iterator[str]:
    for aside in repair.given_up():
        origin = aside.origin
        whose = f"profile `{origin.name}` requires" if isinstance(origin, ProfileOrigin) else "its profile requires"
        yield f"{whose} `{aside.name}`: what the profile is for is lost without it; another Python may have it"


def _left_out(graph: DependencyGraph, repair: Repair, resolution: Resolution) -> Iterator[str]:
    """Yield what is left out: nobody decided that it is not needed."""
    for override in repair.overrides:
        name = override.requirement.name
        if override.from_profile or override.because or resolution.get(name) is not None or name in graph.unknown:
            continue
        if name in graph.missing:
            yield f"no index has `{name}`, and it is left out"
        elif not graph.candidates(name).all:
            yield f"`{name}` has no version for this target and is left out"
        else:
            yield f"`{name}` is left out: what imports it will not run"


def _older(overrides: Sequence[Override], resolution: Resolution) -> Iterator[str]:
    for package, aside in lowered(overrides, resolution):
        known = _known_to_work(package.name, aside, resolution)
        yield f"`{package.name}` {package.version} is older than {aside.origin} asks for (`{aside}`){known}"


def _newer(overrides: Sequence[Override], resolution: Resolution) -> Iterator[str]:
    for package, aside in raised(overrides, resolution):
        known = _known_to_work(package.name, aside, resolution) or ", and may fail"
        yield f"`{package.name}` {package.version} is not what {aside.origin} asks for (`{aside}`){known}"


def _known_to_work(name: NormalizedName, aside: Requirement, resolution: Resolution) -> str:
    """Return words for what vouches for a demand that is set aside, none where nothing does."""
    origin = aside.origin
    owner = canonicalize_name(origin.name) if isinstance(origin, DistributionOrigin) else None
    evidence = evidence_for(owner, name, resolution) if owner is not None else None
    return f"; known to work: {evidence}" if evidence is not None else ""


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


def _on_trust(graph: DependencyGraph) -> Iterator[str]:
    for name in sorted(graph.unknown.keys() - graph.unreached - graph.described.keys()):
        yield f"`{name}` is a direct reference: what it requires is not known"
    for name in sorted(graph.unreached):
        yield f"`{name}` could not be looked up: what it requires is not known"
