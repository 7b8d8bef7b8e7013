"""One self-contained HTML page: nothing loaded from anywhere, everything escaped; one script of our own, for search.

The page says the same without it. Its contrast is at least 4.5 to 1 (WCAG 2.2 AA) in both colour schemes.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from collections.abc import Sequence
from html import escape
from importlib import resources
from typing import TYPE_CHECKING

from envdoctor import __version__
from envdoctor.model.fact import FactState
from envdoctor.model.finding import Applicability, Finding, Severity
from envdoctor.model.kernel import KernelResult, KernelStatus
from envdoctor.render.conflict_wording import (
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
from envdoctor.render.html_parts import code, code_of_paths, listing, section, table, text_of
from envdoctor.render.html_plots import kernel_plots, size_plot
from envdoctor.render.private import without_places
from envdoctor.render.scope_text import scope_lines
from envdoctor.render.untrusted import one_line, shown
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
    versions,
)

if TYPE_CHECKING:
    from envdoctor.model.conflict import Conflict
    from envdoctor.model.fact import Fact
    from envdoctor.model.repair import FileChange, Repair
    from envdoctor.model.report import Report
    from envdoctor.model.resolution import ResolvedPackage
    from envdoctor.render import RenderOptions

__all__ = ["render"]

_FOLD_AT = 10
_WORDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def render(report: Report, options: RenderOptions) -> str:
    """Return the page."""
    title = f"envdoctor {report.command}" + (f": {report.verdict.value}" if judged(report) else "")
    sections = [
        *filter(
            None,
            (
                _conflicts(report),
                _repairs(report, options),
                *_findings(report),
                _waived(report, options),
                _kernels(report.kernels),
                _placement(report),
                _resolution(report, options),
                _facts(report, options),
                _scope(report),
                _next(report),
            ),
        )
    ]
    body = "\n".join([_header(report, options), _navigation(sections), _tools(report), '<main id="main">', *sections])
    script = _read("report.js")
    text = _PAGE.format(
        title=escape(one_line(title)),
        style=_read("report.css"),
        body=without_places(body, options),
        version=escape(__version__),
        script=script,
        script_hash=b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )
    return text if options.unicode else text.encode("ascii", "xmlcharrefreplace").decode("ascii")


_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; \
script-src 'sha256-{script_hash}'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<a class="skip" href="#main">To the report</a>
{body}
</main>
<footer><p>Written by envdoctor {version}. The page loads nothing from anywhere.</p></footer>
<script>{script}</script>
</body>
</html>
"""


def _read(name: str) -> str:
    return resources.files("envdoctor.render").joinpath(name).read_text(encoding="utf-8")


def _header(report: Report, options: RenderOptions) -> str:
    verdict = report.verdict.value if judged(report) else "plain"
    shown_title = text_of(f"envdoctor {report.command}")
    badge = f' <span class="badge">{verdict}</span>' if judged(report) else ""
    rows = [
        ("project", re.split(r"[\\/]", options.folder.rstrip("\\/"))[-1] if options.folder else ""),
        ("target", str(report.target) if report.target else ""),
        ("profile", report.profile or ""),
        ("date", options.date),
    ]
    told = "".join(f"<dt>{name}</dt><dd>{text_of(value)}</dd>" for name, value in rows if value)
    incomplete = "Incomplete: not everything could be looked at, so what is not said here may still be wrong"
    return (
        f'<header class="{verdict}"><h1>{shown_title}{badge}</h1>\n'
        f"<p><strong>{text_of(headline(report))}</strong></p>"
        f"{'' if report.complete else f'<p><strong>{incomplete}</strong></p>'}"
        f"{f'<dl>{told}</dl>' if told else ''}</header>"
    )


def _navigation(sections: Sequence[str]) -> str:
    found = (re.match(r'<section id="([^"]+)"><h2>([^<]+)</h2>', item) for item in sections)
    links = listing(f'<a href="#{item[1]}">{item[2]}</a>' for item in found if item)
    return f'<nav aria-label="Sections">{links}</nav>' if links else ""


def _tools(report: Report) -> str:
    """Return the filter; it stays hidden where scripts do not run."""
    severities = [_WORDS[severity] for severity in Severity if any(f.severity is severity for f in report.findings)]
    boxes = "".join(
        f'<label><input type="checkbox" value="{word}" checked> {word}s</label>\n'
        for word in (severities if len(severities) > 1 else ())
    )
    return (
        '<div class="tools" role="search" hidden><input type="search" placeholder="Search ( / )" '
        f'aria-label="Search the report">\n{boxes}<output aria-live="polite"></output></div>'
    )


def _conflicts(report: Report) -> str:
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
    return (
        f'<article class="error" data-find="error"><h3>{text_of(conflict.id)}: {title}</h3>\n'
        f"{members}\n{graph}{tree}{listing(reasons)}{_advice(report, conflict)}</article>"
    )


def _advice(report: Report, conflict: Conflict) -> str:
    advice = remedy_text(report, conflict)
    return f"<p><strong>Try</strong>: {text_of(advice)}</p>" if advice else ""


def _branch(steps: Sequence[str]) -> str:
    first, *others = steps
    return text_of(first) + (f"<ul><li>{_branch(others)}</li></ul>" if others else "")


