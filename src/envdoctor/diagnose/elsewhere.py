"""Findings that no rule makes: they come from a workflow, and are documented like rules."""

from __future__ import annotations

from collections.abc import Iterator

from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.rule import Rule
from envdoctor.model.finding import Finding, Severity

__all__ = ["FOUND_ELSEWHERE"]

_EXPIRED = """A waiver whose last day has gone.

## What it does

Names each waiver of `[tool.envdoctor]` in pyproject.toml that ended, with the reason that was given for it. What it
waived is open again.

## Why is this bad

A waiver says "not now". Without an end it becomes "never", and nobody remembers why.

## Example

`expires = 2026-03-31` on a waiver of `source-only`, and it is April.

## References

- docs/conflicts-repairs-locks.md
"""

_DISAGREES = """After a fix, the installer sees another version than was installed, or none.

## What it does

Asks the environment's own pip or uv what it sees, and compares that with the plan.

## Why is this bad

Something else on the search path stands before the environment, or another program changed it meanwhile. What the
program will import is then not what the lock says.

## Example

`torch` 2.4.1 was installed, and pip sees 2.7.0 in the user's own site-packages.

## References

- Python, site: https://docs.python.org/3/library/site.html
"""

_COMPLAINS = """After a fix, the installer's own check complains.

## What it does

Runs `pip check` or `uv pip check` in the environment and reports each line. A line that an accepted override explains
is shown as accepted, and none is hidden.

## Why is this bad

A requirement between installed distributions does not hold, and nobody set it aside on purpose.

## Example

`librosa 0.9.2 requires resampy, which is not installed`

## References

- pip, pip check: https://pip.pypa.io/en/stable/cli/pip_check/
"""


def _nothing(examination: Examination) -> Iterator[Finding]:  # noqa: ARG001 - a rule's signature
    return iter(())


def _entry(code: str, name: str, severity: Severity, summary: str, documentation: str) -> Rule:
    return Rule(code, name, severity, summary, _nothing, documentation)


FOUND_ELSEWHERE = (
    _entry("RES091", "expired-waiver", Severity.WARNING, "A waiver whose last day has gone", _EXPIRED),
    _entry(
        "ENV030",
        "installer-disagrees",
        Severity.ERROR,
        "After a fix, the installer sees another version than was installed",
        _DISAGREES,
    ),
    _entry(
        "ENV031",
        "installer-check-complains",
        Severity.WARNING,
        "After a fix, the installer's own check complains",
        _COMPLAINS,
    ),
)
