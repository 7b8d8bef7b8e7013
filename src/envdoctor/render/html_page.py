"""One self-contained HTML page: no script, nothing loaded from anywhere, everything escaped, bars by CSS."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from envdoctor import __version__
from envdoctor.model.finding import Finding, Severity
from envdoctor.model.kernel import KernelResult, KernelStatus
from envdoctor.render.conflict_wording import (
    bystanders,
    chain,
    override_text,
    rejection_lines,
    resolves_text,
    source_text,
    truncation_text,
)
from envdoctor.render.html_style import STYLE
from envdoctor.render.scope_text import scope_lines
from envdoctor.render.untrusted import one_line
from envdoctor.render.wording import (
    count,
    error_text,
    evidence_text,
    fact_text,
    headline,
    joined,
    judged,
    milliseconds,
    other_findings,
    python_text,
    rate_text,
    resolution_text,
    size,
    speed_up,
    status_text,
    subject_line,
    versions,
)

if TYPE_CHECKING:
    from envdoctor.model.conflict import Conflict
    from envdoctor.model.repair import Repair
    from envdoctor.model.report import Report
    from envdoctor.render import RenderOptions

__all__ = ["render"]

_FOLD_AT = 10
_CODE = re.compile(r"`([^`]+)`")
_WORDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def render(report: Report, options: RenderOptions) -> str:
    """Return the page."""
    title = f"envdoctor {report.command}" + (f": {report.verdict.value}" if judged(report) else "")
    sections = [
        _conflicts(report),
        _repairs(report),
        *_findings(report),
        _waived(report, options),
        _kernels(report.kernels),
        _placement(report),
        _facts(report, options),
        _resolution(report, options),
        _scope(report),
    ]
    incomplete = "Incomplete: not everything could be looked at, so what is not said here may still be wrong"
    body = [
        f'<header class="{report.verdict.value if judged(report) else "plain"}"><h1>{_text(title)}</h1>',
        f"<p><strong>{_text(headline(report))}</strong></p><p>{_text(subject_line(report))}</p>",
        "" if report.complete else f"<p><strong>{incomplete}</strong></p>",
        "</header>\n<main>",
        *filter(None, sections),
        _next(report),
        f"</main>\n<footer><p>Written by envdoctor {escape(__version__)}</p></footer>",
    ]
    text = _PAGE.format(title=escape(one_line(title)), style=STYLE, body="\n".join(filter(None, body)))
    return text if options.unicode else text.encode("ascii", "xmlcharrefreplace").decode("ascii")


_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
{body}
</body>
</html>
"""


def _text(text: str) -> str:
    """Return prose, what stands in backticks as code; each piece keeps its own direction of writing."""
    pieces = _CODE.split(one_line(text))
    return "".join(_code(piece) if number % 2 else _prose(piece) for number, piece in enumerate(pieces) if piece)


def _prose(text: str) -> str:
    return escape(text) if text.isascii() else f"<bdi>{escape(text)}</bdi>"


def _code(text: str) -> str:
    direction = "" if text.isascii() else ' dir="auto"'
    return f"<code{direction}>{escape(one_line(text))}</code>"


def _list(items: Iterable[str]) -> str:
    inner = "".join(f"<li>{item}</li>" for item in items)
    return f"<ul>{inner}</ul>" if inner else ""


def _table(caption: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f'<th scope="col">{name}</th>' for name in header)
    lines = []
    for first, *others in rows:
        cells = "".join(f"<td>{cell}</td>" for cell in others)
        lines.append(f'<tr><th scope="row">{first}</th>{cells}</tr>')
    body = "\n".join(lines)
    return (
        f'<div class="wide"><table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody></table></div>"
    )


def _section(title: str, body: str, *, folded: bool = False) -> str:
    if not body:
        return ""
    if folded:
        body = f"<details><summary>Show</summary>\n{body}\n</details>"
    return f"<section><h2>{escape(title)}</h2>\n{body}\n</section>"


