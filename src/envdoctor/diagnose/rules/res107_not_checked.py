"""Something could not be looked at, so the report is not complete.

## What it does

Names what was not read: a project whose page did not come, a version whose metadata only a build would tell, a search
that met its limit.

## Why it is bad

The rest of the report may be right by luck alone: what was not read can hold another conflict. The report says
`complete: false`, and the exit code is 3 where nothing worse was found.

## Example

    warning RES107 not-checked: torch
      could not be checked: `torch`: index default did not answer

## References

- The contract of the report: `complete` and exit code 3
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from envdoctor.diagnose.rule import Rule, name_rows
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity

if TYPE_CHECKING:
    from envdoctor.diagnose.examination import Examination

_MOST_APART = 2
_ADDRESS = re.compile(r" \(\S+\)(?=:)")
"""The URL that was asked, which differs for each version."""


def _find(examination: Examination) -> Iterator[Finding]:
    by_cause: dict[str, list[tuple[str, str]]] = {}
    for what in examination.incomplete:
        about, _, reason = what.partition(": ")
        by_cause.setdefault(_ADDRESS.sub("", reason), []).append((about, reason))
    for cause, told in by_cause.items():
        if cause and len(told) > _MOST_APART:
            # An empty cache or a dead index says the same of every project: once is enough.
            subjects, reasons = [about.replace("`", "") for about, _ in told], {reason for _, reason in told}
            kind = "projects and versions" if any(" " in subject for subject in subjects) else "projects"
            why = reasons.pop() if len(reasons) == 1 else cause
            yield _finding("index", f"{len(told)} {kind} could not be checked: {why}", name_rows(subjects))
            continue
        for about, reason in told:
            text = f"{about}: {reason}" if reason else about
            yield _finding(about.replace("`", "") or "index", f"could not be checked: {text}")


def _finding(subject: str, message: str, seen: tuple[Evidence, ...] = ()) -> Finding:
    return Finding(
        rule=RULE.code,
        name=RULE.name,
        severity=RULE.severity,
        subject=subject,
        message=message,
        evidence=seen,
        remedy=Remedy("run the same again where the index can be reached, without `--offline` if it was given"),
    )


RULE = Rule(
    code="RES107",
    name="not-checked",
    severity=Severity.WARNING,
    summary="Something could not be looked at, so the report is not complete",
    find=_find,
    documentation=__doc__ or "",
    needs=frozenset({"incomplete"}),
)
