"""One self-contained HTML page: no script, nothing loaded from anywhere, everything escaped, bars by CSS."""

from __future__ import annotations

from collections.abc import Sequence
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
from envdoctor.render.html_parts import STYLE, code, listing, section, table, text_of
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
        f'<header class="{report.verdict.value if judged(report) else "plain"}"><h1>{text_of(title)}</h1>',
        f"<p><strong>{text_of(headline(report))}</strong></p><p>{text_of(subject_line(report))}</p>",
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


def _conflicts(report: Report) -> str:
    blocks = "\n".join(_conflict(item) for item in report.conflicts)
    more = f"<p>{truncation_text(report)}.</p>" if report.conflicts_truncated else ""
    return section("Conflicts", blocks + more)


def _conflict(conflict: Conflict) -> str:
    members = listing(f"{code(str(item))} <span>{text_of(str(item.origin))}</span>" for item in conflict.core)
    clash = conflict.clash
    alone = len(conflict.core) == 1
    title = "cannot be installed on the target" if alone else "cannot be installed together"
    ways = [chain(conflict, side) for side in clash.sides]
    tree = listing(_branch(way) for way in ways) if any(len(way) > 1 for way in ways) or len(ways) > 1 else ""
    lead = f"<p>They need different versions of {code(clash.package)}:</p>" if tree and not alone else ""
    others = [] if alone else bystanders(conflict)
    reasons = [f"{joined([code(item) for item in others])} leaves no other version"] if others else []
    reasons += [text_of(reason) for reason in rejection_lines(clash)]
    if clash.available:
        reasons.append(f"this target can have {code(clash.package)} {text_of(versions(clash.available[::-1]))}")
    return (
        f'<article class="error"><h3>{text_of(conflict.id)}: {title}</h3>\n'
        f"{members}\n{lead}{tree}{listing(reasons)}</article>"
    )


def _branch(steps: Sequence[str]) -> str:
    first, *others = steps
    return text_of(first) + (f"<ul><li>{_branch(others)}</li></ul>" if others else "")


def _repairs(report: Report) -> str:
    in_use = report.repairs_in_use
    return section("Smallest repairs", "\n".join(_repair(report, item, in_use) for item in report.repairs))


def _repair(report: Report, repair: Repair, in_use: frozenset[str]) -> str:
    marks = [resolves_text(report, repair)] if repair.resolves else []
    marks += [*filter(None, [source_text(report, repair)]), *["in use"] * (repair.id in in_use)]
    marks += [] if repair.verified else ["not verified"]
    actions = []
    for override in repair.overrides:
        written = override_text(override)
        asides = listing(f"sets aside {text_of(aside)}" for aside in written.aside)
        actions.append(text_of(written.action) + asides)
    changes = [f"{code(item.name)} {text_of(f'{item.before} to {item.after}')}" for item in repair.changes]
    result = f"<p>Result: {', '.join(changes)}</p>" if changes else ""
    cautions = "".join(f"<p><strong>Caution:</strong> {text_of(item)}</p>" for item in repair.cautions)
    head = f"<h3>{text_of(repair.id)}: {text_of(', '.join(marks))}</h3>"
    return f"<article>{head}\n{listing(actions)}{result}{cautions}</article>"


def _findings(report: Report) -> list[str]:
    found = other_findings(report)
    sections = []
    for severity in Severity:
        group = [item for item in found if item.severity is severity]
        title = count(len(group), _WORDS[severity])
        folded = severity is not Severity.ERROR and len(group) > _FOLD_AT
        sections.append(section(title.capitalize(), "\n".join(_finding(item) for item in group), folded=folded))
    return sections


def _finding(finding: Finding) -> str:
    head = f"{_WORDS[finding.severity]} {text_of(f'{finding.rule} {finding.name}')}: {code(finding.subject)}"
    where = f"<p>At {code(str(finding.location))}</p>" if finding.location else ""
    remedy = ""
    if finding.remedy:
        commands = "".join(f"<pre><code>{escape(str(command))}</code></pre>" for command in finding.remedy.commands)
        kind = finding.remedy.applicability.value
        remedy = f"<p><strong>Try</strong> ({kind}): {text_of(finding.remedy.summary)}</p>{commands}"
    signs = listing(text_of(evidence_text(item)) for item in finding.evidence)
    return (
        f'<article class="{finding.severity.value}"><h3>{head}</h3>\n'
        f"<p>{text_of(finding.message)}</p>{where}{signs}{remedy}</article>"
    )


