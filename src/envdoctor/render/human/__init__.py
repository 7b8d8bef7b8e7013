"""A terminal page that a tired person can act on: what is wrong, why, and what to type next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envdoctor.model.fact import FactState
from envdoctor.model.report import Report, Verdict
from envdoctor.render.human.canvas import Canvas, Span
from envdoctor.render.human.findings import write_findings, write_waived
from envdoctor.render.scope_text import scope_lines
from envdoctor.render.wording import headline, judged, python_text, resolution_text, subject_line

if TYPE_CHECKING:
    from envdoctor.render import RenderOptions

__all__ = ["render"]

_VERDICT_STYLE = {
    Verdict.HEALTHY: "good",
    Verdict.DEGRADED: "warning",
    Verdict.BROKEN: "error",
    Verdict.UNKNOWN: "warning",
}

_FEW_FACTS = 12
_TELLING = ("].name", "].architecture", "driver.version")


def render(report: Report, options: RenderOptions) -> str:
    """Return the page."""
    canvas = Canvas(options)
    _write_headline(canvas, report)
    if report.conflicts or report.repairs or report.conflicts_truncated:
        # Imported where there is something to write: most checks of an environment have none.
        from envdoctor.render.human.conflict_blocks import write_conflicts, write_repairs

        write_conflicts(canvas, report)
        write_repairs(canvas, report)
    write_findings(canvas, report)
    write_waived(canvas, report, listed=options.show_waived)
    if report.kernels or report.placement or report.facts:
        from envdoctor.render.human.hardware import write_kernels, write_placement

        write_kernels(canvas, report.kernels)
        write_placement(canvas, report.placement)
        _write_facts(canvas, report)
    for part in report.parts or (report,):
        _write_resolution(canvas, part)
    _write_scope(canvas, report)
    _write_incomplete(canvas, report)
    if report.next_command:
        canvas.blank()
        canvas.verbatim(report.next_command, "next: ")
    return canvas.text()


def _write_headline(canvas: Canvas, report: Report) -> None:
    verdict = (report.verdict.value, _VERDICT_STYLE[report.verdict])
    spans: list[Span] = [verdict, " - "] if judged(report) else []
    canvas.line((f"{report.command}:", "strong"), " ", *spans, headline(report))
    about = subject_line(report)
    if about:
        canvas.line((about, "dim"), first="  ")


def _write_facts(canvas: Canvas, report: Report) -> None:
    """Write all facts where they are what was asked for; elsewhere the cards and the driver, and how many there are."""
    from envdoctor.render.human.hardware import write_facts

    if report.command == "host" or canvas.verbose or len(report.facts) <= _FEW_FACTS:
        write_facts(canvas, report.facts)
        return
    telling = [fact for fact in report.facts if fact.state is FactState.KNOWN and fact.name.endswith(_TELLING)]
    write_facts(canvas, telling[:_FEW_FACTS])
    canvas.blank()
    canvas.line((f"{len(report.facts)} facts of the machine; --verbose lists them", "dim"))


def _write_resolution(canvas: Canvas, report: Report) -> None:
    resolution = report.resolution
    if resolution is None:
        return
    canvas.blank()
    using = f"with repair {resolution.repair}" if resolution.repair else "as the requirements stand"
    more = "" if canvas.verbose else "; --verbose lists them"
    where = f" of {report.environment} on Python {python_text(report)}" if report.environment else ""
    canvas.line(("resolution", "strong"), f"{where} {using}: {resolution_text(resolution)}{more}", rest="  ")
    if not canvas.verbose:
        return
    for item in resolution.walked_back:
        forced = ", ".join(f"{forcing} ({forcing.origin})" for forcing in item.forced_by)
        canvas.line(
            f"{item.name} {item.version} in place of {item.newest}, forced by {forced}", first="  ", rest="    "
        )
    for package in resolution.packages:
        index = "" if package.file.index == "default" else f" from {package.file.index}"
        canvas.line(
            f"{package.name} {package.version}", (f"  {package.file.filename}{index}", "dim"), first="  ", rest="      "
        )


def _write_scope(canvas: Canvas, report: Report) -> None:
    lines = scope_lines(report, everything=canvas.verbose)
    if lines:
        canvas.blank()
    for label, text in lines:
        canvas.line((label, "dim"), f" {text}", rest="  ")


def _write_incomplete(canvas: Canvas, report: Report) -> None:
    if report.complete:
        return
    canvas.blank()
    canvas.line(
        ("incomplete", "warning"), ": not everything could be looked at, so what is not said here may still be wrong"
    )