def _conflicts(report: Report) -> str:
    blocks = "\n".join(_conflict(item) for item in report.conflicts)
    more = f"<p>{truncation_text(report)}.</p>" if report.conflicts_truncated else ""
    return _section("Conflicts", blocks + more)


def _conflict(conflict: Conflict) -> str:
    members = _list(f"{_code(str(item))} <span>{_text(str(item.origin))}</span>" for item in conflict.core)
    clash = conflict.clash
    alone = len(conflict.core) == 1
    title = "cannot be installed on the target" if alone else "cannot be installed together"
    ways = [chain(conflict, side) for side in clash.sides]
    tree = _list(_branch(way) for way in ways) if any(len(way) > 1 for way in ways) or len(ways) > 1 else ""
    lead = f"<p>They need different versions of {_code(clash.package)}:</p>" if tree and not alone else ""
    others = [] if alone else bystanders(conflict)
    reasons = [f"{joined([_code(item) for item in others])} leaves no other version"] if others else []
    reasons += [_text(reason) for reason in rejection_lines(clash)]
    if clash.available:
        reasons.append(f"this target can have {_code(clash.package)} {_text(versions(clash.available[::-1]))}")
    return (
        f'<article class="error"><h3>{_text(conflict.id)}: {title}</h3>\n'
        f"{members}\n{lead}{tree}{_list(reasons)}</article>"
    )


def _branch(steps: Sequence[str]) -> str:
    first, *others = steps
    return _text(first) + (f"<ul><li>{_branch(others)}</li></ul>" if others else "")


def _repairs(report: Report) -> str:
    in_use = report.repairs_in_use
    return _section("Smallest repairs", "\n".join(_repair(report, item, in_use) for item in report.repairs))


def _repair(report: Report, repair: Repair, in_use: frozenset[str]) -> str:
    marks = [resolves_text(report, repair)] if repair.resolves else []
    marks += [*filter(None, [source_text(report, repair)]), *["in use"] * (repair.id in in_use)]
    marks += [] if repair.verified else ["not verified"]
    actions = []
    for override in repair.overrides:
        written = override_text(override)
        asides = _list(f"sets aside {_text(aside)}" for aside in written.aside)
        actions.append(_text(written.action) + asides)
    changes = [f"{_code(item.name)} {_text(f'{item.before} to {item.after}')}" for item in repair.changes]
    result = f"<p>Result: {', '.join(changes)}</p>" if changes else ""
    cautions = "".join(f"<p><strong>Caution:</strong> {_text(item)}</p>" for item in repair.cautions)
    return (
        f"<article><h3>{_text(repair.id)}: {_text(', '.join(marks))}</h3>\n{_list(actions)}{result}{cautions}</article>"
    )


def _findings(report: Report) -> list[str]:
    found = other_findings(report)
    sections = []
    for severity in Severity:
        group = [item for item in found if item.severity is severity]
        title = count(len(group), _WORDS[severity])
        folded = severity is not Severity.ERROR and len(group) > _FOLD_AT
        sections.append(_section(title.capitalize(), "\n".join(_finding(item) for item in group), folded=folded))
    return sections


def _finding(finding: Finding) -> str:
    head = f"{_WORDS[finding.severity]} {_text(f'{finding.rule} {finding.name}')}: {_code(finding.subject)}"
    where = f"<p>At {_code(str(finding.location))}</p>" if finding.location else ""
    remedy = ""
    if finding.remedy:
        commands = "".join(f"<pre><code>{escape(str(command))}</code></pre>" for command in finding.remedy.commands)
        kind = finding.remedy.applicability.value
        remedy = f"<p><strong>Try</strong> ({kind}): {_text(finding.remedy.summary)}</p>{commands}"
    signs = _list(_text(evidence_text(item)) for item in finding.evidence)
    return (
        f'<article class="{finding.severity.value}"><h3>{head}</h3>\n'
        f"<p>{_text(finding.message)}</p>{where}{signs}{remedy}</article>"
    )


