"""Repairs resolved to the end, checked, ranked, and offered with what to mind of each."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from packaging.specifiers import SpecifierSet
from packaging.utils import NormalizedName

from envdoctor.model.candidate import BuildRisk, DistributionFile
from envdoctor.model.conflict import Conflict
from envdoctor.model.origin import ProfileOrigin
from envdoctor.model.override import Override
from envdoctor.model.repair import Repair
from envdoctor.model.requirement import Requirement, RequirementKind
from envdoctor.model.resolution import Resolution
from envdoctor.resolve.offer import Judge, Offer
from envdoctor.resolve.ranking import blamed, rank, telling, with_cautions
from envdoctor.resolve.relaxations import (
    LEFT_OUT,
    Element,
    Relaxation,
    changes_of,
    effective,
    overrides_of,
    overrides_of_exclusions,
)
from envdoctor.resolve.repairs import Found, RepairSearch, of_people
from envdoctor.resolve.resolver import Resolver, build_resolution
from envdoctor.resolve.solver import Line, Solved, Unsolvable
from envdoctor.resolve.verification import Promise, unmet
from envdoctor.resolve.working_repair import culprits_of, pinned_by, working_repair
from envdoctor.shipped import vouched_demands

__all__ = ["Offers"]

_DEARER = 3
"""An alternative that keeps what all the cheapest repairs drop is worth naming up to this cost."""
_LEFT_OUT = 12
"""How many lines are tried for whether a failure needs them."""
_MOST_LEFT_OUT = 2
"""How many repairs that do without something are looked for, where no other is sure to run."""
_MOST_BESIDE = 3
"""How many repairs that keep a profile's overrides, and do not do with these, are shown."""
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
        self._made: dict[tuple[frozenset[Element], frozenset[tuple[str, int]]], Offer] = {}
        self.profile_failure: tuple[Requirement, ...] = ()
        """Lines that cannot be installed together even with the profile's overrides."""

    def all(self) -> list[Offer]:
        """Return every offer, best first, with ids; the requirements as they stand are an offer without a repair."""
        found: list[Offer] = []
        profile = self._from_profile()
        if self._conflicts:
            found = self._searched()
        elif profile is None:
            outcome = self._resolver.as_written()
            if isinstance(outcome, Solved):
                return [self._offer(Relaxation(), outcome.positions, frozenset(), repaired=False)]
        mine = [profile] if profile is not None else self._beside_profile() if self.profile_failure else []
        known = {offer.elements for offer in mine}
        found = [*mine, *(offer for offer in found if offer.elements not in known)]
        ranked = list(telling(self._ranked(found)))[: self._graph.manifest.limits.repairs]
        offers = [offer.numbered(number) for number, offer in enumerate(ranked, 1)]
        return [with_cautions(self._graph, offer, offers) for offer in offers]

    def _ranked(self, offers: Sequence[Offer]) -> list[Offer]:
        return sorted(blamed(self._graph, offers), key=lambda offer: rank(self._graph, self._lines, offer))

    def _searched(self) -> list[Offer]:
        """Return repairs, and go on to what people like less while nothing that is found is sure to run.

        First lines of people are replaced, and demands that are known to be too strict; then versions are avoided that
        are known to fail; then demands of distributions are overruled, and lines left out.
        """
        written = of_people(self._lines)
        found = self._cheapest(lambda element: written(element) or element in vouched_demands())
        found.extend(self._dearer(found))
        found.extend(self._best_of_all(found))
        if any(offer.runs for offer in blamed(self._graph, found)):
            return [*found, *self._without_builds(found)]
        ranked = self._ranked(found)
        failing = [offer for offer in ranked if offer.avoidable]
        if failing:
            working = self._working(failing)
            asked = {line.requirement.name for line in self._lines} if working is None else pinned_by(self._lines)
            found.extend(filter(None, (working, self._without_culprits(failing, asked))))
            if any(offer.runs for offer in blamed(self._graph, found)):
                return found
        tried = self._cheapest(lambda element: isinstance(element, int) or element[0] != LEFT_OUT)
        tried.extend(self._cheapest(lambda element: isinstance(element, int) or element[0] == LEFT_OUT, _MOST_LEFT_OUT))
        known = {offer.elements for offer in found}
        return [*found, *{offer.elements: offer for offer in tried if offer.elements not in known}.values()]

    def _without_builds(self, found: Sequence[Offer]) -> Iterator[Offer]:
        """Yield the repair that replaces what the best one must build, in versions that do not fail, where any does."""
        best, *others = self._ranked(found)
        built = {package.name for package in best.hard_builds()}
        failing = [offer for offer in others if offer.avoidable and not built.isdisjoint(offer.moved)]
        working = self._working(failing)
        if working is not None:
            yield working

    def _best_of_all(self, found: Sequence[Offer]) -> list[Offer]:
        """Return the repair that makes every exchange which made another one better, where none made all of them."""
        ranked = self._ranked(found)
        if len(ranked) < 2 or ranked[0].elements == found[0].elements:
            return []
        elements = ranked[0].elements
        for offer in ranked[1 : next(n for n, o in enumerate(ranked) if o.elements == found[0].elements)]:
            given, taken = found[0].elements - offer.elements, offer.elements - found[0].elements
            if given <= elements:
                elements = (elements - given) | taken
        known = any(elements == offer.elements for offer in found)
        outcome = None if known else self.search.outcome(elements)
        return [self._found(Found(elements, outcome.positions))] if isinstance(outcome, Solved) else []

    def _without_culprits(self, ranked: Sequence[Offer], asked: Collection[NormalizedName]) -> Offer | None:
        """Return the best offer that fails only beside projects that are asked for, without these, if that works."""
        for offer in ranked:
            culprits = culprits_of(offer, asked, self._lines, self._graph.manifest.target.backend)
            if culprits:
                made = blamed(self._graph, list(self._made_without(offer.elements, culprits)))
                return next((one for one in made if not one.avoidable), None) or self._working(made[-1:])
        return None

    def _made_without(self, elements: frozenset[Element], culprits: frozenset[Element]) -> Iterator[Offer]:
        """Yield what comes with what is needed of some elements beside culprits, then with all of them."""
        fewer = whole = elements | culprits
        for element in sorted(elements - culprits, key=str):
            if isinstance(self.search.outcome(fewer - {element}), Solved):
                fewer -= {element}
        for one in dict.fromkeys((fewer, whole)):
            outcome = self.search.outcome(one)
            if isinstance(outcome, Solved):
                yield self._found(Found(one, outcome.positions))

    def _working(self, failing: Sequence[Offer]) -> Offer | None:
        """Return what comes of offers that fail when versions are avoided, None where that does not help."""
        if not failing:
            return None
        return working_repair(self._graph, failing, self.search.without, self._found, self._lines)

    def _cheapest(
        self,
        allowed: Callable[[Element], bool],
        most: int = 0,
        search: RepairSearch | None = None,
        make: Callable[[Found], Offer] | None = None,
    ) -> list[Offer]:
        """Return the cheapest repairs; go on to dearer ones while nothing is found that is sure to run."""
        limits, search, make = self._graph.manifest.limits, search or self.search, make or self._found
        found: list[Offer] = []
        most, least = most or limits.repairs, 0
        for _ in range(_EXTRA_COSTS + 1):
            left, wanted = limits.repair_solves - search.solves, most - len(found)
            cheapest = search.cheapest(
                limit=limits.repair_cost, most=wanted, solves=left, least=least, allowed=allowed, by_conflict=True
            )
            batch = list(map(make, cheapest))
            found.extend(batch)
            if not batch or len(found) >= most or not all(o.behind or o.builds for o in blamed(self._graph, batch)):
                break
            least = len(batch[0].elements)
        return found

    def _dearer(self, found: Sequence[Offer]) -> list[Offer]:
        """Return the cheapest repair that keeps a line which all the others drop, if it is not much dearer."""
        if not found:
            return []
        dropped = frozenset.intersection(*(offer.elements for offer in found))
        lines = sorted(element for element in dropped if isinstance(element, int))
        limits = self._graph.manifest.limits
        if not lines:
            return []
        written, solves = of_people(self._lines), limits.repair_solves // 2
        search = self.search.cheapest(
            limit=_DEARER, most=1, solves=solves, allowed=lambda element: written(element) and element != lines[0]
        )
        return [self._found(one) for one in search]

    def _from_profile(self) -> Offer | None:
        manifest = self._graph.manifest
        if not manifest.overrides and (self._conflicts or not manifest.exclusions):
            return None
        outcome = self._resolver.as_overridden()
        if not isinstance(outcome, Solved):
            proven = outcome.lines if isinstance(outcome, Unsolvable) and outcome.proof is not None else None
            numbers = proven if proven is not None else [line.id for line in self._lines]
            self.profile_failure = self._failing([self._lines[number] for number in numbers])
            return None
        offer = self._offer(self._profile, outcome.positions, frozenset(), from_profile=True)
        if offer.repair is not None and not offer.repair.overrides:
            return replace(offer, repair=None) if manifest.overrides else None
        return offer

    def _beside_profile(self) -> list[Offer]:
        """Return repairs that keep what a profile overrides and requires, where that does not settle every conflict.

        Where each change is needed without the overrides' versions too, they hold: it is told as a conflict alone.
        """
        kept, written = self._profile, of_people(self._lines)
        own = {line.id for line in self._lines if isinstance(line.requirement.origin, ProfileOrigin)} | {*kept.lines}
        search = RepairSearch(self._graph, self._resolver.solver, self._lines, (), self._resolver.preferred, (), kept)

        def make(one: Found) -> Offer:
            return self._offer(search.relaxation(one.elements), one.positions, one.elements, from_profile=True)

        def cheapest(allowed: Callable[[Element], bool]) -> list[Offer]:
            return self._cheapest(lambda item: item not in own and allowed(item), search=search, make=make)

        search.outcome(frozenset())
        made = cheapest(written) if self._conflicts else []
        failing = [offer for offer in self._ranked(made) if offer.avoidable]
        if failing and not any(offer.runs for offer in blamed(self._graph, made)):
            other = working_repair(self._graph, failing, search.without, make, self._lines)
            made.extend(filter(None, (other,)))
        if self._conflicts and all(offer.builds or offer.behind for offer in blamed(self._graph, made)):
            made.extend(cheapest(lambda item: isinstance(item, int) or item[0] != LEFT_OUT))
        ranked = self._ranked(made)
        made = [one for at, one in enumerate(ranked) if all(one.elements != known.elements for known in ranked[:at])]
        anyhow: frozenset[Element] = frozenset((*kept.lines, *kept.demands))
        for offer in made[:1]:
            changed = offer.elements - anyhow
            fewer = (self.search.outcome(anyhow | (changed - {element})) for element in changed)
            if all(isinstance(outcome, Unsolvable) for outcome in fewer):
                self.profile_failure = ()
        return made[:_MOST_BESIDE]

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
        key = found.elements, frozenset(found.positions.items())
        if key not in self._made:
            self._made[key] = self._offer(self.search.relaxation(found.elements), found.positions, found.elements)
        return self._made[key]

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
            cost=_count(left_out) + (_count(overrides) if from_profile else _edits(self._lines, elements)),
            verified=not broken and not self._unseen(resolution),
            from_profile=from_profile,
        )
        return Offer(repair, resolution, promise, broken, failures, elements)

    def _unseen(self, resolution: Resolution) -> bool:
        """Return whether a part of a resolution could not be looked at: metadata, or a page, that cannot be read."""
        graph, unreached = self._graph, self._graph.unreached
        asked = {requirement.name for package in resolution.packages for requirement in package.dependencies}
        asked.update(line.requirement.name for line in self._lines)
        return not asked.isdisjoint(unreached) or (
            bool(graph.unreadable) and any(graph.metadata_of(package) is None for package in resolution.packages)
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
            replaced=graph.manifest.replaced,
            instead=graph.instead,
        )


def _in_force(line: Line, resolution: Resolution, relaxation: Relaxation) -> Requirement | None:
    """Return what counts of a line: of one that is set aside the bare name, where the resolution has the project."""
    if line.id not in relaxation.lines:
        return line.requirement
    there = not line.constraint and resolution.get(line.requirement.name) is not None
    return replace(line.requirement, specifier=SpecifierSet()) if there else None


def _edits(lines: Sequence[Line], elements: Collection[Element]) -> int:
    """Return how many requirements are replaced or left out; a line that is left out was replaced in vain before."""
    left_out = {element[1] for element in elements if not isinstance(element, int) and element[0] == LEFT_OUT}
    return sum(not isinstance(item, int) or lines[item].requirement.name not in left_out for item in elements)


def _count(overrides: Sequence[Override]) -> int:
    """Return how many requirements are replaced; one that is written twice counts once."""
    return sum(len(set(map(str, override.sets_aside))) for override in overrides)
