"""What one search proved and the next need not find out again.

A clause that conflict resolution learned follows from the facts in its derivation. Where none of these is a demand
of a person, it holds for every choice of lines; and where none is a demand of a distribution that is set aside, it
holds under that relaxation too. The searches of one diagnosis differ in little else, so most of their conflicts are
the same ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from nab_resolver.types import Incompatibility, IncompatibilityCause
from packaging.utils import NormalizedName

from envdoctor.resolve.engine import ANY_OWNER
from envdoctor.resolve.universe import base_name

__all__ = ["Lessons"]

Clause: TypeAlias = Incompatibility[str, int]
Relaxed: TypeAlias = Mapping[tuple[NormalizedName, NormalizedName], int | None]
Pair: TypeAlias = tuple[NormalizedName, NormalizedName]

_MOST = 400
"""Clauses kept: each costs a little in every search."""


class Lessons:
    """Learned clauses of one universe."""

    def __init__(self) -> None:
        self._clauses: dict[object, tuple[Clause, frozenset[Pair]]] = {}

    def take(self, clauses: Iterable[Clause], relaxed: Relaxed) -> None:
        """Keep what a search learned under a relaxation."""
        for clause in clauses:
            if clause.cause is IncompatibilityCause.DERIVED and len(self._clauses) < _MOST:
                key = frozenset((term.package, term.constraint, term.is_positive()) for term in clause.terms)
                if key not in self._clauses:
                    facts = _facts(clause)
                    if facts is not None and not _touched(facts, relaxed):
                        self._clauses[key] = (clause, facts)

    def under(self, relaxed: Relaxed) -> list[Clause]:
        """Return what holds under a relaxation."""
        return [clause for clause, facts in self._clauses.values() if not relaxed or not _touched(facts, relaxed)]


def _facts(clause: Clause) -> frozenset[Pair] | None:
    """Return the demands that a derivation used, as ``(owner, dependency)``; None where it used one of a person."""
    found: set[Pair] = set()
    node: Incompatibility[Any, Any]
    for node in clause.walk():
        if node.origin is not None or node.cause is IncompatibilityCause.ROOT:
            return None
        if node.cause is IncompatibilityCause.DEPENDENCY:
            found.add((base_name(node.terms[0].package), base_name(node.terms[-1].package)))
    return frozenset(found)


def _touched(facts: frozenset[Pair], relaxed: Relaxed) -> bool:
    return any(pair in relaxed or (ANY_OWNER, pair[1]) in relaxed for pair in facts)