def _waived(report: Report, options: RenderOptions) -> str:
    waived = [item for item in report.findings if item.waived]
    if not waived:
        return ""
    title = f"{count(len(waived), 'finding')} accepted"
    if not options.show_waived:
        return f"<p>{title}</p>"
    rows = [
        [_text(item.rule), _text(item.message), _text(item.waived.reason), _text(item.waived.source)]
        for item in waived
        if item.waived
    ]
    return _section(title, _table(title, ("rule", "finding", "because", "where"), rows))


def _kernels(kernels: Sequence[KernelResult]) -> str:
    if not kernels:
        return ""
    fastest = max(speed_up(result) or 0.0 for result in kernels)
    times = ("first call", "time", "on the CPU", "speed-up over the CPU", "rate", "peak memory")
    header = ("kernel", "device", "status", "error", *times, "detail")
    rows = [_kernel_row(result, fastest) for result in kernels]
    return _section("Kernels", _table("GPU operations against a reference answer", header, rows))


def _kernel_row(result: KernelResult, fastest: float) -> list[str]:
    fine = result.status in (KernelStatus.PASSED, KernelStatus.SKIPPED)
    ratio = speed_up(result)
    bar = ""
    if ratio is not None:
        share = max(1, round(100 * ratio / fastest))
        bar = f'{ratio:.1f}x <span class="bar" style="inline-size: {share / 20:.2f}em" aria-hidden="true"></span>'
    known = result.error_relative is not None and result.tolerance is not None
    return [
        _code(result.kernel),
        _text(result.device),
        f'<span class="{"good" if fine else "bad"}">{_text(status_text(result))}</span>',
        _text(error_text(result)) if known else "",
        *(milliseconds(item) if item is not None else "" for item in (result.first_ms, result.steady_ms)),
        milliseconds(result.reference_ms) if result.reference_ms is not None else "",
        bar,
        _text(rate_text(result)),
        size(result.peak_bytes) if result.peak_bytes else "",
        _text(result.detail or ""),
    ]


def _placement(report: Report) -> str:
    rows = [[_text(item.component), _text(item.device), _text("; ".join(item.because))] for item in report.placement]
    if not rows:
        return ""
    return _section("Placement", _table("Where each component runs", ("component", "device", "because"), rows))


def _facts(report: Report, options: RenderOptions) -> str:
    rows = [
        [_code(fact.name), _text(fact_text(fact)), _text(fact.source), _text(fact.overridden_by or "")]
        for fact in report.facts
    ]
    if not rows:
        return ""
    table = _table("What was measured", ("fact", "value", "source", "set by"), rows)
    return _section("Facts", table, folded=len(rows) > 3 * _FOLD_AT and not options.verbose)


def _resolution(report: Report, options: RenderOptions) -> str:
    if report.parts:
        return "\n".join(filter(None, (_resolution(part, options) for part in report.parts)))
    resolution = report.resolution
    if resolution is None:
        return ""
    using = f"With repair {resolution.repair}" if resolution.repair else "As the requirements stand"
    rows = [[_code(item.name), _text(str(item.version)), _code(item.file.filename)] for item in resolution.packages]
    table = _table("Packages", ("package", "version", "file"), rows) if rows else ""
    folded = table if options.verbose else f"<details><summary>All packages</summary>\n{table}\n</details>"
    where = f" of {report.environment} on Python {python_text(report)}" if report.environment else ""
    return _section(f"Resolution{where}", f"<p>{_text(f'{using}: {resolution_text(resolution)}')}</p>\n{folded}")


def _scope(report: Report) -> str:
    lines = [f"{_text(label)}: {_text(text)}" for label, text in scope_lines(report, everything=True)]
    return _section("What was looked at", _list(lines) if lines else "", folded=True)


def _next(report: Report) -> str:
    if not report.next_command:
        return ""
    return _section("Next", f"<pre><code>{escape(report.next_command)}</code></pre>")
