"""Annotations of GitHub Actions: one workflow command a line, worst first (a step shows ten of each level)."""

from __future__ import annotations

from envdoctor.model.finding import Severity
from envdoctor.model.report import Report
from envdoctor.render import RenderOptions
from envdoctor.render.entries import Entry, entries, repository_path
from envdoctor.render.untrusted import one_line
from envdoctor.render.wording import headline, judged, scope_lines, subject_line

__all__ = ["render"]

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render(report: Report, options: RenderOptions) -> str:
    """Return annotations, then the verdict as a line of the log."""
    suffix = f" ({report.profile})" if report.profile else ""
    shown = [entry for entry in entries(report) if options.show_waived or not entry.waived]
    lines = [_annotation(entry, suffix, options) for entry in sorted(shown, key=_order)]
    if not report.complete:
        text = "not everything could be looked at, so what is not said here may still be wrong"
        lines.append(f"::warning title={_property(f'incomplete{suffix}')}::{_data(text)}")
    looked_at = [f"{label} {text}" for label, text in scope_lines(report, everything=True)]
    if looked_at:
        title = _property(f"what was looked at{suffix}")
        lines.append(f"::notice title={title}::{_data(one_line('; '.join(looked_at)))}")
    verdict = f"{report.verdict.value} - " if judged(report) else ""
    about = f" [{subject_line(report)}]" if subject_line(report) else ""
    # The runner obeys `##[` anywhere in a line that is not itself a command.
    lines.append(one_line(f"envdoctor {report.command}: {verdict}{headline(report)}{about}").replace("##[", "## ["))
    text = "\n".join(lines) + "\n"
    return text if options.unicode else text.encode("ascii", "backslashreplace").decode("ascii")


def _order(entry: Entry) -> int:
    return Severity.INFO.rank if entry.waived else entry.severity.rank


def _annotation(entry: Entry, suffix: str, options: RenderOptions) -> str:
    properties = []
    path = repository_path(entry.location.path, options.project_root) if entry.location else None
    if path and entry.location:
        properties.append(f"file={_property(path)}")
        if entry.location.line:
            properties.append(f"line={entry.location.line}")
    properties.append(f"title={_property(one_line(entry.title + suffix))}")
    accepted = f"Accepted: {one_line(entry.waived.reason)}" if entry.waived else ""
    parts = [entry.message, *entry.details, entry.remedy and f"Try: {entry.remedy}", accepted]
    command = "notice" if entry.waived else _COMMANDS[entry.severity]
    return f"::{command} {','.join(properties)}::{_data(chr(10).join(filter(None, parts)))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
