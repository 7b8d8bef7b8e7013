"""The smallest sets of overrides after which a target resolves, by implicit hitting sets.

Every proof of impossibility names the lines and the demands of distributions that it used; a repair must set
aside at least one of them. So: take the cheapest set that hits every proof so far and solve without it. Impossible
gives one more proof to hit; possible is a repair, and as only cheaper sets were tried before, none is cheaper.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from packaging.utils import NormalizedName

from envdoctor.model.dataclass import dataclass
from envdoctor.resolve.core_groups import cheapest_hitting_sets, hitting_sets_by_group
from envdoctor.resolve.dependency_graph import DependencyGraph
from envdoctor.resolve.relaxations import LEFT_OUT, Element, Relaxation, elements_of, from_elements, kept_versions
from envdoctor.resolve.solver import Demand, GaveUp, Line, Outcome, Solved, Solver, Unsolvable

__all__ = ["Found", "RepairSearch", "is_combined", "of_people"]


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
        beside: Relaxation | None = None,
    ) -> None:
        self._graph = graph
        self._solver = solver
        self._lines = lines
        self._agreed = frozenset(agreed)
        self._prefer = prefer or {}
        self._avoid = tuple(avoid)
        self._beside = beside or Relaxation()
        self._proofs: list[frozenset[Element]] = []
        self._outcomes: dict[frozenset[Element], Outcome] = {}
        self.solves = 0
        self.hopeless = False
        """True once a proof has nothing in it that could be set aside."""
        self.gave_up: list[str] = []

    def learn(self, proof: Iterable[Demand]) -> None:
        """Take in a proof that was found elsewhere."""
        self._add(elements_of(self._graph, self._lines, proof))

    def without(self, avoided: Mapping[NormalizedName, int]) -> RepairSearch:
        """Return a search that never takes the positions given; what was proved without that bound holds with it."""
        bounds = [
            Demand(name, candidates.all & ~bits or candidates.ghost, constraint=True)
            for name, bits in avoided.items()
            for candidates in [self._graph.candidates(name)]
        ]
        search = RepairSearch(self._graph, self._solver, self._lines, self._agreed, self._prefer, bounds, self._beside)
        search._proofs = list(self._proofs)
        search.hopeless = self.hopeless
        return search

    def cheapest(
        self,
        *,
        limit: int,
        most: int,
        solves: int,
        least: int = 0,
        allowed: Callable[[Element], bool],
        by_conflict: bool = False,
    ) -> Iterator[Found]:
        """Yield the repairs of the lowest cost above ``least``, at most ``most`` of them.

        Costs above ``limit`` are not tried, with ``by_conflict`` those of each conflict where there are more conflicts
        than that. Elements that are not ``allowed`` are kept, and the search ends when ``solves`` solves have been
        spent since its start. Where parts of a repair can be exchanged independently
        of each other, each exchange is shown once, and not every combination of them.
        """
        cost: int | None = None
        yielded: list[frozenset[Element]] = []
        end = self.solves + solves
        restart = True
        while restart and not self.hopeless:
            restart = False
            for chosen in self._hitting(limit, allowed, by_conflict=by_conflict):
                if (cost is not None and len(chosen) > cost) or len(yielded) >= most or self.solves >= end:
                    return
                if len(self.gave_up) >= _TOO_HARD:
                    return
                if len(chosen) <= least or chosen in yielded or self._implied(chosen) or is_combined(chosen, yielded):
                    continue
                outcome = self.outcome(chosen)
                if isinstance(outcome, Unsolvable):
                    restart = True
                    break
                if isinstance(outcome, Solved):
                    cost = len(chosen)
                    yielded.append(chosen)
                    yield Found(chosen, outcome.positions)

    def _hitting(
        self, limit: int, allowed: Callable[[Element], bool], *, by_conflict: bool
    ) -> Iterator[frozenset[Element]]:
        yield from cheapest_hitting_sets(self._proofs, self._weight, limit, allowed)
        if by_conflict:
            yield from hitting_sets_by_group(self._proofs, self._weight, limit, allowed)

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
            prefer = {**kept_versions(self._graph, self._lines, chosen), **self._prefer}
            known = self._solver.solve(demands, relaxation.view(self._graph), prefer)
            self._outcomes[chosen] = known
            if isinstance(known, GaveUp):
                self.gave_up.append(known.reason)
            elif isinstance(known, Unsolvable) and known.proof is not None:
                self._add(elements_of(self._graph, self._lines, known.proof, chosen))
        return known

    def relaxation(self, chosen: Iterable[Element]) -> Relaxation:
        """Return what setting these elements aside does to the manifest, beside what is set aside anyway."""
        found, beside = from_elements(self._graph, self._lines, frozenset(chosen)), self._beside
        if not beside.overrides:
            return found
        return replace(beside, lines={**found.lines, **beside.lines}, demands={**found.demands, **beside.demands})

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
        return (1 + (element[0] == LEFT_OUT), disagreement, 0)


def is_combined(chosen: frozenset[Element], seen: Collection[frozenset[Element]]) -> bool:
    """Return whether a repair only puts exchanges together that are known from others, each by itself.

    Of two conflicts that have nothing to do with each other, each with two ways out, three repairs tell everything.
    """
    exchanges = {(one - other, other - one) for one in seen for other in seen if one != other}
    return any(_exchanged(known - chosen, chosen - known, exchanges) for known in seen if known != chosen)


def _exchanged(
    given: frozenset[Element], taken: frozenset[Element], exchanges: Collection[tuple[frozenset[Element], ...]]
) -> bool:
    """Return whether known exchanges, one or several, give the one for the other."""
    parts = [(less, more) for less, more in exchanges if less <= given and more <= taken]
    none = frozenset[Element]()
    return given == none.union(*(less for less, _ in parts)) and taken == none.union(*(more for _, more in parts))


def of_people(lines: Sequence[Line]) -> Callable[[Element], bool]:
    """Return what says whether an element is a line that people write and that a repair replaces first.

    One installed without its dependencies is none: the project wants that version, and not what its metadata asks for.
    """
    return lambda element: isinstance(element, int) and not lines[element].requirement.no_deps
