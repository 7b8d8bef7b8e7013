"""The smallest sets of overrides after which a target resolves, by implicit hitting sets.

Every proof of impossibility names the lines and the demands of distributions that it used; a repair must set
aside at least one of them. So: take the cheapest set that hits every proof so far and solve without it. Impossible
gives one more proof to hit; possible is a repair, and as only cheaper sets were tried before, none is cheaper.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from packaging.utils import NormalizedName
from packaging.version import Version

from envdoctor.model.finding import Finding
from envdoctor.resolve.dependency_graph import DependencyGraph
from envdoctor.resolve.hitting_sets import cheapest_hitting_sets
from envdoctor.resolve.ranking import Offer, blamed
from envdoctor.resolve.relaxations import Element, Relaxation, elements_of, from_elements
from envdoctor.resolve.solver import Demand, GaveUp, Line, Outcome, Proof, Solved, Solver, Unsolvable

__all__ = ["Found", "RepairSearch", "working_repair"]

_AVOIDED = -2_000_000
"""Line numbers of bounds that keep a search away from versions start here and go down."""


@dataclass(frozen=True, slots=True)
class Found:
    """A set of elements whose setting aside makes the target resolve."""

    elements: frozenset[Element]
    positions: Mapping[str, int]


_TOO_HARD = 3
"""Searches that may be given up before no more are begun."""


class RepairSearch:
    """Searches repairs of one manifest; keeps every proof, so a second question is cheaper than the first."""

    def __init__(
        self,
        graph: DependencyGraph,
        solver: Solver,
        lines: Sequence[Line],
        agreed: Collection[Element] = (),
        prefer: Mapping[str, int] | None = None,
        avoid: Sequence[Demand] = (),
    ) -> None:
        self._graph = graph
        self._solver = solver
        self._lines = lines
        self._agreed = frozenset(agreed)
        self._prefer = prefer or {}
        self._avoid = tuple(avoid)
        self._proofs: list[frozenset[Element]] = []
        self._outcomes: dict[frozenset[Element], Outcome] = {}
        self.solves = 0
        self.hopeless = False
        """True once a proof has nothing in it that could be set aside."""
        self.gave_up: list[str] = []

    def learn(self, proof: Proof) -> None:
        """Take in a proof that was found elsewhere."""
        self._add(elements_of(self._graph, self._lines, proof))

    def without(self, avoided: Mapping[NormalizedName, int]) -> RepairSearch:
        """Return a search that never takes the positions given; what was proved without that bound holds with it."""
        bounds = [
            Demand(name, candidates.all & ~bits or candidates.ghost, _AVOIDED - number, constraint=True)
            for number, (name, bits) in enumerate(avoided.items())
            for candidates in [self._graph.candidates(name)]
        ]
        search = RepairSearch(self._graph, self._solver, self._lines, self._agreed, self._prefer, bounds)
        search._proofs = list(self._proofs)
        search.hopeless = self.hopeless
        return search

    def cheapest(
        self, *, limit: int, most: int, solves: int, least: int = 0, forbidden: Collection[Element] = ()
    ) -> Iterator[Found]:
        """Yield the repairs of the lowest cost above ``least``, at most ``most`` of them.

        Costs above ``limit`` are not tried, elements in ``forbidden`` are kept, and the search ends when
        ``solves`` solves have been spent since its start.
        """
        cost: int | None = None
        yielded: list[frozenset[Element]] = []
        end = self.solves + solves
        restart = True
        while restart and not self.hopeless:
            restart = False
            for chosen in cheapest_hitting_sets(self._proofs, self._weight, limit, forbidden):
                if (cost is not None and len(chosen) > cost) or len(yielded) >= most or self.solves >= end:
                    return
                if len(self.gave_up) >= _TOO_HARD:
                    return
                if len(chosen) <= least or chosen in yielded or self._implied(chosen):
                    continue
                outcome = self.outcome(chosen)
                if isinstance(outcome, Unsolvable):
                    restart = True
                    break
                if isinstance(outcome, Solved):
                    cost = len(chosen)
                    yielded.append(chosen)
                    yield Found(chosen, outcome.positions)

    def _implied(self, chosen: frozenset[Element]) -> bool:
        """Return whether a part of the set is a repair by itself."""
        return any(known < chosen and isinstance(outcome, Solved) for known, outcome in self._outcomes.items())

    def outcome(self, chosen: frozenset[Element]) -> Outcome:
        """Solve with a set of elements set aside; an impossible outcome becomes one more proof."""
        known = self._outcomes.get(chosen)
        if known is None:
            self.solves += 1
            relaxation = self.relaxation(chosen)
            demands = [*relaxation.demands_of_people(self._graph, self._lines), *self._avoid]
            known = self._solver.solve(demands, relaxation.view(self._graph), self._prefer)
            self._outcomes[chosen] = known
            if isinstance(known, GaveUp):
                self.gave_up.append(known.reason)
            elif isinstance(known, Unsolvable) and known.proof is not None:
                self._add(elements_of(self._graph, self._lines, known.proof) - chosen)
        return known

    def relaxation(self, chosen: Iterable[Element]) -> Relaxation:
        """Return what setting these elements aside does to the manifest."""
        return from_elements(self._graph, self._lines, frozenset(chosen))

    def _add(self, elements: frozenset[Element]) -> None:
        if not elements:
            self.hopeless = True
        elif not any(known <= elements for known in self._proofs):
            self._proofs = [known for known in self._proofs if not elements <= known]
            self._proofs.append(elements)

    def _weight(self, element: Element) -> tuple[int, ...]:
        """Order sets of one size: fewer demands of distributions, what the profile sets aside too, file order."""
        disagreement = int(element not in self._agreed)
        if isinstance(element, int):
            return (0, disagreement, -element)
        return (1, disagreement, 0)


_STEPS = (1, 1, 2, 4, 8)
"""How many release series each further try goes back: a failure rarely ends with one, and each try costs a solve."""


@dataclass(frozen=True, slots=True)
class _Avoided:
    bits: int
    """Positions not to be taken again."""
    first: Version
    """The version that was avoided first."""
    failure: Finding


def working_repair(
    graph: DependencyGraph,
    offers: Sequence[Offer],
    search_without: Callable[[Mapping[NormalizedName, int]], RepairSearch],
    make: Callable[[Found], Offer],
) -> Offer | None:
    """Return a repair that no failure is known of, None where a few tries find none.

    ``offers`` are the best first, all to blame. ``search_without`` makes a search that avoids positions.
    """
    avoided: dict[NormalizedName, _Avoided] = {}
    limits = graph.manifest.limits
    offer = offers[0]
    for steps in _STEPS:
        if not _avoid(graph, offer, steps, avoided):
            return None
        search = search_without({name: entry.bits for name, entry in avoided.items()})
        found = next(search.cheapest(limit=limits.repair_cost, most=1, solves=limits.repair_solves // 4), None)
        if found is None:
            return None
        offer = blamed(graph, [*offers, make(found)])[-1]
        if not offer.at_fault:
            return _with_reasons(offer, avoided)
    return None


def _avoid(graph: DependencyGraph, offer: Offer, steps: int, avoided: dict[NormalizedName, _Avoided]) -> bool:
    """Add the versions that have a part in an offer's failures; return whether there are any."""
    grown = False
    for failure in offer.at_fault:
        for name in sorted(offer.moved.intersection(failure.packages)):
            package = offer.resolution.get(name)
            if package is None:
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
