"""A terminal page that a tired person can act on: what is wrong, why, and what to type next."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

from envdoctor.model.fact import FactState
from envdoctor.model.origin import FileOrigin
from envdoctor.model.report import Report, Verdict
from envdoctor.render.human.console import Page, Span
from envdoctor.render.human.findings import write_findings, write_waived
from envdoctor.render.scope_text import scope_lines
from envdoctor.render.wording import headline, judged, python_text, resolution_text, subject_line

if TYPE_CHECKING:
    from envdoctor.render import RenderOptions

__all__ = ["render"]

_VERDICTS = {
    Verdict.HEALTHY: ("✔", "good"),
    Verdict.DEGRADED: ("▲", "warning"),
    Verdict.BROKEN: ("✖", "error"),
    Verdict.UNKNOWN: ("?", "warning"),
}

_FEW_FACTS = 12
_NO_PLACE_BELOW = (str, int, float, bool, type(None))
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
        from envdoctor.render.human.host_page import write_host

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
