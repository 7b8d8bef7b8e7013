"""What cannot hold together, and the smallest repairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envdoctor.render.conflict_wording import (
    bystanders,
    chain,
    override_text,
    placed,
    rejection_lines,
    remedy_text,
    resolves_text,
    source_text,
    truncation_text,
)
from envdoctor.render.human.canvas import cell_width
from envdoctor.render.wording import count, joined, restated, versions

if TYPE_CHECKING:
    from envdoctor.model.conflict import Clash, Conflict
    from envdoctor.model.repair import Repair
    from envdoctor.model.report import Report
    from envdoctor.render.human.canvas import Canvas

__all__ = ["write_conflicts", "write_repairs"]

_SHOWN_WHOLE = 6
"""Conflicts beyond these take one line each, unless everything is asked for."""
_SHOWN_REPAIRS = 3
_SHOWN_REASONS = 3


def write_conflicts(canvas: Canvas, report: Report) -> None:
    """Write a block for each conflict: its members with their places, and the chains down to the clash."""
    whole = len(report.conflicts) if canvas.verbose else _SHOWN_WHOLE
    for conflict in report.conflicts[:whole]:
        _write_conflict(canvas, report, conflict)
    folded = report.conflicts[whole:]
    if folded:
        canvas.blank()
        canvas.line(f"{count(len(folded), 'more conflict')}, in short; --verbose shows the chains")
    for conflict in folded:
        canvas.line(
            (conflict.id, "strong"), f" {joined([placed(item) for item in conflict.core])}", first="  ", rest="     "
        )
    if report.conflicts_truncated:
        canvas.blank()
        canvas.line(truncation_text(report))


def _write_conflict(canvas: Canvas, report: Report, conflict: Conflict) -> None:
    canvas.blank()
    finding = restated(report, conflict)
    accepted = finding is not None and finding.waived is not None
    alone = len(conflict.core) == 1
    title = "this cannot be met on the target" if alone else "these cannot hold together"
    kind = ("accepted conflict", "dim") if accepted else ("conflict", "error")
    canvas.line(kind, " ", (conflict.id, "strong"), f": {title}")
    canvas.columns("    ", [((str(item), "code"), (str(item.origin), "dim")) for item in conflict.core])
    if len(conflict.clash.sides) > 1 or conflict.clash.sides[0].via:
        canvas.line(
            "they disagree on " if not alone else "it leads to ", (conflict.clash.package, "strong"), first="  "
        )
        canvas.tree([chain(conflict, side) for side in conflict.clash.sides], "  ")
    others = bystanders(conflict)
    if others and not alone:
        canvas.line(f"and {joined(others)} {'rules' if len(others) == 1 else 'rule'} out every other way", first="  ")
    _write_availability(canvas, conflict.clash)
    advice = remedy_text(report, conflict)
    if advice:
        canvas.line(("try", "good"), f": {advice}", first="  ", rest="    ")


def _write_availability(canvas: Canvas, clash: Clash) -> None:
    reasons = rejection_lines(clash)
    shown = len(reasons) if canvas.verbose else _SHOWN_REASONS
    for reason in reasons[:shown]:
        canvas.line(reason, first="  - ")
    if len(reasons) > shown:
        canvas.line(f"and {count(len(reasons) - shown, 'more reason')}; --verbose shows them", first="  - ")
    if clash.available:
        oldest_first = list(reversed(clash.available))
        canvas.line(f"this target can have {clash.package} {versions(oldest_first)}", first="  ", rest="    ")


def write_repairs(canvas: Canvas, report: Report) -> None:
    """Write the repairs, each with what it replaces, what results, and what to mind."""
    if not report.repairs:
        return
    canvas.blank()
    canvas.line(("smallest repairs", "strong"))
    in_use = report.repairs_in_use
    shown = len(report.repairs) if canvas.verbose else _SHOWN_REPAIRS
    chosen = [item for item in report.repairs[shown:] if item.id in in_use or item.from_profile]
    listed = [*report.repairs[:shown], *chosen]
    for repair in listed:
        _write_repair(canvas, report, repair, in_use=repair.id in in_use)
    hidden = len(report.repairs) - len(listed)
    if hidden > 0:
        canvas.line(f"{count(hidden, 'more repair')}; --verbose shows them", first="  ")


def _write_repair(canvas: Canvas, report: Report, repair: Repair, *, in_use: bool) -> None:
    marks = [
        resolves_text(report, repair),
        source_text(report, repair),
        "in use" if in_use else "",
        "" if repair.verified else "not verified",
    ]
    canvas.line((repair.id, "strong"), f"  {', '.join(filter(None, marks))}", first="  ")
    for override in repair.overrides:
        written = override_text(override)
        canvas.line(written.action, first="    - ")
        for aside in written.aside:
            canvas.line(f"sets aside {aside}", first="      ", rest="        ")
        if written.because:
            because = canvas.plain(f"because {written.because}")
            canvas.line((because if canvas.verbose else _in_one_line(because, canvas.width - 6), "dim"), first="      ")
    if repair.changes:
        moved = ", ".join(f"{item.name} {item.before} -> {item.after}" for item in repair.changes)
        canvas.line(f"result: {moved}", first="    ", rest="      ")
    for caution in repair.cautions:
        canvas.line(("caution", "warning"), f": {caution}", first="    ", rest="      ")


def _in_one_line(text: str, cells: int) -> str:
    """Return a text of at most this many cells: its last clauses, or words, give way to dots."""
    if cell_width(text) <= cells:
        return text
    kept = ""
    for word in text.split():
        longer = f"{kept} {word}".strip()
        if cell_width(longer) + 4 > cells:
            break
        kept = longer
    clause = max(kept.rfind(mark) for mark in (", ", "; ", ": "))
    if clause > len(kept) // 2:
        kept = kept[:clause]
    return f"{kept.rstrip(',;:')} ..."
