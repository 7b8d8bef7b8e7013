"""The Python that the venv was made with is gone, or is another version now.

## What it does
Compares `pyvenv.cfg` and the folders of the venv with the interpreter that its `python` is a link to.

## Why it is bad
A venv holds no Python of its own. When the base is removed nothing starts; when it is upgraded from 3.11 to 3.12, the
packages lie in a folder that the new one does not read.

## Example
`bin/python` points to `/usr/bin/python3.10`, which an upgrade of the system removed.

## What to do
Make the venv anew and install from the lock.
"""

from __future__ import annotations

from collections.abc import Iterator

from envdoctor.diagnose.rule import Rule
from envdoctor.model.environment import EnvironmentProblemKind, InstalledEnvironment
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.unknown import SubjectKind


def find(environment: InstalledEnvironment) -> Iterator[Finding]:
    """Yield one finding for a base that is gone or changed."""
    for problem in environment.problems:
        if problem.kind not in (EnvironmentProblemKind.BASE_GONE, EnvironmentProblemKind.BASE_CHANGED):
            continue
        gone = problem.kind is EnvironmentProblemKind.BASE_GONE
        yield RULE.finding(
            problem.subject,
            f"The Python under the venv is {'gone' if gone else 'another one now'}: {problem.detail}",
            (Evidence(problem.detail, f"{problem.subject}/pyvenv.cfg"),),
            Remedy("Make the venv anew with a Python that is there, and install from the lock"),
            severity=Severity.ERROR,
        )


RULE = Rule.of(__name__, __doc__, Severity.ERROR, find, about=SubjectKind.ENVIRONMENT)