def _repairs(report: Report, options: RenderOptions) -> str:
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
    rule = f'<span class="dim">{text_of(f"{finding.rule} {finding.name}")}</span>'
    head = f"{_WORDS[finding.severity]} {rule}: {code(finding.subject)}"
    where = f"<p>At {code(str(finding.location))}</p>" if finding.location else ""
    remedy = ""
    if finding.remedy:
        commands = "".join(f"<pre><code>{escape(str(command))}</code></pre>" for command in finding.remedy.commands)
        safe = " (safe)" if finding.remedy.applicability is Applicability.SAFE else ""
        remedy = f"<p><strong>Try</strong>{safe}: {text_of(finding.remedy.summary)}</p>{commands}"
    signs = listing(text_of(evidence_text(item)) for item in finding.evidence)
    return (
        f'<article class="{finding.severity.value}" data-find="{_WORDS[finding.severity]}"><h3>{head}</h3>\n'
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
    header = (
        "kernel",
        "device",
        "status",
        "error",
        "first call",
        "time",
        "on the CPU",
        "speed-up",
        "rate",
        "memory",
        "detail",
    )
    figures = table("Every kernel against its reference answer", header, [_kernel_row(item) for item in kernels])
    plots = kernel_plots(kernels)
    failed = [item for item in kernels if item.failed]
    lines = listing(
        f'<span class="bad">{text_of(status_text(item))}</span> {code(item.kernel)} {text_of(item.device)}'
        + (f": {text_of(item.detail)}" if item.detail else "")
        for item in failed
    )
    passed = sum(item.status is KernelStatus.PASSED for item in kernels)
    told = f"<p>{passed} of {count(len(kernels), 'kernel')} passed</p>{lines}"
    unfolded = "" if plots else " open"
    folded = f"<details{unfolded}><summary>All figures</summary>{figures}</details>"
    return section("Kernels", f"{told}{plots}{folded}")


def _kernel_row(result: KernelResult) -> list[str]:
    fine = not result.failed
    ratio = speed_up(result)
    known = result.error_relative is not None and result.tolerance is not None
    return [
        code(result.kernel),
        text_of(result.device),
        f'<span class="{"good" if fine else "bad"}">{text_of(status_text(result))}</span>',
        text_of(error_text(result)) if known else "",
        *(milliseconds(item) if item is not None else "" for item in (result.first_ms, result.steady_ms)),
        milliseconds(result.reference_ms) if result.reference_ms is not None else "",
        f"{ratio:.1f}x" if ratio is not None else "",
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
    known = [fact for fact in report.facts if fact.state is FactState.KNOWN]
    others = [fact for fact in report.facts if fact.state is not FactState.KNOWN]
    folded = len(known) > _FOLD_AT and judged(report) and not options.verbose
    body = _fact_table("What was measured, and what told it", known)
    if folded:
        body = f"<details><summary>{count(len(known), 'fact')}</summary>\n{body}\n</details>"
    if others:
        table_of_others = _fact_table("What is not there, or not known", others)
        unfolded = " open" if options.verbose or len(others) <= _FOLD_AT else ""
        told = f"{len(others)} more: absent or unknown"
        body += f"\n<details{unfolded}><summary>{told}</summary>\n{table_of_others}\n</details>"
    return section("Facts", body)


def _fact_table(title: str, facts: Sequence[Fact]) -> str:
    rows = [
        [code_of_paths(fact.name), text_of(fact_text(fact)), text_of(fact.source), text_of(fact.overridden_by or "")]
        for fact in facts
    ]
    header = ["fact", "value", "source", "set by"]
    if not any(row[-1] for row in rows):
        header, rows = header[:-1], [row[:-1] for row in rows]
    return table(title, header, rows, find="fact") if rows else ""


def _resolution(report: Report, options: RenderOptions) -> str:
    if report.parts:
        return "\n".join(filter(None, (_resolution(part, options) for part in report.parts)))
    resolution = report.resolution
    if resolution is None:
        return ""
    using = f"With repair {resolution.repair}" if resolution.repair else "As the requirements stand"
    header = ("package", "version", "from", "size", "index", "file")
    rows = [_package_row(item) for item in resolution.packages]
    packages = table("Packages for the target", header, rows) if rows else ""
    folded = packages if options.verbose else f"<details><summary>All packages</summary>\n{packages}\n</details>"
    where = f" of {report.environment} on Python {python_text(report)}" if report.environment else ""
    told = f"<p>{text_of(f'{using}: {resolution_text(resolution)}')}</p>"
    return section(f"Packages{where}", f"{told}\n{size_plot(resolution.packages)}{folded}")


def _package_row(item: ResolvedPackage) -> list[str]:
    kind = item.file.kind.value
    risk = f" ({item.build_risk.value})" if item.build_risk else ""
    return [
        code(item.name),
        text_of(str(item.version)),
        text_of(kind) if kind == "wheel" else f'<span class="bad">{text_of(kind + risk)}</span>',
        size(item.file.size) if item.file.size is not None else "unknown",
        text_of(item.file.index),
        code_of_paths(item.file.filename),
    ]


def _scope(report: Report) -> str:
    lines = [f"{text_of(label)}: {text_of(text)}" for label, text in scope_lines(report, everything=True)]
    return section("What was looked at", listing(lines) if lines else "", folded=True)


def _next(report: Report) -> str:
    if not report.next_command:
        return ""
    return section("Next", f"<pre><code>{escape(report.next_command)}</code></pre>")
