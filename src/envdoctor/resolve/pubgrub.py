"""The first engine: PubGrub (conflict-driven learning), whose proofs name every requirement and edge they used."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nab_resolver.errors import ResolutionError, ResolutionTerminatedError
from nab_resolver.incompat_index import add_incompatibility
from nab_resolver.resolver import BaseProvider, Resolver
from nab_resolver.root import ROOT
from nab_resolver.types import Incompatibility, IncompatibilityCause, RootRequirement, Term

from envdoctor.resolve.clauses import Lessons, Positions
from envdoctor.resolve.dependency_graph import DependencyGraph, base_name, highest, positions_of
from envdoctor.resolve.solver import Demand, GaveUp, Outcome, Proof, Solved, Unsolvable, View

if TYPE_CHECKING:
    from nab_resolver.types import RangeProtocol

__all__ = ["PubGrub"]

_LOOKAHEAD = (1, 2, 8, 32)
"""How many versions to fetch ahead when a project is visited for the first, second, ... time."""
_EAGER_CONFLICTS = 4
"""A project that lost this many decisions is decided before others, as uv does."""


class _Engine(Resolver[str, int]):
    TARGETED_BT_MIN_CONFLICTS = 10

    provider: _Provider
    known: Sequence[Incompatibility[str, int]] = ()
    """Clauses that hold from the start."""

    def _add_root_requirements(self, requirements: Sequence[RootRequirement[str, int]]) -> None:
        for clause in self.known:
            add_incompatibility(self, clause)
        super()._add_root_requirements(requirements)

    def _decide_next(self, next_package: str) -> Any:
        """Count what the provider passed over as the conflicts that it spared."""
        changed = super()._decide_next(next_package)
        for package, culprit in self.provider.consume_passed_over():
            self.priority_epoch += 1
            self.stats.package_conflict_counts[package] += 1
            self.stats.package_culprit_counts[culprit] += 1
            if self.stats.package_culprit_counts[culprit] % self.CULPRIT_THRESHOLD == 0:
                self.pending_targeted_backtrack.append(culprit)
        return changed


class PubGrub:
    """Solves with nab-resolver."""

    def __init__(self, rounds: int = 20_000) -> None:
        self._rounds = rounds
        self._lessons: weakref.WeakKeyDictionary[DependencyGraph, Lessons] = weakref.WeakKeyDictionary()

    def solve(self, demands: Sequence[Demand], view: View, prefer: Mapping[str, int] | None = None) -> Outcome:
        """Find a consistent choice; see ``Solver``."""
        provider = _Provider(view, prefer or {}, demands)
        engine = _Engine(provider, max_iterations=self._rounds, range_type=Positions)
        lessons = self._lessons.setdefault(view.graph, Lessons())
        engine.known = lessons.under(view.relaxed)
        required = [RootRequirement(d.node, Positions(d.bits), d.line) for d in demands if not d.constraint]
        try:
            return Solved(engine.solve(required).pins)
        except ResolutionTerminatedError as error:
            return GaveUp(f"the search stopped: {error}")
        except ResolutionError as error:
            if error.incompatibility is None:
                return GaveUp("the search stopped without a proof")
            return Unsolvable(_proof(error.incompatibility, demands))
        finally:
            lessons.take(engine.incompatibilities, view.relaxed)


class _Provider(BaseProvider[str, int]):
    """Answers the engine from a view of the graph."""

    def __init__(self, view: View, prefer: Mapping[str, int], demands: Sequence[Demand]) -> None:
        self._view = view
        self._graph = view.graph
        self._prefer = prefer
        self._pending = [_constraint_clause(demand) for demand in demands if demand.constraint]
        self._ranges: Mapping[str, RangeProtocol[int]] = {}
        self._visits: dict[str, int] = {}
        self._order = {node: number for number, node in enumerate(dict.fromkeys(demand.node for demand in demands))}
        self._dependencies: dict[tuple[str, int], dict[str, Positions]] = {}
        self._alike: dict[tuple[str, frozenset[tuple[str, int]]], int] = {}
        self._conflicts: Mapping[str, int] = {}
        self._passed_over: list[tuple[str, str]] = []
        self._told: set[tuple[str, int]] = set()
        self._given: Mapping[str, int] = {}
        self._given = self._consequences(demands)

    def _consequences(self, demands: Sequence[Demand]) -> dict[str, int]:
        """Return what the demands of people leave open, followed through every project that has one version left."""
        given: dict[str, int] = {}
        queue = [(demand.node, demand.bits) for demand in demands if not demand.constraint]
        followed: set[str] = set()
        for node, bits in queue:
            given[node] = left = given.get(node, -1) & bits
            if left and not left & (left - 1) and node not in followed:
                name, position = base_name(node), highest(left)
                if left & self._graph.candidates(name).all and self._graph.usable(name, position):
                    followed.add(node)
                    queue.extend((found, p.bits) for found, p in self.get_dependencies(node, position).items())
        return given

    def receive_partial_solution_hint(
        self, positive_ranges: Mapping[str, RangeProtocol[int]], decisions: Mapping[str, int]
    ) -> None:
        """Keep what is allowed so far: an extra goes where its project may still go."""
        del decisions
        self._ranges = positive_ranges

    def choose_version(self, package: str, version_range: RangeProtocol[int]) -> int | None:
        """Take the preferred, else the newest version that has metadata, else one that is hoped for."""
        name = base_name(package)
        bits = _bits(version_range) & self._graph.candidates(name).all
        if not bits:
            return None
        if name != package and name in self._ranges:
            bits = bits & _bits(self._ranges[name]) or bits
        preferred = self._prefer.get(package)
        if preferred is not None and bits >> preferred & 1 and self._graph.usable(name, preferred):
            if not self._refused(package, preferred):
                return preferred
            bits ^= 1 << preferred
        visit = self._visits[package] = self._visits.get(package, -1) + 1
        self._graph.prefetch(name, bits, _LOOKAHEAD[min(visit, len(_LOOKAHEAD) - 1)])
        open_to = (self._graph.usable, self._graph.hoped_for)
        found = (p for may_take in open_to for p in positions_of(bits) if may_take(name, p))
        return next((position for position in found if not self._refused(package, position)), None)

    def _refused(self, package: str, position: int) -> bool:
        """Return whether what is allowed so far shuts a version out, and tell the engine why.

        The reasons are facts of metadata, so they hold in every branch; telling them at once spares the engine
        one conflict for each version of a project. Told only where the engine can act on it at once, and once.
        """
        if (package, position) in self._told:
            return False
        name = base_name(package)
        dependencies = self.get_dependencies(package, position)
        for node, positions in dependencies.items():
            if node in self._ranges and not _bits(self._ranges[node]) & positions.bits:
                if self._given.get(node, -1) & positions.bits and not self._passes_over(package, node):
                    return False
                self._tell(package, position, node, positions)
                return True
        if name != package and name in self._ranges and self._refused(name, position):
            self._tell(package, position, name, dependencies[name])
            return True
        return False

    def _passes_over(self, package: str, node: str) -> bool:
        """Return whether to pass over a version because of a decision, which may be undone, without a conflict.

        A conflict would throw away every decision since that one. After a few, conflicts are the way to learn that
        the other decision was the wrong one.
        """
        if self._conflicts.get(package, 0) + sum(p == package for p, _ in self._passed_over) + 1 >= _EAGER_CONFLICTS:
            return False
        self._passed_over.append((package, node))
        return True

    def consume_passed_over(self) -> list[tuple[str, str]]:
        """Hand over what was passed over since the last time, with what it does not go with."""
        passed_over, self._passed_over = self._passed_over, []
        return passed_over

    def _tell(self, package: str, position: int, node: str, positions: Positions) -> None:
        self._told.add((package, position))
        terms = [Term(package, Positions.singleton(position)), Term(node, positions, positive=False)]
        self._pending.append(Incompatibility(terms, cause=IncompatibilityCause.DEPENDENCY))

    def has_satisfying_version(self, package: str, version_range: RangeProtocol[int]) -> bool:
        """Return whether a version would be found."""
        return self.choose_version(package, version_range) is not None

    def get_dependencies(self, package: str, version: int) -> Mapping[str, Positions]:
        """Return what a version demands, several demands on one project intersected."""
        key = (package, version)
        found = self._dependencies.get(key)
        if found is None:
            found = self._dependencies[key] = self._demands(package, version)
            signature = frozenset((node, positions.bits) for node, positions in found.items())
            self._alike[package, signature] = self._alike.get((package, signature), 0) | 1 << version
        return found

    def _demands(self, package: str, version: int) -> dict[str, Positions]:
        merged: dict[str, int] = {}
        for edge in self._view.edges(package, version):
            self._order.setdefault(edge.dependency, len(self._order))
            known = merged.get(edge.dependency)
            if known is None:
                merged[edge.dependency] = edge.bits
            else:
                both = known & edge.bits
                merged[edge.dependency] = both or self._graph.candidates(base_name(edge.dependency)).ghost
        for node, bits in merged.items():
            self._graph.prefetch(base_name(node), bits & self._given.get(node, -1))
        return {node: Positions(bits) for node, bits in merged.items()}

    def prioritize(
        self,
        package: str,
        version_range: RangeProtocol[int],
        conflict_counts: Mapping[str, int],
        culprit_counts: Mapping[str, int] | None = None,
    ) -> Any:
        """Decide what has one choice left first, then what keeps losing, then in the order of discovery."""
        del culprit_counts
        self._conflicts = conflict_counts
        bits = _bits(version_range)
        order = self._order.setdefault(package, len(self._order))
        if bits >= 0 and not bits & (bits - 1):
            return (0, 0, order)
        lost = conflict_counts.get(package, 0)
        return (1, -lost if lost >= _EAGER_CONFLICTS else 0, order)

    def widen_decision(self, package: str, version: int) -> Positions | None:
        """Speak for every version seen so far that makes the same demands."""
        found = self._dependencies.get((package, version))
        if found is None:
            return None
        signature = frozenset((node, positions.bits) for node, positions in found.items())
        return Positions(self._alike[package, signature])

    def consume_pending_clauses(self) -> list[Incompatibility[str, int]]:
        """Hand over the constraints, once."""
        pending, self._pending = self._pending, []
        return pending


def _constraint_clause(demand: Demand) -> Incompatibility[str, int]:
    terms: list[Term[Any, int]] = [
        Term(ROOT, Positions.singleton(1), positive=True),
        Term(demand.node, ~Positions(demand.bits), positive=True),
    ]
    # The engine's own report wants one term of a CONSTRAINT clause; as a dependency of the root it may have two.
    return Incompatibility(terms, cause=IncompatibilityCause.DEPENDENCY, origin=demand.line)


def _proof(incompatibility: Incompatibility[Any, Any], asked: Iterable[Demand]) -> Proof:
    of_people = {(demand.line, demand.node): demand for demand in asked}
    found: dict[Demand, None] = {}
    for clause in incompatibility.walk():
        if clause.origin is not None:
            found[of_people[clause.origin, clause.terms[1].package]] = None
        elif clause.cause is IncompatibilityCause.DEPENDENCY:
            owner, wanted = clause.terms[0], clause.terms[-1]
            bits = clause.dependency_range if wanted is owner else wanted.constraint
            found[Demand(wanted.package, _bits(bits), owner=owner.package, owner_bits=_bits(owner.constraint))] = None
    return Proof(tuple(found))


def _bits(positions: object) -> int:
    if not isinstance(positions, Positions):
        raise TypeError(f"not a set of positions: {positions!r}")
    return positions.bits
