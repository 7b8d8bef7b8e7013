"""The text of ``envdoctor rule CODE``."""

from __future__ import annotations

from functools import cache

from envdoctor.diagnose.advisories.advisory import Advisory
from envdoctor.diagnose.advisories.book import shipped_advisories
from envdoctor.diagnose.rulebook import rule
from envdoctor.model.finding import Severity

__all__ = ["catalogue", "documentation"]


def _known_from(advisory: Advisory) -> str:
    seen = ", ".join(advisory.seen) or "versions that nobody wrote down"
    return f"Known from: {advisory.confidence.value}, looked at on {advisory.date}, seen with {seen}."


def _severity(advisory: Advisory) -> str:
    foreseen, seen = _told_as(advisory), advisory.seen_severity
    told = [foreseen.value]
    if advisory.symptoms and seen is not foreseen:
        told.append(f"{seen.value} where a log shows it")
    if advisory.symptoms and seen is not Severity.ERROR and advisory.symptom_severity is None:
        told.append(f"{Severity.ERROR.value} where that is an exception which nothing caught")
    return "; ".join(told)


def _of_advisory(advisory: Advisory) -> str:
    lines = [
        f"# {advisory.code} {advisory.id}",
        "",
        f"Severity: {_severity(advisory)}. {_known_from(advisory)} File: `{advisory.source}`.",
        "",
        "## What is wrong",
        "",
        advisory.cause,
        "",
        "## What to do",
        "",
        advisory.remedy.summary,
    ]
    lines += ["", *(f"    {command}" for command in advisory.remedy.commands)] if advisory.remedy.commands else []
    lines += ["", "## Evidence", "", *(f"- {item}" for item in advisory.evidence)]
    lines += _in_logs(advisory) if advisory.symptoms else []
    if advisory.references:
        lines += ["", "## References", "", *(f"- {item}" for item in advisory.references)]
    return "\n".join(lines) + "\n"


def _in_logs(advisory: Advisory) -> list[str]:
    lines = ["", "## Seen in logs as", "", *(f"- `{item}`" for item in advisory.symptoms)]
    if advisory.symptom_mentions:
        near = " and ".join(f"`{item}`" for item in advisory.symptom_mentions)
        lines += ["", f"with {near} at most {advisory.symptom_within} lines away."]
    if advisory.instead_of:
        lines += ["", f"There it speaks in place of {', '.join(advisory.instead_of)}."]
    return lines


def documentation(code: str) -> str | None:
    """Return the Markdown documentation of a rule or advisory by code or name, None where there is none."""
    found = rule(code)
    if found is not None:
        return f"# {found.code} {found.name}\n\n{found.documentation.strip()}\n"
    wanted = code.casefold()
    for advisory in shipped_advisories().advisories:
        if wanted in (advisory.code.casefold(), advisory.id):
            return _of_advisory(advisory)
    return None


@cache
def catalogue() -> tuple[tuple[str, str, str, str], ...]:
    """Return ``(code, name, severity, summary)`` of every rule and advisory, by code."""
    from envdoctor.diagnose.rulebook import documented

    rows = [(item.code, item.name, item.severity.value, item.summary) for item in documented()]
    rows += [(item.code, item.id, _told_as(item).value, item.message) for item in shipped_advisories().advisories]
    return tuple(sorted(rows))


def _told_as(advisory: Advisory) -> Severity:
    """Return the severity of its findings: that of what a log shows only where nothing else shows it."""
    return advisory.seen_severity if advisory.log_only else advisory.foreseen_severity
