"""The first engine: PubGrub (conflict-driven learning), whose proofs name every requirement and edge they used."""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from nab_resolver.errors import ResolutionError, ResolutionLimitError, ResolutionTerminatedError
from nab_resolver.resolver import BaseProvider, Resolver, ResolverObserver
from nab_resolver.types import Incompatibility, IncompatibilityCause, RangeProtocol, RootRequirement, Term
from packaging.utils import NormalizedName

from envdoctor.resolve.clauses import (
    Asked,
    Barren,
    Clause,
    Lessons,
    Positions,
    asked_by,
    bits_of,
    constraint_clause,
    proof_of,
)
from envdoctor.resolve.dependency_graph import DependencyGraph
from envdoctor.resolve.edges import base_name, highest, positions_of
from envdoctor.resolve.solver import Demand, GaveUp, Outcome, Solved, Unsolvable, View

__all__ = ["PubGrub"]

_LOOKAHEAD = (1, 2, 8, 32)
"""How many versions to fetch ahead when a project is decided for the first time, has moved on once, ..."""
_AHEAD = ((12, 128), (8, 32), (4, 8))
"""Where a project has lost so many decisions, so many of its versions are looked at together."""
_EAGER_CONFLICTS = 4
"""A project that lost this many decisions is decided before others, as uv does."""


class _Learned(ResolverObserver[str, int]):
    """Takes down what a search learns."""

    def __init__(self) -> None:
        self.clauses: list[Clause] = []

    def on_conflict(self, incompatibility: Clause) -> None:
        """Take down a fact that a choice ran into: told at once, the next search does not run into it."""
        self.clauses.append(incompatibility)

    def on_learned(self, incompatibility: Clause) -> None:
        """Take down one clause."""
        self.clauses.append(incompatibility)


class PubGrub:
    """Solves with nab-resolver."""

    def __init__(self, rounds: int = 100_000) -> None:
        self._rounds = rounds
        self._lessons: weakref.WeakKeyDictionary[DependencyGraph, Lessons] = weakref.WeakKeyDictionary()
        self._answers: weakref.WeakKeyDictionary[DependencyGraph, dict[object, Outcome]] = weakref.WeakKeyDictionary()

    def solve(self, demands: Sequence[Demand], view: View, prefer: Mapping[str, int] | None = None) -> Outcome:
        """Find a consistent choice; see ``Solver``. What was asked before is answered as it was."""
        answers = self._answers.setdefault(view.graph, {})
        asked = (tuple(demands), frozenset(view.relaxed.items()), frozenset((prefer or {}).items()))
        if asked not in answers:
            answers[asked] = self._solved(demands, view, prefer)
        return answers[asked]

    def _solved(self, demands: Sequence[Demand], view: View, prefer: Mapping[str, int] | None) -> Outcome:
        lessons = self._lessons.setdefault(view.graph, Lessons())
        provider = _Provider(view, prefer or {}, demands, lessons)
        learned = _Learned()
        engine: Resolver[str, int] = Resolver(provider, learned, max_iterations=self._rounds, range_type=Positions)
        required = [RootRequirement(d.node, Positions(d.bits), d) for d in demands if not d.constraint]
        try:
            pins = engine.solve(required).pins
            lessons.eager = {**provider.eager(), **lessons.eager}
            return Solved(pins)
        except ResolutionLimitError:
            return GaveUp(f"no answer within its limit of {self._rounds:,} rounds")
        except ResolutionTerminatedError as error:
            return GaveUp(f"the search stopped: {error}")
        except ResolutionError as error:
            if error.incompatibility is None:
                return GaveUp("the search stopped without a proof")
            return Unsolvable(proof_of(error.incompatibility))
        finally:
            lessons.take(learned.clauses, view.relaxed)


