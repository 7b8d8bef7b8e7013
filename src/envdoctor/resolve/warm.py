"""A first walk that only fetches: breadth first, everything of one depth at once, for network time is what counts."""

from __future__ import annotations

from collections.abc import Sequence

from packaging.utils import NormalizedName

from envdoctor.resolve.lines import Line
from envdoctor.resolve.positions import highest
from envdoctor.resolve.universe import Universe, base_name, nodes_of

__all__ = ["warm"]


def warm(universe: Universe, lines: Sequence[Line]) -> None:
    """Fetch the pages and metadata that a search will look at first.

    Per project only the newest version that all demands met so far admit; no version is looked at here that a
    search without conflicts would not look at.
    """
    universe.index.prefetch_pages({line.requirement.name for line in lines})
    allowed: dict[str, int] = {}
    frontier: list[str] = []
    for line in lines:
        requirement = line.requirement
        bits = universe.bits(requirement.name, requirement.specifier)
        for node in nodes_of(requirement.name, requirement.extras):
            allowed[node] = allowed.get(node, bits) & bits or allowed.get(node, bits)
            if not line.constraint and node not in frontier:
                frontier.append(node)
    seen = set(frontier)
    while frontier:
        # What has one version left goes first: its demands may narrow the others.
        pinned = [node for node in frontier if not allowed[node] & (allowed[node] - 1)]
        turn = pinned or frontier
        frontier = [node for node in frontier if node not in turn] if pinned else []
        chosen = [(node, bits) for node in turn if (bits := _newest(universe, node, allowed[node]))]
        for node, bits in chosen:
            universe.prefetch(base_name(node), bits)
        universe.index.prefetch_pages(_names(universe, chosen))
        for node, bits in chosen:
            for edge in universe.edges(node, highest(bits)):
                known = allowed.get(edge.dependency, edge.bits)
                allowed[edge.dependency] = known & edge.bits or known
                if edge.dependency not in seen:
                    seen.add(edge.dependency)
                    frontier.append(edge.dependency)


def _newest(universe: Universe, node: str, bits: int) -> int:
    candidates = universe.candidates(base_name(node))
    bits &= candidates.all
    return 0 if candidates.opaque or not bits else 1 << highest(bits)


def _names(universe: Universe, chosen: Sequence[tuple[str, int]]) -> set[NormalizedName]:
    """Return the projects that the chosen versions ask for, whose pages are wanted next."""
    return {name for node, bits in chosen for name in universe.asks_for(node, highest(bits))}
