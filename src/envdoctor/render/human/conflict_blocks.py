"""What cannot be installed together, and the smallest repairs."""

from __future__ import annotations

from envdoctor.model.conflict import Clash, Conflict
from envdoctor.model.finding import in_words
from envdoctor.model.repair import Repair
from envdoctor.model.report import Report
from envdoctor.render.conflict_wording import (
    accepted_text,
    bystanders,
    chain,
    explanation_of,
    override_text,
    placed,
    rejection_lines,
    remedy_text,
    resolves_text,
    source_text,
    truncation_text,
)
from envdoctor.render.human.console import Page
from envdoctor.render.wording import count, versions

__all__ = ["write_conflicts", "write_repairs"]

_SHOWN_WHOLE = 6
"""Conflicts beyond these take one line each, unless everything is asked for."""
_SHOWN_REPAIRS = 3
_SHOWN_REASONS = 3


def write_conflicts(page: Page, report: Report) -> None:
    """Write a block for each conflict: its members with their places, and the chains down to the clash."""
    whole = len(report.conflicts) if _is_told_whole(page, report) else _SHOWN_WHOLE
    for conflict in report.conflicts[:whole]:
        _write_conflict(page, report, conflict)
    folded = report.conflicts[whole:]
    if folded:
        page.blank()
        page.line(f"{count(len(folded), 'more conflict')}, in short; --verbose shows the chains")
    for conflict in folded:
        page.line(
            (conflict.id, "strong"), f" {in_words([placed(item) for item in conflict.core])}", first="  ", rest="     "
        )
    if report.conflicts_truncated:
        page.blank()
        page.line(truncation_text(report))


def _write_conflict(page: Page, report: Report, conflict: Conflict) -> None:
    page.blank()
    accepted = accepted_text(report, conflict)
    alone = len(conflict.core) == 1
    title = "this cannot be installed on the target" if alone else "these cannot be installed together"
    kind = ("accepted conflict", "dim") if accepted else ("conflict", "error")
    page.line(kind, " ", (conflict.id, "strong"), f": {title}")
    page.columns([((str(item), "code"), page.place(item.origin)) for item in conflict.core], 4, whole=True)
    if accepted:
        page.line(accepted, first="  ", rest="    ")
    if len(conflict.clash.sides) > 1 or conflict.clash.sides[0].via:
        says = "they need different versions of " if not alone else "it leads to "
        page.tree(
            (says, (conflict.clash.package, "strong")), [chain(conflict, side) for side in conflict.clash.sides], 2
        )
    others = bystanders(conflict)
    if others and not alone:
        page.line(f"and {in_words(others)} {'leaves' if len(others) == 1 else 'leave'} no other version", first="  ")
    _write_availability(page, conflict.clash, whole=_is_told_whole(page, report))
    if report.command == "explain":
        for text in explanation_of(conflict):
            page.line(text, first="  ", rest="    ")
    advice = remedy_text(report, conflict)
    if advice:
        page.line(("try", "good"), f": {advice}", first="  ", rest="    ")


def _is_told_whole(page: Page, report: Report) -> bool:
    return page.verbose or report.command == "explain"


def _write_availability(page: Page, clash: Clash, *, whole: bool) -> None:
    reasons = rejection_lines(clash)
    shown = len(reasons) if whole else _SHOWN_REASONS
    for reason in reasons[:shown]:
        page.line(reason, first="  - ")
    if len(reasons) > shown:
        page.line(f"and {count(len(reasons) - shown, 'more reason')}; --verbose shows them", first="  - ")
    if clash.available:
        oldest_first = list(reversed(clash.available))
        page.line(f"this target can have {clash.package} {versions(oldest_first)}", first="  ", rest="    ")


def write_repairs(page: Page, report: Report) -> None:
    """Write the repairs, each with what it replaces, what results, and what to mind."""
    if not report.repairs:
        return
    page.blank()
    page.line(("smallest repairs", "strong"))
    in_use = report.repairs_in_use
    shown = len(report.repairs) if _is_told_whole(page, report) else _SHOWN_REPAIRS
    chosen = [item for item in report.repairs[shown:] if item.id in in_use or item.from_profile]
    listed = [*report.repairs[:shown], *chosen]
    for repair in listed:
        _write_repair(page, report, repair, in_use=repair.id in in_use)
    hidden = len(report.repairs) - len(listed)
    if hidden > 0:
        page.line(f"{count(hidden, 'more repair')}; --verbose shows them", first="  ")


def _write_repair(page: Page, report: Report, repair: Repair, *, in_use: bool) -> None:
    marks = [
        resolves_text(report, repair),
        source_text(report, repair),
        "in use" if in_use else "",
        "" if repair.verified else "not verified",
    ]
    page.line((repair.id, "strong"), f"  {', '.join(filter(None, marks))}", first="  ")
    for override in repair.overrides:
        written = override_text(override)
        page.line(written.action, first="    - ")
        for aside in written.aside:
            page.line(f"sets aside {aside}", first="      ", rest="        ")
        if written.because:
            because = f"because {written.because}"
            whole = _is_told_whole(page, report)
            page.line((because if whole else page.cut(because, page.width - 6), "dim"), first="      ")
    if repair.changes:
        moved = ", ".join(f"{item.name} {item.before} -> {item.after}" for item in repair.changes)
        page.line(f"result: {moved}", first="    ", rest="      ")
    for caution in repair.cautions:
        page.line(("caution", "warning"), f": {caution}", first="    ", rest="      ")
    if repair.command:
        page.verbatim(repair.command, "    as a diff: ")
