"""The part of the HTML page with findings, those that somebody accepted among them."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from envdoctor.model.finding import Applicability, Finding, Severity
from envdoctor.render.html_parts import FOLD_AT, SEVERITY_WORDS, code, listing, section, table, text_of
from envdoctor.render.wording import count, evidence_text, other_findings

if TYPE_CHECKING:
    from envdoctor.model.report import Report
    from envdoctor.render import RenderOptions

__all__ = ["findings_sections", "waived_section"]


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