def _waived(report: Report, options: RenderOptions) -> str:
    waived = [item for item in report.findings if item.waived]
    if not waived:
        return ""
    title = f"{count(len(waived), 'finding')} accepted"
    if not options.show_waived:
        return f"<p>{title}</p>"
    rows = [
        [text_of(item.rule), text_of(item.message), text_of(item.waived.reason), text_of(item.waived.source)]
        for item in waived
        if item.waived
    ]
    return section(title, table(title, ("rule", "finding", "because", "where"), rows))


def _kernels(kernels: Sequence[KernelResult]) -> str:
    if not kernels:
        return ""
    fastest = max(speed_up(result) or 0.0 for result in kernels)
    times = ("first call", "time", "on the CPU", "speed-up over the CPU", "rate", "peak memory")
    header = ("kernel", "device", "status", "error", *times, "detail")
    rows = [_kernel_row(result, fastest) for result in kernels]
    return section("Kernels", table("GPU operations against a reference answer", header, rows))


def _kernel_row(result: KernelResult, fastest: float) -> list[str]:
    fine = result.status in (KernelStatus.PASSED, KernelStatus.SKIPPED)
    ratio = speed_up(result)
    bar = ""
    if ratio is not None:
        share = max(1, round(100 * ratio / fastest))
        bar = f'{ratio:.1f}x <span class="bar" style="inline-size: {share / 20:.2f}em" aria-hidden="true"></span>'
    known = result.error_relative is not None and result.tolerance is not None
    return [
        code(result.kernel),
        text_of(result.device),
        f'<span class="{"good" if fine else "bad"}">{text_of(status_text(result))}</span>',
        text_of(error_text(result)) if known else "",
        *(milliseconds(item) if item is not None else "" for item in (result.first_ms, result.steady_ms)),
        milliseconds(result.reference_ms) if result.reference_ms is not None else "",
        bar,
        text_of(rate_text(result)),
        size(result.peak_bytes) if result.peak_bytes else "",
        text_of(result.detail or ""),
    ]


def _placement(report: Report) -> str:
    rows = [
        [text_of(item.component), text_of(item.device), text_of("; ".join(item.because))] for item in report.placement
    ]
    if not rows:
        return ""
    return section("Placement", table("Where each component runs", ("component", "device", "because"), rows))


def _facts(report: Report, options: RenderOptions) -> str:
    rows = [
        [code(fact.name), text_of(fact_text(fact)), text_of(fact.source), text_of(fact.overridden_by or "")]
        for fact in report.facts
    ]
    if not rows:
        return ""
    measured = table("What was measured", ("fact", "value", "source", "set by"), rows)
    return section("Facts", measured, folded=len(rows) > 3 * _FOLD_AT and not options.verbose)


def _resolution(report: Report, options: RenderOptions) -> str:
    if report.parts:
        return "\n".join(filter(None, (_resolution(part, options) for part in report.parts)))
    resolution = report.resolution
    if resolution is None:
        return ""
    using = f"With repair {resolution.repair}" if resolution.repair else "As the requirements stand"
    rows = [[code(item.name), text_of(str(item.version)), code(item.file.filename)] for item in resolution.packages]
    packages = table("Packages", ("package", "version", "file"), rows) if rows else ""
    folded = packages if options.verbose else f"<details><summary>All packages</summary>\n{packages}\n</details>"
    where = f" of {report.environment} on Python {python_text(report)}" if report.environment else ""
    return section(f"Resolution{where}", f"<p>{text_of(f'{using}: {resolution_text(resolution)}')}</p>\n{folded}")


def _scope(report: Report) -> str:
    lines = [f"{text_of(label)}: {text_of(text)}" for label, text in scope_lines(report, everything=True)]
    return section("What was looked at", listing(lines) if lines else "", folded=True)


def _next(report: Report) -> str:
    if not report.next_command:
        return ""
    return section("Next", f"<pre><code>{escape(report.next_command)}</code></pre>")
