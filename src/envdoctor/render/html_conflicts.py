"""The part of the HTML page with conflicts, each as a graph too, and the repairs of them."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import pairwise

from envdoctor.model.conflict import ClashSide, Conflict
from envdoctor.model.dataclass import dataclass
from envdoctor.model.finding import in_words
from envdoctor.model.origin import DistributionOrigin
from envdoctor.model.repair import FileChange, Repair
from envdoctor.model.report import Report
from envdoctor.render import RenderOptions
from envdoctor.render.conflict_wording import (
    accepted_text,
    bystanders,
    chain,
    override_text,
    rejection_lines,
    remedy_text,
    resolves_text,
    source_text,
    truncation_text,
)
from envdoctor.render.html_parts import code, listing, section, text_of
from envdoctor.render.untrusted import one_line, shown
from envdoctor.render.wording import count as counted
from envdoctor.render.wording import versions

__all__ = ["conflicts_section", "repairs_section"]

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


def conflicts_section(report: Report) -> str:
    """Return every conflict: its lines, the chains that lead to it and why no version is left."""
    blocks = "\n".join(_conflict(report, item) for item in report.conflicts)
    more = f"<p>{truncation_text(report)}.</p>" if report.conflicts_truncated else ""
    return section("Conflicts", blocks + more)


def _conflict(report: Report, conflict: Conflict) -> str:
    members = listing(f"{code(str(item))} <span>{text_of(str(item.origin))}</span>" for item in conflict.core)
    clash = conflict.clash
    alone = len(conflict.core) == 1
    title = "cannot be installed on the target" if alone else "cannot be installed together"
    ways = [chain(conflict, side) for side in clash.sides]
    tree = listing(_branch(way) for way in ways) if any(len(way) > 1 for way in ways) or len(ways) > 1 else ""
    lead = f"They need different versions of {code(clash.package)}" if tree and not alone else ""
    graph = conflict_graph(conflict)
    if graph:
        graph = f"<figure><figcaption>{lead}</figcaption>{graph}</figure>"
        tree = f"<details><summary>The same in words</summary>{tree}</details>"
    elif lead:
        tree = f"<p>{lead}:</p>{tree}"
    others = [] if alone else bystanders(conflict)
    reasons = [f"{in_words([code(item) for item in others])} leaves no other version"] if others else []
    reasons += [text_of(reason) for reason in rejection_lines(clash)]
    if clash.available:
        reasons.append(f"this target can have {code(clash.package)} {text_of(versions(clash.available[::-1]))}")
    accepted = accepted_text(report, conflict)
    kind, find = ("info", "note") if accepted else ("error", "error")
    members += f"\n<p>{text_of(accepted)}</p>" if accepted else ""
    return (
        f'<article class="{kind}" data-find="{find}"><h3>{text_of(conflict.id)}: {title}</h3>\n'
        f"{members}\n{graph}{tree}{listing(reasons)}{_advice(report, conflict)}</article>"
    )


def _advice(report: Report, conflict: Conflict) -> str:
    advice = remedy_text(report, conflict)
    return f"<p><strong>Try</strong>: {text_of(advice)}</p>" if advice else ""


def _branch(steps: Sequence[str]) -> str:
    first, *others = steps
    return text_of(first) + (f"<ul><li>{_branch(others)}</li></ul>" if others else "")


def repairs_section(report: Report, options: RenderOptions) -> str:
    """Return the smallest repairs side by side, each with what it changes in files."""
    in_use = report.repairs_in_use
    cards = "\n".join(_repair(report, item, in_use, options) for item in report.repairs)
    return section("Smallest repairs", f'<div class="cards">\n{cards}\n</div>' if cards else "")


def _repair(report: Report, repair: Repair, in_use: frozenset[str], options: RenderOptions) -> str:
    marks = [resolves_text(report, repair)] if repair.resolves else []
    marks += [*filter(None, [source_text(report, repair)]), *["in use"] * (repair.id in in_use)]
    marks += [] if repair.verified else ["not verified"]
    actions = []
    for override in repair.overrides:
        written = override_text(override)
        asides = listing(f"sets aside {text_of(aside)}" for aside in written.aside)
        because = f' <span class="dim">{text_of(written.because)}</span>' if written.because else ""
        actions.append(text_of(written.action) + because + asides)
    changes = [f"{code(item.name)} {text_of(f'{item.before} to {item.after}')}" for item in repair.changes]
    result = f"<p>Result: {', '.join(changes)}</p>" if changes else ""
    cautions = "".join(f"<p><strong>Caution:</strong> {text_of(item)}</p>" for item in repair.cautions)
    diffs = "".join(_diff(change) for change in options.repair_changes.get(repair.id, ()))
    command = f"<pre><code>{escape(repair.command)}</code></pre>" if repair.command else ""
    used = ' class="used"' if repair.id in in_use else ""
    return (
        f'<article{used} data-find="repair"><h3>{text_of(repair.id)}: {text_of(", ".join(marks))}</h3>\n'
        f"{listing(actions)}{result}{cautions}{diffs}{command}</article>"
    )


def _diff(change: FileChange) -> str:
    """Return the lines of a file that a repair changes; their neighbours are nobody's business."""
    rows = []
    for row in change.diff().splitlines()[2:]:
        tag = {"+": "ins", "-": "del"}.get(row[:1])
        if tag:
            rows.append(f"<{tag}>{escape(shown(row[1:]))}</{tag}>")
    return f'<p class="dim">{code(change.path)}</p><pre class="diff">{"".join(rows)}</pre>' if rows else ""
