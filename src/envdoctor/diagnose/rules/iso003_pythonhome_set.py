"""`PYTHONHOME` is set, and tells every Python where its standard library is.

## What it does
Reads the variable; it is an error where the interpreter does not start with it.

## Why it is bad
A Python that finds the standard library of another version fails at start ("No module named encodings"), or loads
the wrong one. Programs that bring their own Python set it and pass it on.

## Example
`PYTHONHOME=C:/Python38` with a venv of Python 3.11.

## What to do
Unset it; no environment needs it.
"""

from __future__ import annotations

from collections.abc import Iterator

from envdoctor.diagnose.rule import Rule
from envdoctor.model.environment import EnvironmentProblemKind, InstalledEnvironment
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.unknown import SubjectKind


def find(environment: InstalledEnvironment) -> Iterator[Finding]:
    """Yield a finding where the variable is set to another folder than the interpreter's own."""
    around = environment.isolation
    value = around.variables.get("PYTHONHOME", "") if around is not None else ""
    if not value:
        return
    broken = any(problem.kind is EnvironmentProblemKind.INTERPRETER_FAILED for problem in environment.problems)
    yield RULE.finding(
        "PYTHONHOME",
        f"`PYTHONHOME` is `{value}`" + (", and the interpreter does not start with it" if broken else ""),
        (Evidence(value, "PYTHONHOME"),),
        Remedy("Unset `PYTHONHOME`"),
        severity=Severity.ERROR if broken else Severity.WARNING,
    )


RULE = Rule.of(
    __name__,
    __doc__,
    Severity.WARNING,
    find,
    summary="PYTHONHOME tells every Python where its standard library is",
    about=SubjectKind.VARIABLE,
)
