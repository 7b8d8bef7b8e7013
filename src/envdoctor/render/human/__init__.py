"""A terminal page that a tired person can act on: what is wrong, why, and what to type next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

from envdoctor.model.fact import FactState
from envdoctor.model.finding import Applicability, Finding, Severity
from envdoctor.model.origin import FileOrigin
from envdoctor.model.report import Report, Verdict
from envdoctor.model.resolution import ResolvedPackage
from envdoctor.model.unknown import SubjectKind
from envdoctor.render import RenderOptions
from envdoctor.render.human.console import Page, Span
from envdoctor.render.wording import (
    count,
    evidence_text,
    headline,
    judged,
    other_findings,
    python_text,
    resolution_text,
    scope_lines,
    subject_line,
)

__all__ = ["render"]

_VERDICTS = {
    Verdict.HEALTHY: ("✔", "good"),
    Verdict.DEGRADED: ("▲", "warning"),
    Verdict.BROKEN: ("✖", "error"),
    Verdict.UNKNOWN: ("?", "warning"),
}

_FEW_FACTS = 12
_NO_PLACE_BELOW = (str, int, float, bool, type(None), ResolvedPackage)
"""Of a package of a resolution nothing is left by ``cleaned`` that has one."""
_TELLING = ("].name", "].architecture", "driver.version")


def render(report: Report, options: RenderOptions) -> str:
    """Return the page."""
    page = Page(options)
    if options.folder_shown:
        report = _seen_from(report, options.folder_shown)
    _write_headline(page, report)
    if report.conflicts or report.repairs or report.conflicts_truncated:
        # Imported where there is something to write: most checks of an environment have none.
        from envdoctor.render.human.conflict_blocks import write_conflicts, write_repairs

        write_conflicts(page, report)
        write_repairs(page, report)
    write_findings(page, report)
    write_waived(page, report, listed=options.show_waived)
    if report.kernels or report.placement or report.facts:
        from envdoctor.render.human.hardware import write_kernels, write_placement

        write_kernels(page, report.kernels)
        write_placement(page, report.placement)
        _write_facts(page, report)
    for part in report.parts or (report,):
        _write_resolution(page, part)
    _write_scope(page, report)
    _write_incomplete(page, report)
    if report.next_command:
        page.blank()
        page.verbatim(report.next_command, "next: ")
    elif report.next_elsewhere:
        page.blank()
        page.verbatim(report.next_elsewhere, "next, on a machine of the target: ")
    return page.text()


def _write_headline(page: Page, report: Report) -> None:
    mark, style = _VERDICTS[report.verdict]
    spans: list[Span] = [(f"{mark} {report.verdict.value}", style), " - "] if judged(report) else []
    page.line((f"{report.command}:", "strong"), " ", *spans, headline(report))
    about = subject_line(report)
    if about:
        page.line((about, "dim"), first="  ")
    if report.rank is not None:
        of = report.rank
        page.line((f"rank {of.rank} of {of.size} on {of.host}, started by {of.launcher}", "dim"), first="  ")


def _write_facts(page: Page, report: Report) -> None:
    """Write a summary of a machine that was asked for; elsewhere its cards and driver, and how many facts there are."""
    from envdoctor.render.human.hardware import write_facts

    if report.command == "host" and report.facts:
        from envdoctor.render.human.hardware import write_host

        write_host(page, report.facts)
        if not page.verbose:
            return
    if page.verbose or len(report.facts) <= _FEW_FACTS:
        write_facts(page, report.facts)
        return
    telling = [fact for fact in report.facts if fact.state is FactState.KNOWN and fact.name.endswith(_TELLING)]
    write_facts(page, telling[:_FEW_FACTS])
    page.blank()
    page.line((f"{len(report.facts)} facts of the machine; --verbose lists them", "dim"))


def _write_resolution(page: Page, report: Report) -> None:
    resolution = report.resolution
    if resolution is None:
        return
    page.blank()
    using = f"with repair {resolution.repair}" if resolution.repair else "as the requirements stand"
    more = "" if page.verbose else "; --verbose lists them"
    where = f" of {report.environment} on Python {python_text(report)}" if report.environment else ""
    page.line(("resolution", "strong"), f"{where} {using}: {resolution_text(resolution)}{more}", rest="  ")
    if not page.verbose:
        return
    for item in resolution.walked_back:
        forced = ", ".join(f"{forcing} ({forcing.origin})" for forcing in item.forced_by)
        page.line(f"{item.name} {item.version} in place of {item.newest}, because of {forced}", first="  ", rest="    ")
    for package in resolution.packages:
        index = "" if package.file.index == "default" else f" from {package.file.index}"
        page.line(
            f"{package.name} {package.version}", (f"  {package.file.filename}{index}", "dim"), first="  ", rest="      "
        )


def _write_scope(page: Page, report: Report) -> None:
    lines = scope_lines(report, everything=page.verbose)
    if lines:
        page.blank()
    for label, text in lines:
        page.line((label, "dim"), f" {text}", rest="  ")


def _write_incomplete(page: Page, report: Report) -> None:
    if report.complete:
        return
    page.blank()
    page.line(
        ("incomplete", "warning"), ": not everything could be looked at, so what is not said here may still be wrong"
    )


def _seen_from(value: Any, prefix: str) -> Any:
    """Return a report, or what is in one, with ``prefix`` before each relative path of a file of the project."""
    if isinstance(value, _NO_PLACE_BELOW):
        return value
    if isinstance(value, tuple):
        return tuple(_seen_from(item, prefix) for item in value)
    if isinstance(value, FileOrigin):
        included = _seen_from(value.included_from, prefix)
        whole = value.elsewhere or value.path.startswith("/") or value.path[1:2] == ":"
        return replace(value, path=value.path if whole else f"{prefix}{value.path}", included_from=included)
    if not is_dataclass(value) or isinstance(value, type):
        return value
    found = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
    moved = {name: _seen_from(item, prefix) for name, item in found.items()}
    changed = {name: item for name, item in moved.items() if item is not found[name] and item != found[name]}
    return replace(value, **changed) if changed else value


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