class _Provider(BaseProvider[str, int]):
    """Answers the engine from a view of the graph."""

    def __init__(self, view: View, prefer: Mapping[str, int], demands: Sequence[Demand], lessons: Lessons) -> None:
        self._view = view
        self._graph = view.graph
        self._prefer = prefer
        known = lessons.under(demands, view.relaxed)
        self._pending = [*known, *(constraint_clause(demand) for demand in demands if demand.constraint)]
        self._ranges: Mapping[str, RangeProtocol[int]] = {}
        self._lowest: dict[str, tuple[int, int]] = {}
        """By node: the oldest version that was to be tried first, and how often there was an older one."""
        found = dict.fromkeys((*lessons.eager, *(demand.package for demand in demands)))
        self._order: dict[NormalizedName, int] = {node: number for number, node in enumerate(found)}
        self._dependencies: dict[tuple[str, int], Asked] = {}
        self._alike: dict[tuple[str, frozenset[tuple[str, int]]], int] = {}
        self._conflicts: Mapping[str, int] = {}
        self._passed_over: Counter[str] = Counter()
        self._barren = Barren(self._graph, self.get_dependencies)
        self._told: set[tuple[str, int]] = set()
        self._targets: list[str] = []
        self._swapped: set[tuple[str, str]] = set()
        self._extras: dict[str, dict[str, None]] = {}
        self._open = 0
        """What is allowed of the project that is being decided."""
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
        bits = self._open = bits_of(version_range) & self._graph.candidates(name).all
        if not bits:
            return None
        if name != package and name in self._ranges:
            bits = bits & bits_of(self._ranges[name]) or bits
        every = bits
        preferred = self._prefer.get(package)
        if preferred is not None and bits >> preferred & 1 and self._graph.usable(name, preferred):
            if not self._refused(package, preferred):
                return preferred
            bits ^= 1 << preferred
        self._graph.prefetch(name, bits, self._ahead_of(package, bits))
        found = next((position for position in self._takable(name, bits) if not self._refused(package, position)), None)
        if found is None and not self._pending:
            # Each was told of before: the engine is to run into what one cannot have, for the proof.
            return next(self._takable(name, every), None)
        return found

    def _takable(self, name: NormalizedName, bits: int) -> Iterator[int]:
        open_to = (self._graph.usable, self._graph.hoped_for)
        return (p for may_take in open_to for p in self._graph.by_rank(name, bits) if may_take(name, p))

    def _ahead_of(self, package: str, bits: int) -> int:
        """Return how many versions to fetch ahead: more, the oftener a project went further down its list.

        One that is decided again where it was, after others were taken back, needs nothing that is not at hand.
        """
        lowest, moves = self._lowest.get(package, (bits.bit_length(), -1))
        if bits.bit_length() < lowest or moves < 0:
            lowest, moves = bits.bit_length(), moves + 1
            self._lowest[package] = lowest, moves
        return _LOOKAHEAD[min(moves, len(_LOOKAHEAD) - 1)]

    def _refused(self, package: str, position: int) -> bool:
        """Return whether what is allowed so far shuts a version out, and tell the engine why.

        The reasons are facts of metadata, so they hold in every branch; telling them at once spares the engine
        one conflict for each version of a project. Told only where the engine can act on it at once, and once.
        """
        if (package, position) in self._told:
            return self._barren.is_known(package, position)
        name = base_name(package)
        dependencies = self.get_dependencies(package, position)
        barren = self._barren.demand(package, position)
        if barren is not None:
            self._tell(package, position, barren, dependencies[barren])
            return True
        for node, positions in dependencies.items():
            allowed = self._ranges.get(node)
            if allowed is not None and not bits_of(allowed) & positions.bits:
                # What was put behind this project, and stands before it again, is there to stay.
                may_undo = self._given.get(node, -1) & positions.bits and (package, node) not in self._swapped
                if may_undo and node != package and not self._passes_over(package):
                    self._tell_of_many(package, node)
                    return False
                self._tell(package, position, node, positions)
                return True
        if name != package and name in self._ranges and self._refused(name, position):
            self._tell(package, position, name, dependencies[name])
            return True
        return False

    def _passes_over(self, package: str) -> bool:
        """Return whether to pass over a version because of a decision, which may be undone, without a conflict.

        A conflict would throw away every decision since that one. After a few, the other decision may be the wrong one.
        """
        if self._lost(package) < _EAGER_CONFLICTS:
            self._passed_over[package] += 1
        return self._lost(package) < _EAGER_CONFLICTS

    def _lost(self, package: str) -> int:
        """Return how many decisions a node has lost, those counted that it was spared."""
        return self._conflicts.get(package, 0) + self._passed_over[package]

    def eager(self) -> dict[NormalizedName, None]:
        """Return the projects that lost so many decisions that they were decided before others."""
        lost = {**self._conflicts, **self._passed_over}
        return {base_name(node): None for node in lost if self._lost(node) >= _EAGER_CONFLICTS}

    def _tell(self, package: str, position: int, node: str, positions: Positions) -> None:
        self._told.add((package, position))
        terms = [Term(package, Positions.singleton(position)), Term(node, positions, positive=False)]
        # A clause has one term for a package: of a version that asks for another one of its own project, its own.
        of_itself = positions if node == package else None
        clause = terms if of_itself is None else terms[:1]
        self._pending.append(Incompatibility(clause, IncompatibilityCause.DEPENDENCY, dependency_range=of_itself))

    def _tell_of_many(self, package: str, node: str) -> None:
        """Tell, before a conflict with a decision, of all the next versions that do not go with it either.

        A conflict a version is how hundreds of versions that ask for the same would be left one by one. How far ahead
        metadata is looked at grows with what the project has lost.
        """
        name = base_name(package)
        nodes = {other for other in (*self._conflicts, *self._passed_over) if base_name(other) == name}
        lost = sum(map(self._lost, nodes))
        ahead = next((count for least, count in _AHEAD if lost >= least), 0)
        if not ahead:
            return
        self._graph.prefetch(name, self._open, ahead)
        left, asked, mask = bits_of(self._ranges[node]), 0, 0
        for other in islice(positions_of(self._open), ahead):
            if self._graph.usable(name, other):
                wanted = self.get_dependencies(package, other).get(node)
                if wanted is not None and not wanted.bits & left:
                    mask |= 1 << other
                    asked |= wanted.bits
        if mask & (mask - 1):
            terms = [Term(package, Positions(mask)), Term(node, Positions(asked), positive=False)]
            self._pending.append(Incompatibility(terms, cause=IncompatibilityCause.DEPENDENCY))
            self._tie_extras(package, mask)
            if (package, node) not in self._swapped:
                self._swapped.add((package, node))
                self._targets.append(node)

    def _tie_extras(self, package: str, mask: int) -> None:
        """Tell that a project's extras go where it goes: what is told of many of its versions is told of theirs."""
        for extra in self._extras.get(package, ()):
            terms = [Term(extra, Positions(mask)), Term(package, Positions(mask), positive=False)]
            self._pending.append(Incompatibility(terms, cause=IncompatibilityCause.DEPENDENCY))

    def consume_force_backtrack_targets(self) -> list[str]:
        """Hand over the projects that are to be decided anew, after those that they keep from their new versions."""
        targets, self._targets = self._targets, []
        return targets

    def has_satisfying_version(self, package: str, version_range: RangeProtocol[int]) -> bool:
        """Return whether a version would be found."""
        return self.choose_version(package, version_range) is not None

    def get_dependencies(self, package: str, version: int) -> Mapping[str, Positions]:
        """Return what a version demands, several demands on one project intersected."""
        key = (package, version)
        found = self._dependencies.get(key)
        if found is None:
            found = self._dependencies[key] = self._demands(package, version)
        return found[0]

    def _demands(self, package: str, version: int) -> Asked:
        found, is_new = asked_by(self._view, package, version)
        for node in found[0]:
            self._order.setdefault(base_name(node), len(self._order))
        if is_new:
            for node, positions in found[0].items():
                self._graph.prefetch(base_name(node), positions.bits & self._given.get(node, -1))
        self._alike[package, found[1]] = self._alike.get((package, found[1]), 0) | 1 << version
        return found

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
        bits = bits_of(version_range)
        order = self._place(package)
        if bits >= 0 and not bits & (bits - 1):
            return (0, 0, order)
        lost = self._lost(package)
        return (1, -lost if lost >= _EAGER_CONFLICTS else 0, order)

    def _place(self, package: str) -> tuple[int, bool]:
        """Return where a node stands in the order of discovery, an extra right before its own project.

        So a version is found that all its extras agree with; the project's turn comes when one is left.
        """
        name = base_name(package)
        if name != package:
            self._extras.setdefault(name, {})[package] = None
        return self._order.setdefault(name, len(self._order)), name == package

    def widen_decision(self, package: str, version: int) -> Positions | None:
        """Speak for every version seen so far that makes the same demands."""
        found = self._dependencies.get((package, version))
        return None if found is None else Positions(self._alike[package, found[1]])

    def consume_pending_clauses(self) -> list[Incompatibility[str, int]]:
        """Hand over what is told: at first what is known from other searches, and the constraints."""
        pending, self._pending = self._pending, []
        return pending
