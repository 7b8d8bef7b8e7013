"""A conflict as a graph: the lines that people wrote above, what leads from them down, and where the chains meet."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING

from envdoctor.model.dataclass import dataclass
from envdoctor.model.origin import DistributionOrigin
from envdoctor.render.conflict_wording import bystanders, chain
from envdoctor.render.untrusted import one_line
from envdoctor.render.wording import count as counted

if TYPE_CHECKING:
    from envdoctor.model.conflict import ClashSide, Conflict

__all__ = ["conflict_graph"]

_WIDTH, _HEIGHT, _GAP, _STEP = 224, 44, 16, 80
"""Pixels: of a box, between two boxes, and from one row to the next."""
_LETTERS = 28
_MOST_COLUMNS = 6


@dataclass(frozen=True, slots=True)
class _Node:
    text: str
    below: str
    """A second, smaller line."""
    kind: str


def conflict_graph(conflict: Conflict) -> str:
    """Return the graph as inline SVG; empty where it would show nothing, or be wider than a page."""
    ways = [_way(conflict, side) for side in conflict.clash.sides]
    ways += [[_person(conflict, text)] for text in (bystanders(conflict) if len(conflict.core) > 1 else [])]
    ways = list(dict.fromkeys(map(tuple, ways)))  # type: ignore[arg-type]
    if len(ways) < 2 or len(ways) > _MOST_COLUMNS:
        return ""
    rows = max(map(len, ways)) + 1
    width = len(ways) * (_WIDTH + _GAP) - _GAP
    meet = (width // 2, (rows - 1) * _STEP)
    drawn: list[str] = []
    lines: list[str] = []
    for column, nodes in enumerate(_together(ways)):
        middle = column * (_WIDTH + _GAP) + _WIDTH // 2
        places = [(middle, row * _STEP) for row in range(len(nodes))]
        aside = ' class="aside"' if nodes[-1].kind == "aside" else ""
        lines += [_line(start, end) for start, end in pairwise(places)]
        # Each line ends at a place of its own, so that none runs through what stands above the middle.
        end = meet[0] + int((column - (len(ways) - 1) / 2) * (_WIDTH - 24) / len(ways))
        lines.append(_line(places[-1], (end, meet[1]), aside))
        drawn += [_box(node, place) for node, place in zip(nodes, places, strict=True)]
    drawn.append(_box(_Node(conflict.clash.package, "where they meet", "meet"), meet))
    height = meet[1] + _HEIGHT + 4
    said = "; ".join(" > ".join(chain(conflict, side)) for side in conflict.clash.sides)
    return (
        f'<svg class="graph" role="img" viewBox="-2 -2 {width + 4} {height}" width="{width + 4}" height="{height}" '
        f'aria-label="{escape(one_line(said))}" font-size="14">{"".join(lines)}{"".join(drawn)}</svg>'
    )


def _together(ways: Sequence[Sequence[_Node]]) -> list[Sequence[_Node]]:
    """Return the columns with those that begin at one line beside each other."""
    first = {way[0]: number for number, way in reversed(list(enumerate(ways)))}
    return sorted(ways, key=lambda way: first[way[0]])


def _way(conflict: Conflict, side: ClashSide) -> list[_Node]:
    """Return the boxes from a person's line down to the demand."""
    top, *others = chain(conflict, side)
    demand = _Node(f"needs {side.requirement.specifier or 'any version'}", "", "demand")
    if not isinstance(side.requirement.origin, DistributionOrigin):
        return [_person(conflict, top)]
    count = len(side.versions_considered)
    more = f"and {counted(count - 1, 'other version')}" if count > 1 else ""
    steps = [_Node(name, "", "step") for name in others[:-1]]
    demanding = _Node(str(side.requirement.origin), more, "step")
    # Where the demanding package is the last name of the chain, its box says the version.
    steps = (
        [*steps[:-1], demanding] if steps and demanding.text.startswith(f"{steps[-1].text} ") else [*steps, demanding]
    )
    return [_person(conflict, top), *steps, demand]


def _person(conflict: Conflict, text: str) -> _Node:
    origin = next((item.origin for item in conflict.core if str(item) == text), None)
    told = {text_ for side in conflict.clash.sides for text_ in chain(conflict, side)[:1]}
    return _Node(text, str(origin) if origin else "", "person" if text in told else "aside")


def _line(start: tuple[int, int], end: tuple[int, int], attributes: str = "") -> str:
    (x, y), (to_x, to_y) = (start[0], start[1] + _HEIGHT), end
    bend = max(12, (to_y - y) // 2)
    return f'<path{attributes} d="M{x} {y}C{x} {y + bend} {to_x} {to_y - bend} {to_x} {to_y}"/>'


def _box(node: _Node, place: tuple[int, int]) -> str:
    x, y = place
    first = f'<text x="{x}" y="{y + (19 if node.below else 27)}">{escape(_cut(node.text))}</text>'
    second = f'<text class="small" x="{x}" y="{y + 36}" font-size="11">{escape(_cut(node.below, 36))}</text>'
    return (
        f'<g class="{node.kind}"><title>{escape(one_line(f"{node.text} {node.below}"))}</title>'
        f'<rect x="{x - _WIDTH // 2}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="6"/>'
        f"{first}{second if node.below else ''}</g>"
    )


def _cut(text: str, most: int = _LETTERS) -> str:
    """Return a text that fits into a box; the whole of it stands in the list beside the graph."""
    text = one_line(text)
    return text if len(text) <= most else f"{text[: most - 1]}\u2026"
