"""What a careful person would be told before taking a repair."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from packaging.specifiers import SpecifierSet
from packaging.utils import NormalizedName

from envdoctor.model.candidate import BuildRisk, DistributionFile
from envdoctor.model.conflict import Conflict
from envdoctor.model.override import Override
from envdoctor.model.repair import Repair
from envdoctor.model.requirement import Requirement, RequirementKind
from envdoctor.model.resolution import Resolution, ResolvedPackage
from envdoctor.resolve.dependency_graph import DependencyGraph
from envdoctor.resolve.ranking import Judge, Offer, blamed, lowered, rank
from envdoctor.resolve.relaxations import (
    Element,
    Relaxation,
    changes_of,
    effective,
    overrides_of,
    overrides_of_exclusions,
)
from envdoctor.resolve.repairs import Found, RepairSearch, working_repair
from envdoctor.resolve.resolution_builder import build_resolution
from envdoctor.resolve.resolver import Resolver
from envdoctor.resolve.solver import Line, Solved, Unsolvable
from envdoctor.resolve.verification import Promise, unmet

__all__ = ["Offers", "cautions_of"]

_MOST_FAILURES = 3


def cautions_of(graph: DependencyGraph, offer: Offer, offers: Sequence[Offer]) -> tuple[str, ...]:
    """Return the cautions of one offer among all: first what fails, then what is left out, old, or must be built."""
    if offer.repair is None:
        return ()
    overrides, resolution = offer.repair.overrides, offer.resolution
    found = [*_failures(offer), *_left_out(graph, overrides, resolution), *_older(overrides, resolution)]
    return tuple(dict.fromkeys([*found, *_builds(offer, offers), *_on_trust(graph)]))


def _failures(offer: Offer) -> Iterator[str]:
    for failure in offer.avoidable[:_MOST_FAILURES]:
        yield f"known to fail: {failure.message} ({failure.rule})"
    more = [failure.rule for failure in offer.avoidable[_MOST_FAILURES:]]
    if more:
        yield f"known to fail besides: {', '.join(dict.fromkeys(more))}"


def _left_out(graph: DependencyGraph, overrides: Sequence[Override], resolution: Resolution) -> Iterator[str]:
    """Yield what is left out because it cannot be had: nobody decided that it is not needed."""
    for override in overrides:
        name = override.requirement.name
        if override.from_profile or override.because or resolution.get(name) is not None or name in graph.unknown:
            continue
        if name in graph.missing:
            yield f"no index has `{name}`, and it is left out"
        elif not graph.candidates(name).all:
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


def _on_trust(graph: DependencyGraph) -> Iterator[str]:
    for name in sorted(graph.unknown.keys() - graph.unreached):
        yield f"`{name}` is a direct reference: what it requires is not known"
    for name in sorted(graph.unreached):
        yield f"`{name}` could not be looked up: what it requires is not known"


_DEARER = 3
"""An alternative that keeps what all the cheapest repairs drop is worth naming up to this cost."""
_LEFT_OUT = 12
"""How many lines are tried for whether a failure needs them."""
_EXTRA_COSTS = 2
"""How many costs beyond the cheapest are tried when all the cheapest end in something known to be broken."""


class Offers:
    """Collects the repairs of one manifest."""

    def __init__(
        self,
        resolver: Resolver,
        conflicts: Sequence[Conflict],
        *,
        judge: Judge | None = None,
        build_risk: Callable[[DistributionFile], BuildRisk] | None = None,
    ) -> None:
        self._resolver = resolver
        self._graph = resolver.graph
        self._lines = resolver.lines
        self._conflicts = conflicts
        self._judge = judge
        self._build_risk = build_risk
        self._profile = resolver.relaxation
        agreed: list[Element] = [*self._profile.lines, *self._profile.demands]
        self.search = RepairSearch(resolver.graph, resolver.solver, resolver.lines, agreed, resolver.preferred)
        self.truncated = False
        self.profile_failure: tuple[Requirement, ...] = ()
        """Lines that cannot be installed together even with the profile's overrides."""

    def all(self) -> list[Offer]:
        """Return every offer, best first, with ids; the requirements as they stand are an offer without a repair."""
        found: list[Offer] = []
        profile = self._from_profile()
        if self._conflicts:
            found = self._cheapest()
            found.extend(self._dearer(found))
        elif profile is None:
            outcome = self._resolver.as_written()
            if isinstance(outcome, Solved):
                return [self._offer(Relaxation(), outcome.positions, frozenset(), repaired=False)]
        if profile is not None:
            found = [profile, *(offer for offer in found if offer.elements != profile.elements)]
        ranked = self._ranked(found)
        if self._conflicts and ranked and all(offer.at_fault for offer in ranked):
            working = working_repair(self._graph, ranked, self.search.without, self._found)
            ranked = self._ranked([*ranked, working]) if working else ranked
        offers = [_numbered(offer, number) for number, offer in enumerate(ranked, 1)]
        return [_cautioned(self._graph, offer, offers) for offer in offers]

    def _ranked(self, offers: Sequence[Offer]) -> list[Offer]:
        return sorted(blamed(self._graph, offers), key=lambda offer: rank(self._graph, self._lines, offer))

    def _cheapest(self) -> list[Offer]:
        """Return the cheapest repairs; go on to dearer ones while all end in something known to be broken."""
        limits = self._graph.manifest.limits
        found: list[Offer] = []
        least = 0
        for _ in range(_EXTRA_COSTS + 1):
            left = limits.repair_solves - self.search.solves
            batch = [
                self._found(one)
                for one in self.search.cheapest(
                    limit=limits.repair_cost, most=limits.repairs - len(found), solves=left, least=least
                )
            ]
            found.extend(batch)
            if not batch or not all(offer.failures for offer in batch) or len(found) >= limits.repairs:
                break
            least = len(batch[0].elements)
        self.truncated = self.search.solves >= limits.repair_solves
        return found

    def _dearer(self, found: Sequence[Offer]) -> list[Offer]:
        """Return the cheapest repair that keeps a line which all the others drop, if it is not much dearer."""
        if not found:
            return []
        dropped = frozenset.intersection(*(offer.elements for offer in found))
        lines = sorted(element for element in dropped if isinstance(element, int))
        limits = self._graph.manifest.limits
        for line in lines[:1]:
            search = self.search.cheapest(limit=_DEARER, most=1, solves=limits.repair_solves // 2, forbidden={line})
            return [self._found(one) for one in search]
        return []

    def _from_profile(self) -> Offer | None:
        manifest = self._graph.manifest
        if not manifest.overrides and (self._conflicts or not manifest.exclusions):
            return None
        outcome = self._resolver.as_overridden()
        if not isinstance(outcome, Solved):
            proof = outcome.proof if isinstance(outcome, Unsolvable) else None
            numbers = proof.lines if proof else [line.id for line in self._lines]
            self.profile_failure = self._failing([self._lines[number] for number in numbers])
            return None
        offer = self._offer(self._profile, outcome.positions, frozenset(), from_profile=True)
        needed = manifest.overrides or (offer.repair and offer.repair.overrides)
        return offer if needed else None

    def _failing(self, lines: Sequence[Line]) -> tuple[Requirement, ...]:
        """Return the fewest of some lines that the profile's overrides do not help, without those that it overrides."""
        view = self._profile.view(self._graph)
        kept = list(lines)
        for line in lines[:_LEFT_OUT]:
            fewer = [other for other in kept if other is not line]
            demands = self._profile.demands_of_people(self._graph, fewer)
            if isinstance(self._resolver.solver.solve(demands, view), Unsolvable):
                kept = fewer
        told = [line for line in kept if line.id not in self._profile.lines]
        return tuple(line.requirement for line in told or kept)

    def _found(self, found: Found) -> Offer:
        return self._offer(self.search.relaxation(found.elements), found.positions, found.elements)

    def _offer(
        self,
        relaxation: Relaxation,
        positions: Mapping[str, int],
        elements: frozenset[Element],
        *,
        repaired: bool = True,
        from_profile: bool = False,
    ) -> Offer:
        resolution = build_resolution(self._graph, self._lines, positions, relaxation, build_risk=self._build_risk)
        failures = tuple(self._judge(resolution)) if self._judge else ()
        promise = self._promise(resolution, relaxation)
        broken = unmet(promise)
        if not repaired:
            return Offer(None, resolution, promise, broken, failures, elements)
        overrides = overrides_of(self._lines, resolution, relaxation)
        left_out = overrides_of_exclusions(self._graph, resolution)
        if from_profile:
            elements = effective(self._lines, resolution, relaxation)
        repair = Repair(
            id="",
            overrides=(*overrides, *left_out),
            resolves=tuple(conflict.id for conflict in self._conflicts),
            changes=changes_of(self._lines, resolution, relaxation),
            cost=_count(left_out) + (_count(overrides) if from_profile else len(elements)),
            verified=not broken and not self._unseen(resolution),
            from_profile=from_profile,
        )
        return Offer(repair, resolution, promise, broken, failures, elements)

    def _unseen(self, resolution: Resolution) -> bool:
        """Return whether a part of a resolution could not be looked at: metadata, or a page, that cannot be read."""
        graph = self._graph
        asked = {requirement.name for package in resolution.packages for requirement in package.dependencies}
        asked.update(line.requirement.name for line in self._lines)
        return not asked.isdisjoint(graph.unreached) or any(
            graph.metadata_of(package) is None for package in resolution.packages
        )

    def _promise(self, resolution: Resolution, relaxation: Relaxation) -> Promise:
        graph = self._graph
        in_force = [kept for line in self._lines if (kept := _in_force(line, resolution, relaxation)) is not None]
        in_force.extend(r for r in graph.manifest.constraints if graph.applies(r))
        in_force.extend(
            replace(override.requirement, kind=RequirementKind.CONSTRAINT)
            for override in relaxation.overrides.values()
            if graph.applies(override.requirement)
        )
        return Promise(
            resolution,
            tuple(in_force),
            graph.manifest.target,
            graph.index,
            graph.couplings,
            ignored=relaxation.sets_aside,
            absent=graph.excluded | frozenset(graph.unknown),
        )


def _in_force(line: Line, resolution: Resolution, relaxation: Relaxation) -> Requirement | None:
    """Return what counts of a line: of one that is set aside the bare name, where the resolution has the project."""
    if line.id not in relaxation.lines:
        return line.requirement
    there = not line.constraint and resolution.get(line.requirement.name) is not None
    return replace(line.requirement, specifier=SpecifierSet()) if there else None


def _count(overrides: Sequence[Override]) -> int:
    """Return how many requirements are replaced; one that is written twice counts once."""
    return sum(len(set(map(str, override.sets_aside))) for override in overrides)


def _cautioned(graph: DependencyGraph, offer: Offer, offers: Sequence[Offer]) -> Offer:
    if offer.repair is None:
        return offer
    return replace(offer, repair=replace(offer.repair, cautions=cautions_of(graph, offer, offers)))


def _numbered(offer: Offer, number: int) -> Offer:
    if offer.repair is None:
        return offer
    repair = replace(offer.repair, id=f"R{number}")
    return replace(offer, repair=repair, resolution=replace(offer.resolution, repair=repair.id))
