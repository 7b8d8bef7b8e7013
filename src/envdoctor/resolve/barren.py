"""Versions that cannot be taken whatever else is: they ask for something of which no version can be."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from envdoctor.resolve.clauses import Positions
from envdoctor.resolve.dependency_graph import DependencyGraph
from envdoctor.resolve.edges import base_name, highest, positions_of

__all__ = ["Barren"]

_FEW = 16
"""Where no more versions are left of a project, they are looked into for what they cannot have."""
_DEEP = 4
"""How far that goes: what they ask for, what those ask for, ..."""


class Barren:
    """What a search knows of them.

    Told before a version is decided: a conflict about it would throw away every decision that there is. Only what was
    read already is looked into, and once.
    """

    def __init__(self, graph: DependencyGraph, demands: Callable[[str, int], Mapping[str, Positions]]) -> None:
        self._graph = graph
        self._demands = demands
        self._known: dict[str, int] = {}
        self._narrow: dict[tuple[str, int], tuple[str, ...]] = {}
        """By version: what it asks for of which few versions are left."""
        self._looked_into: set[tuple[str, int]] = set()

    def demand(self, package: str, position: int, deep: int = _DEEP) -> str | None:
        """Return what a version asks for that nothing can be taken for, None where nothing of the kind is known."""
        demands = self._demands(package, position)
        key = (package, position)
        if key not in self._narrow:
            self._narrow[key] = tuple(node for node, found in demands.items() if found.bits.bit_count() <= _FEW)
        known = [node for node in demands if node in self._known] if self._known else []
        for node in dict.fromkeys((*self._narrow[key], *known)):
            left = demands[node].bits & self._graph.candidates(base_name(node)).all & ~self._known.get(node, 0)
            if left and (node, highest(left)) in self._looked_into:
                continue  # The newest is none.
            few = deep and left.bit_count() <= _FEW
            if not left or (few and all(self._is_barren(node, one, deep - 1) for one in positions_of(left))):
                self._known[package] = self._known.get(package, 0) | 1 << position
                return node
        return None

    def is_known(self, package: str, position: int) -> bool:
        """Return whether a version was found to be one."""
        return bool(self._known.get(package, 0) >> position & 1)

    def _is_barren(self, node: str, position: int, deep: int) -> bool:
        name = base_name(node)
        if (name, position) in self._graph.unreadable:
            return not (self._graph.usable(name, position) or self._graph.hoped_for(name, position))
        if (node, position) in self._looked_into or not self._graph.loaded(name, position):
            return False
        self._looked_into.add((node, position))
        return self.demand(node, position, deep) is not None
