"""The part of the HTML page with conflicts and the repairs of them."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

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
from envdoctor.render.html_graph import conflict_graph
from envdoctor.render.html_parts import code, listing, section, text_of
from envdoctor.render.untrusted import shown
from envdoctor.render.wording import joined, versions

if TYPE_CHECKING:
    from envdoctor.model.conflict import Conflict
    from envdoctor.model.repair import FileChange, Repair
    from envdoctor.model.report import Report
    from envdoctor.render import RenderOptions

__all__ = ["conflicts_section", "repairs_section"]


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
    reasons = [f"{joined([code(item) for item in others])} leaves no other version"] if others else []
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
