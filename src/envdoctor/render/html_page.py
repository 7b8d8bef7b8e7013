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
from envdoctor.model.finding import Severity
from envdoctor.render.html_conflicts import conflicts_section, repairs_section
from envdoctor.render.html_findings import findings_sections, waived_section
from envdoctor.render.html_parts import SEVERITY_WORDS, listing, section, text_of
from envdoctor.render.html_results import facts_section, kernels_section, packages_section, placement_section
from envdoctor.render.private import without_places
from envdoctor.render.scope_text import scope_lines
from envdoctor.render.untrusted import one_line
from envdoctor.render.wording import headline, judged

if TYPE_CHECKING:
    from envdoctor.model.report import Report
    from envdoctor.render import RenderOptions

__all__ = ["render"]


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
    if not report.next_command:
        return ""
    return section("Next", f"<pre><code>{escape(report.next_command)}</code></pre>")
