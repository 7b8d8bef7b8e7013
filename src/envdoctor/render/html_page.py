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

from envdoctor import __version__
from envdoctor.model.finding import Applicability, Finding, Severity
from envdoctor.model.report import Report
from envdoctor.render import RenderOptions
from envdoctor.render.html_conflicts import conflicts_section, repairs_section
from envdoctor.render.html_parts import FOLD_AT, SEVERITY_WORDS, code, listing, section, table, text_of
from envdoctor.render.html_results import facts_section, kernels_section, packages_section, placement_section
from envdoctor.render.untrusted import one_line
from envdoctor.render.wording import count, evidence_text, headline, judged, other_findings, scope_lines

__all__ = ["render"]


def findings_sections(report: Report) -> list[str]:
    """Return a section for each severity that something was found of."""
    found = other_findings(report)
    sections = []
    for severity in Severity:
        group = [item for item in found if item.severity is severity]
        title = count(len(group), SEVERITY_WORDS[severity])
        folded = severity is not Severity.ERROR and len(group) > FOLD_AT
        sections.append(section(title.capitalize(), "\n".join(_finding(item) for item in group), folded=folded))
    return sections


def _finding(finding: Finding) -> str:
    rule = f'<span class="dim">{text_of(f"{finding.rule} {finding.name}")}</span>'
    head = f"{SEVERITY_WORDS[finding.severity]} {rule}: {code(finding.subject)}"
    where = f"<p>At {code(str(finding.location))}</p>" if finding.location else ""
    remedy = ""
    if finding.remedy:
        commands = "".join(f"<pre><code>{escape(str(command))}</code></pre>" for command in finding.remedy.commands)
        safe = " (safe)" if finding.remedy.applicability is Applicability.SAFE else ""
        remedy = f"<p><strong>Try</strong>{safe}: {text_of(finding.remedy.summary)}</p>{commands}"
    signs = listing(text_of(evidence_text(item)) for item in finding.evidence)
    return (
        f'<article class="{finding.severity.value}" data-find="{SEVERITY_WORDS[finding.severity]}"><h3>{head}</h3>\n'
        f"<p>{text_of(finding.message)}</p>{where}{signs}{remedy}</article>"
    )


def waived_section(report: Report, options: RenderOptions) -> str:
    """Return how many findings are accepted, and which where that is asked for."""
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


# A listing, a log or facts may come from another machine: home folders are known by their shape, too.
_HOMES = re.compile(
    r"(?<![\w.])(?:(?:/home|/Users)/[^/\s<>&\"']+|/root"
    # A name on Windows may have spaces; where no folder follows, it ends at the first.
    r"|[A-Za-z]:[\\/]+Users[\\/]+(?:[^\\/<>&\"':]+(?=[\\/])|[^\\/\s<>&\"':]+))(?=[\\/\s<,;:)&]|$)"
)


def without_places(text: str, options: RenderOptions) -> str:
    """Return HTML in which the project's folder is ``.``, every home folder ``~``, and no other place is private."""
    for place, instead in ((options.folder, "."), *options.private):
        written = escape(place.rstrip("/\\")) if place else ""
        if len(written) > 1:
            text = re.sub(rf"(?<![\w.]){re.escape(written)}(?=[\\/\s<,;:)&]|$)", instead, text)
    return _HOMES.sub("~", text)


def render(report: Report, options: RenderOptions) -> str:
    """Return the page."""
    title = f"envdoctor {report.command}" + (f": {report.verdict.value}" if judged(report) else "")
    sections = [
        *filter(
            None,
            (
                conflicts_section(report),
                repairs_section(report, options),
                *findings_sections(report),
                waived_section(report, options),
                kernels_section(report.kernels),
                placement_section(report),
                packages_section(report, options),
                facts_section(report, options),
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
    severities = [
        SEVERITY_WORDS[severity] for severity in Severity if any(f.severity is severity for f in report.findings)
    ]
    boxes = "".join(
        f'<label><input type="checkbox" value="{word}" checked> {word}s</label>\n'
        for word in (severities if len(severities) > 1 else ())
    )
    return (
        '<div class="tools" role="search" hidden><input type="search" placeholder="Search ( / )" '
        f'aria-label="Search the report">\n{boxes}<output aria-live="polite"></output></div>'
    )


def _scope(report: Report) -> str:
    lines = [f"{text_of(label)}: {text_of(text)}" for label, text in scope_lines(report, everything=True)]
    return section("What was looked at", listing(lines) if lines else "", folded=True)


def _next(report: Report) -> str:
    if not report.next_command and report.next_elsewhere:
        return section("Next, on a machine of the target", f"<pre><code>{escape(report.next_elsewhere)}</code></pre>")
    if not report.next_command:
        return ""
    return section("Next", f"<pre><code>{escape(report.next_command)}</code></pre>")
