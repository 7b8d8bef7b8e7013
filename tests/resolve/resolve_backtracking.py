"""The search of resolvelib as a second engine: a helper that finds faults of the first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from resolvelib import AbstractProvider, BaseReporter, ResolutionImpossible, ResolutionTooDeep
from resolvelib.resolvers.resolution import Resolution as ResolvelibSearch

from envdoctor.resolve.edges import base_name, positions_of
from envdoctor.resolve.solver import Demand, GaveUp, Outcome, Solved, Unsolvable, View

if TYPE_CHECKING:
    from resolvelib.structs import RequirementInformation

__all__ = ["Backtracking"]


@dataclass(frozen=True, slots=True)
class _Choice:
    node: str
    position: int


class Backtracking:
    """Solves with resolvelib, whose answers check the first engine's.

    Its ``Unsolvable`` is no proof: resolvelib jumps back over choices that matter in some universes with cycles, and
    goes round in circles in others (1.2.1). Only its ``Solved`` counts, and that only because it is looked through once
    more: in such universes resolvelib also returns choices that do not agree.
    """

    def __init__(self, rounds: int = 20_000) -> None:
        self._rounds = rounds

    def solve(self, demands: Sequence[Demand], view: View, prefer: Mapping[str, int] | None = None) -> Outcome:
        """Find a consistent choice; see ``Solver``."""
        bounds: dict[str, int] = {}
        for demand in demands:
            if demand.constraint:
                bounds[demand.node] = bounds.get(demand.node, -1) & demand.bits
        provider = _Provider(view, bounds, prefer or {})
        # Not ``Resolver``: its filter of what nothing reaches any more recurses for ever on a cycle that a
        # backtrack has cut off from the roots.
        engine: ResolvelibSearch[Demand, _Choice, str] = ResolvelibSearch(provider, BaseReporter())
        roots = [demand for demand in demands if not demand.constraint]
        try:
            state = engine.resolve(roots, max_rounds=self._rounds)
        except ResolutionImpossible:
            return Unsolvable(None)
        except ResolutionTooDeep:
            return GaveUp(f"no answer after {self._rounds} rounds")
        found = _reachable({node: choice.position for node, choice in state.mapping.items()}, roots, view)
        return Solved(found) if found is not None else GaveUp("the choices that it made do not agree")


def _reachable(positions: Mapping[str, int], demands: Sequence[Demand], view: View) -> dict[str, int] | None:
    """Return what the roots lead to, None where a demand on the way is not met."""
    found: dict[str, int] = {}
    queue = list(demands)
    for demand in queue:
        position = positions.get(demand.node)
        if position is None or not demand.bits >> position & 1:
            return None
        if demand.node not in found:
            found[demand.node] = position
            queue.extend(Demand(edge.dependency, edge.bits) for edge in view.edges(demand.node, position))
    return found


class _Provider(AbstractProvider[Demand, _Choice, str]):
    def __init__(self, view: View, bounds: Mapping[str, int], prefer: Mapping[str, int]) -> None:
        self._view = view
        self._bounds = bounds
        self._prefer = prefer

    def identify(self, requirement_or_candidate: Demand | _Choice) -> str:
        """Return the node."""
        return requirement_or_candidate.node

    def get_preference(
        self,
        identifier: str,
        resolutions: Mapping[str, _Choice],
        candidates: Mapping[str, Iterator[_Choice]],
        information: Mapping[str, Iterator[RequirementInformation[Demand, _Choice]]],
        backtrack_causes: Sequence[RequirementInformation[Demand, _Choice]],
    ) -> Any:
        """Take what caused the last failure first, then what has the fewest versions left."""
        del resolutions, candidates
        culprit = any(identifier == cause.requirement.node for cause in backtrack_causes)
        bits = -1
        for entry in information[identifier]:
            bits &= entry.requirement.bits
        return (not culprit, bits.bit_count(), identifier)

    def find_matches(
        self,
        identifier: str,
        requirements: Mapping[str, Iterator[Demand]],
        incompatibilities: Mapping[str, Iterator[_Choice]],
    ) -> Iterable[_Choice]:
        """Return what all demands admit, the preferred version first and then the newest."""
        name = base_name(identifier)
        graph = self._view.graph
        bits = graph.candidates(name).all & self._bounds.get(identifier, -1)
        for requirement in requirements[identifier]:
            bits &= requirement.bits
        for choice in incompatibilities[identifier]:
            bits &= ~(1 << choice.position)
        found = [position for position in positions_of(bits) if graph.usable(name, position)]
        found = found or [position for position in positions_of(bits) if graph.hoped_for(name, position)]
        preferred = self._prefer.get(identifier)
        if preferred in found:
            found.remove(preferred)
            found.insert(0, preferred)
        return [_Choice(identifier, position) for position in found]

    def is_satisfied_by(self, requirement: Demand, candidate: _Choice) -> bool:
        """Return whether a version is among those demanded."""
        return bool(requirement.bits >> candidate.position & 1)

    def get_dependencies(self, candidate: _Choice) -> Iterable[Demand]:
        """Return what a version demands."""
        return [Demand(e.dependency, e.bits) for e in self._view.edges(candidate.node, candidate.position)]
