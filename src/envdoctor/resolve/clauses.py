"""Positions and clauses as the search engine wants them, what it has learned, and versions that can never be taken."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from nab_resolver.root import ROOT
from nab_resolver.types import Incompatibility, IncompatibilityCause, RangeRelation, Term
from packaging.utils import NormalizedName

from envdoctor.resolve.dependency_graph import DependencyGraph
from envdoctor.resolve.edges import base_name, highest, positions_of
from envdoctor.resolve.solver import ANY_OWNER, Demand, View

__all__ = ["Asked", "Barren", "Clause", "Lessons", "Positions", "asked_by", "bits_of", "constraint_clause", "proof_of"]

_FEW = 16
"""Where a demand leaves at most this many versions of a project, what each of them asks for is looked at, too."""
_DEEP = 4
"""How many demands deep that goes: what these versions ask for, what those that are asked for ask for, ..."""


class Barren:
    """Versions that cannot be taken, whatever else is: what a search knows of them.

    Told before a version is decided: a conflict about it would throw away every decision that there is. Only what was
    read already is looked into, and once.
    """

    def __init__(self, graph: DependencyGraph, demands: Callable[[str, int], Mapping[str, Positions]]) -> None:
        self._graph = graph
        self._demands = demands
        self._known: dict[str, int] = {}
        self._why: dict[tuple[str, int], str] = {}
        """By version that is known: what it asks for, as it was found first. Found again, a version that asks for its
        own project would be its own reason."""
        self._narrow: dict[tuple[str, int], tuple[str, ...]] = {}
        """By version: what it asks for of which few versions are left."""
        self._looked_into: set[tuple[str, int]] = set()

    def demand(self, package: str, position: int, deep: int = _DEEP) -> str | None:
        """Return what a version asks for that nothing can be taken for, None where nothing of the kind is known."""
        key = (package, position)
        if key in self._why:
            return self._why[key]
        demands = self._demands(package, position)
        if key not in self._narrow:
            self._narrow[key] = tuple(node for node, found in demands.items() if found.bits.bit_count() <= _FEW)
        known = [] if self._known.keys().isdisjoint(demands) else [node for node in demands if node in self._known]
        for node in dict.fromkeys((*self._narrow[key], *known)) if known else self._narrow[key]:
            left = demands[node].bits & self._graph.candidates(base_name(node)).all & ~self._known.get(node, 0)
            if left and (node, highest(left)) in self._looked_into:
                continue  # The newest is none.
            few = deep and left.bit_count() <= _FEW
            if not left or (few and all(self._is_barren(node, one, deep - 1) for one in positions_of(left))):
                self._known[package] = self._known.get(package, 0) | 1 << position
                return self._why.setdefault(key, node)
        return None

    def is_known(self, package: str, position: int) -> bool:
        """Return whether it is known that a version cannot be taken."""
        return bool(self._known.get(package, 0) >> position & 1)

    def _is_barren(self, node: str, position: int, deep: int) -> bool:
        name = base_name(node)
        if (name, position) in self._graph.unreadable:
            return not (self._graph.usable(name, position) or self._graph.hoped_for(name, position))
        if (node, position) in self._looked_into or not self._graph.loaded(name, position):
            return False
        self._looked_into.add((node, position))
        return self.demand(node, position, deep) is not None


class Positions:
    """An immutable set of positions, as the search engine wants its version ranges."""

    __slots__ = ("bits",)

    def __init__(self, bits: int) -> None:
        self.bits = bits

    @classmethod
    def empty(cls) -> Positions:
        """Return the set of no positions."""
        return cls(0)

    @classmethod
    def full(cls) -> Positions:
        """Return the set of all positions."""
        return cls(-1)

    @classmethod
    def singleton(cls, version: int) -> Positions:
        """Return the set of one position."""
        return cls(1 << version)

    @property
    def is_empty(self) -> bool:
        """Whether no position is in the set."""
        return self.bits == 0

    def __contains__(self, version: object) -> bool:
        return isinstance(version, int) and bool(self.bits >> version & 1)

    def __and__(self, other: object) -> Positions:
        return Positions(self.bits & bits_of(other))

    def __or__(self, other: object) -> Positions:
        return Positions(self.bits | bits_of(other))

    def __invert__(self) -> Positions:
        return Positions(~self.bits)

    def __sub__(self, other: object) -> Positions:
        return Positions(self.bits & ~bits_of(other))

    def is_subset(self, other: Positions) -> bool:
        """Return whether every position is in ``other`` too."""
        return not self.bits & ~other.bits

    def is_superset(self, other: Positions) -> bool:
        """Return whether every position of ``other`` is here too."""
        return not other.bits & ~self.bits

    def is_disjoint(self, other: Positions) -> bool:
        """Return whether no position is in both."""
        return not self.bits & other.bits

    def relation(self, other: Positions) -> RangeRelation:
        """Return how this set's members sit against the other's."""
        common = self.bits & other.bits
        if not common:
            return RangeRelation.DISJOINT if self.bits else RangeRelation.EMPTY
        return RangeRelation.SUBSET if common == self.bits else RangeRelation.OVERLAPPING

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Positions) and self.bits == other.bits

    def __hash__(self) -> int:
        return hash(self.bits)

    def __repr__(self) -> str:
        return f"Positions({self.bits:#b})"


def bits_of(other: object) -> int:
    """Return the bits of a set of positions that the engine hands back."""
    if not isinstance(other, Positions):
        raise TypeError(f"not a set of positions: {other!r}")
    return other.bits


Asked: TypeAlias = tuple[Mapping[str, Positions], frozenset[tuple[str, int]]]
"""What a version asks for by node, and the same as a value that versions can be compared by."""


def asked_by(view: View, node: str, position: int) -> tuple[Asked, bool]:
    """Return what a version asks for, several demands on one node as one; and whether nobody had asked before.

    It is kept for all searches of the graph where nothing of it may be set aside.
    """
    name, graph = base_name(node), view.graph
    plain = not any(owner in (name, ANY_OWNER) for owner, _ in view.relaxed)
    known = graph.asked.get((node, position)) if plain else None
    if known is not None:
        return known, False
    merged: dict[str, int] = {}
    for edge in view.edges(node, position):
        both = merged.get(edge.dependency, -1) & edge.bits
        merged[edge.dependency] = both or graph.candidates(base_name(edge.dependency)).ghost
    found = {node: Positions(bits) for node, bits in merged.items()}, frozenset(merged.items())
    if plain:
        graph.asked[node, position] = found
    return found, True


Clause: TypeAlias = Incompatibility[str, int]
Relaxed: TypeAlias = Mapping[tuple[NormalizedName, NormalizedName], int | None]
Pair: TypeAlias = tuple[NormalizedName, NormalizedName]

_MOST = 400
"""Clauses kept: each costs a little in every search."""


_KEPT = (IncompatibilityCause.DERIVED, IncompatibilityCause.NO_VERSIONS)
"""Not demands: told of them beforehand, a search no longer sees which decision keeps many versions out, to undo it."""


class Lessons:
    """Learned clauses of one graph, each with what it rests on."""

    def __init__(self) -> None:
        self._clauses: dict[object, tuple[Clause, frozenset[Pair], frozenset[Demand]]] = {}
        self.eager: dict[NormalizedName, None] = {}
        """Projects that lost so many decisions, on the way to an answer, that they had to be decided before others."""

    def take(self, clauses: Iterable[Clause], relaxed: Relaxed) -> None:
        """Keep what a search learned under a relaxation."""
        for clause in clauses:
            if clause.cause in _KEPT and len(self._clauses) < _MOST:
                key = frozenset((term.package, term.constraint, term.is_positive()) for term in clause.terms)
                known = self._clauses.get(key)
                if known is None or known[2]:
                    pairs, lines = _facts(clause)
                    if not _touched(pairs, relaxed) and (known is None or lines < known[2]):
                        self._clauses[key] = (clause, pairs, lines)

    def under(self, asked: Iterable[Demand], relaxed: Relaxed) -> list[Clause]:
        """Return what holds under these demands of people, and a relaxation."""
        there = frozenset(asked)
        return [
            clause
            for clause, pairs, lines in self._clauses.values()
            if lines <= there and not (relaxed and _touched(pairs, relaxed))
        ]


def _facts(clause: Clause) -> tuple[frozenset[Pair], frozenset[Demand]]:
    """Return the demands that a derivation used: those of metadata as ``(owner, dependency)``, and those of people."""
    pairs: set[Pair] = set()
    lines: set[Demand] = set()
    node: Incompatibility[Any, Any]
    for node in clause.walk():
        if node.origin is not None:
            lines.add(node.origin)
        elif node.cause is IncompatibilityCause.DEPENDENCY:
            pairs.add((base_name(node.terms[0].package), base_name(node.terms[-1].package)))
    return frozenset(pairs), frozenset(lines)


def _touched(facts: frozenset[Pair], relaxed: Relaxed) -> bool:
    return any(pair in relaxed or (ANY_OWNER, pair[1]) in relaxed for pair in facts)


def constraint_clause(demand: Demand) -> Clause:
    """Return the clause of a bound: its node goes where the demand admits it, if anything asks for it at all."""
    terms: list[Term[Any, int]] = [
        Term(ROOT, Positions.singleton(1), positive=True),
        Term(demand.node, ~Positions(demand.bits), positive=True),
    ]
    # The engine's own report wants one term of a CONSTRAINT clause; as a dependency of the root it may have two.
    return Incompatibility(terms, cause=IncompatibilityCause.DEPENDENCY, origin=demand)


def proof_of(incompatibility: Incompatibility[Any, Any]) -> tuple[Demand, ...]:
    """Return the demands that a refutation rests on; a clause of people's has theirs as its origin."""
    found: dict[Demand, None] = {}
    for clause in incompatibility.walk():
        if clause.origin is not None:
            found[clause.origin] = None
        elif clause.cause is IncompatibilityCause.DEPENDENCY:
            owner, wanted = clause.terms[0], clause.terms[-1]
            bits = clause.dependency_range if wanted is owner else wanted.constraint
            owner_bits = bits_of(owner.constraint)
            found[Demand(wanted.package, bits_of(bits), owner=owner.package, owner_bits=owner_bits)] = None
    return tuple(found)
