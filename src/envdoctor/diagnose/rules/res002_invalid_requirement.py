"""A line that is not a requirement.

## What it does

Reports a line that is not a requirement, with what may have been meant.

## Why is this bad

`pip` refuses the whole file for one such line. A guess would install something that nobody asked for.

## Example

`httpx==0.23.` may mean `httpx==0.23.0`, `httpx==0.23.3` or `httpx==0.23.*`.

## References

- PyPA, Version specifiers: https://packaging.python.org/specifications/version-specifiers/
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from envdoctor.diagnose.rule import Rule
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.project import ReadingProblemKind

if TYPE_CHECKING:
    from envdoctor.diagnose.examination import Examination


def _find(examination: Examination) -> Iterator[Finding]:
    for problem in examination.project.problems if examination.project else ():
        if problem.kind is not ReadingProblemKind.INVALID_REQUIREMENT:
            continue
        meant = ", ".join(f"`{item}`" for item in problem.suggestions)
        summary = f"ask which was meant: {meant}; it is not guessed" if meant else "correct the line; it is not guessed"
        yield Finding(
            rule=RULE.code,
            name=RULE.name,
            severity=RULE.severity,
            subject=problem.text.strip() or problem.origin.path,
            message=f"`{problem.text.strip()}` is an invalid requirement: {problem.message.rstrip('.')}",
            evidence=(Evidence(problem.text.strip(), str(problem.origin)),),
            remedy=Remedy(summary),
            location=problem.origin,
        )


RULE = Rule(
    code="RES002",
    name="invalid-requirement",
    severity=Severity.ERROR,
    summary="A line that is not a requirement",
    find=_find,
    documentation=__doc__ or "",
    needs=frozenset({"project"}),
)
