"""Findings, worst first; long groups of mild ones folded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from envdoctor.model.finding import Applicability, Finding, Severity
from envdoctor.model.unknown import SubjectKind
from envdoctor.render.wording import count, evidence_text, other_findings

if TYPE_CHECKING:
    from envdoctor.model.report import Report
    from envdoctor.render.human.console import Page

__all__ = ["write_findings", "write_waived"]

_SHOWN = {Severity.ERROR: None, Severity.WARNING: 8, Severity.INFO: 3}
_WORDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_SHOWN_EVIDENCE = 3


def write_findings(page: Page, report: Report) -> None:
    """Write the open findings that are not conflicts, which have blocks of their own."""
    found = other_findings(report)
    for severity in Severity:
        group = [finding for finding in found if finding.severity is severity]
        limit = None if page.verbose else _SHOWN[severity]
        if severity is Severity.INFO and limit is not None and len(group) > limit:
            # Three notes out of fifty tell nobody anything; what is said of the whole project is read by everyone.
            group.sort(key=lambda item: item.subject_kind is not SubjectKind.PROJECT)
            limit = min(limit, sum(item.subject_kind is SubjectKind.PROJECT for item in group))
        for finding in group[:limit]:
            _write_finding(page, finding)
        if limit is not None and len(group) > limit:
            _write_folded(page, severity, group[limit:])


def _write_finding(page: Page, finding: Finding) -> None:
    page.blank()
    page.line(
        (_WORDS[finding.severity], finding.severity.value),
        f" {finding.rule} {finding.name}: ",
        (finding.subject, "strong"),
        rest="  ",
    )
    page.line(finding.message, first="  ")
    if finding.location:
        page.line(("at ", "dim"), page.place(finding.location), first="    ", rest="      ")
    shown = len(finding.evidence) if page.verbose else _SHOWN_EVIDENCE
    for item in finding.evidence[:shown]:
        page.line((evidence_text(item), "dim"), first="    ", rest="      ")
    hidden = len(finding.evidence) - shown
    if hidden > 0:
        page.line((f"and {count(hidden, 'more sign')}; --verbose shows them", "dim"), first="    ", rest="      ")
    _write_remedy(page, finding)


def _write_remedy(page: Page, finding: Finding) -> None:
    remedy = finding.remedy
    if remedy is None:
        return
    risky = " (unsafe: read it before you run it)" if remedy.applicability is Applicability.UNSAFE else ""
    page.line(("try", "good"), f": {remedy.summary}{risky}", first="  ", rest="    ")
    for command in map(str, remedy.commands):
        for line in command.splitlines():
            page.verbatim(line, "      ")


def _write_folded(page: Page, severity: Severity, findings: Sequence[Finding]) -> None:
    tally = Counter(f"{finding.rule} {finding.name}" for finding in findings)
    kinds = ", ".join(f"{rule} x{number}" if number > 1 else rule for rule, number in tally.items())
    page.blank()
    word = _WORDS[severity] if severity is Severity.INFO else f"more {_WORDS[severity]}"
    page.line(f"{count(len(findings), word)} folded; --verbose shows them: {kinds}", rest="  ")


def write_waived(page: Page, report: Report, *, listed: bool) -> None:
    """Write how many findings are accepted and, where asked for, which and by whom."""
    waived = [finding for finding in report.findings if finding.waived]
    if not waived:
        return
    page.blank()
    if not listed:
        page.line(f"{count(len(waived), 'finding')} accepted; --show-waived lists them")
        return
    page.line(f"{count(len(waived), 'finding')} accepted")
    for finding in waived:
        page.line(
            f"{finding.rule} {finding.name}: ",
            (finding.subject, "strong"),
            f" - {finding.message}",
            first="  ",
            rest="    ",
        )
        if finding.waived:
            until = f", until {finding.waived.expires}" if finding.waived.expires else ""
            page.line(f"because {finding.waived.reason} ({finding.waived.source}{until})", first="    ", rest="      ")
