"""What a careful person would be told before taking a repair."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from packaging.utils import NormalizedName

from envdoctor.model.candidate import BuildRisk, DistributionFile
from envdoctor.model.conflict import Conflict
from envdoctor.model.repair import Override, Repair
from envdoctor.model.requirement import Requirement, RequirementKind
from envdoctor.model.resolution import Resolution, ResolvedPackage
from envdoctor.resolve.dependency_graph import Universe
from envdoctor.resolve.failure import Judge
from envdoctor.resolve.ranking import Offer, blamed, lowered, rank
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
from envdoctor.resolve.resolver import Ground
from envdoctor.resolve.solver import Line, Solved, Unsolvable
from envdoctor.resolve.verification import violations

__all__ = ["Offers", "cautions_of"]

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


_DEARER = 3
"""An alternative that keeps what all the cheapest repairs drop is worth naming up to this cost."""
_LEFT_OUT = 12
"""How many lines are tried for whether a failure needs them."""
_EXTRA_COSTS = 2
"""How many costs beyond the cheapest are tried when all the cheapest end in something known to be broken."""


class Offers:
    """Collects the repairs of one problem."""

    def __init__(
        self,
        ground: Ground,
        conflicts: Sequence[Conflict],
        *,
        judge: Judge | None = None,
        build_risk: Callable[[DistributionFile], BuildRisk] | None = None,
    ) -> None:
        self._ground = ground
        self._universe = ground.universe
        self._lines = ground.lines
        self._conflicts = conflicts
        self._judge = judge
        self._build_risk = build_risk
        self._profile = ground.relaxation
        agreed: list[Element] = [*self._profile.lines, *self._profile.demands]
        self.search = RepairSearch(ground.universe, ground.solver, ground.lines, agreed, ground.preferred)
        self.truncated = False
        self.profile_failure: tuple[Requirement, ...] = ()
        """Lines that cannot hold together even with the profile's overrides."""

    def all(self) -> list[Offer]:
        """Return every offer, best first, with ids; the requirements as they stand are an offer without a repair."""
        found: list[Offer] = []
        profile = self._from_profile()
        if self._conflicts:
            found = self._cheapest()
            found.extend(self._dearer(found))
        elif profile is None:
            outcome = self._ground.as_written()
            if isinstance(outcome, Solved):
                return [self._offer(Relaxation(), outcome.positions, frozenset(), repaired=False)]
        if profile is not None:
            found = [profile, *(offer for offer in found if offer.elements != profile.elements)]
        ranked = self._ranked(found)
        if self._conflicts and ranked and all(offer.at_fault for offer in ranked):
            working = working_repair(self._universe, ranked, self.search.without, self._found)
            ranked = self._ranked([*ranked, working]) if working else ranked
        offers = [_numbered(offer, number) for number, offer in enumerate(ranked, 1)]
        return [_cautioned(self._universe, offer, offers) for offer in offers]

    def _ranked(self, offers: Sequence[Offer]) -> list[Offer]:
        return sorted(blamed(self._universe, offers), key=lambda offer: rank(self._universe, self._lines, offer))

    def _cheapest(self) -> list[Offer]:
        """Return the cheapest repairs; go on to dearer ones while all end in something known to be broken."""
        limits = self._universe.problem.limits
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
        limits = self._universe.problem.limits
        for line in lines[:1]:
            search = self.search.cheapest(limit=_DEARER, most=1, solves=limits.repair_solves // 2, forbidden={line})
            return [self._found(one) for one in search]
        return []

    def _from_profile(self) -> Offer | None:
        problem = self._universe.problem
        if not problem.overrides and (self._conflicts or not problem.exclusions):
            return None
        outcome = self._ground.as_overridden()
        if not isinstance(outcome, Solved):
            proof = outcome.proof if isinstance(outcome, Unsolvable) else None
            numbers = sorted(n for n in proof.lines if n >= 0) if proof else [line.id for line in self._lines]
            self.profile_failure = self._failing([self._lines[number] for number in numbers])
            return None
        offer = self._offer(self._profile, outcome.positions, frozenset(), from_profile=True)
        needed = problem.overrides or (offer.repair and offer.repair.overrides)
        return offer if needed else None

    def _failing(self, lines: Sequence[Line]) -> tuple[Requirement, ...]:
        """Return the fewest of some lines that the profile's overrides do not help, without those that it overrides."""
        view = self._profile.view(self._universe)
        kept = list(lines)
        for line in lines[:_LEFT_OUT]:
            fewer = [other for other in kept if other is not line]
            if isinstance(self._ground.solver.solve(self._profile.roots(self._universe, fewer), view), Unsolvable):
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
        resolution = build_resolution(self._universe, self._lines, positions, relaxation, build_risk=self._build_risk)
        failures = tuple(self._judge(resolution)) if self._judge else ()
        objections = self._check(resolution, relaxation)
        if not repaired:
            return Offer(None, resolution, objections, failures, elements)
        overrides = overrides_of(self._lines, resolution, relaxation)
        left_out = overrides_of_exclusions(self._universe, resolution)
        if from_profile:
            elements = effective(self._lines, resolution, relaxation)
        repair = Repair(
            id="",
            overrides=(*overrides, *left_out),
            resolves=tuple(conflict.id for conflict in self._conflicts),
            changes=changes_of(self._lines, resolution, relaxation),
            cost=_count(left_out) + (_count(overrides) if from_profile else len(elements)),
            verified=not objections and not self._unseen(resolution),
            from_profile=from_profile,
        )
        return Offer(repair, resolution, objections, failures, elements)

    def _unseen(self, resolution: Resolution) -> bool:
        """Return whether a part of a resolution could not be looked at: metadata, or a page, that cannot be read."""
        universe = self._universe
        asked = {requirement.name for package in resolution.packages for requirement in package.dependencies}
        asked.update(line.requirement.name for line in self._lines)
        return not asked.isdisjoint(universe.unreached) or any(
            universe.metadata_of(package) is None for package in resolution.packages
        )

    def _check(self, resolution: Resolution, relaxation: Relaxation) -> tuple[str, ...]:
        universe = self._universe
        in_force = [line.requirement for line in self._lines if line.id not in relaxation.lines]
        in_force.extend(r for r in universe.problem.constraints if universe.applies(r))
        in_force.extend(
            replace(override.requirement, kind=RequirementKind.CONSTRAINT)
            for override in relaxation.overrides.values()
            if universe.applies(override.requirement)
        )
        return violations(
            resolution,
            in_force,
            universe.problem.target,
            universe.index,
            universe.couplings,
            ignored=relaxation.sets_aside,
            absent=universe.excluded | frozenset(universe.unknown),
        )


def _count(overrides: Sequence[Override]) -> int:
    """Return how many requirements are replaced; one that is written twice counts once."""
    return sum(len(set(map(str, override.sets_aside))) for override in overrides)


def _cautioned(universe: Universe, offer: Offer, offers: Sequence[Offer]) -> Offer:
    if offer.repair is None:
        return offer
    return replace(offer, repair=replace(offer.repair, cautions=cautions_of(universe, offer, offers)))


def _numbered(offer: Offer, number: int) -> Offer:
    if offer.repair is None:
        return offer
    repair = replace(offer.repair, id=f"R{number}")
    return replace(offer, repair=repair, resolution=replace(offer.resolution, repair=repair.id))
