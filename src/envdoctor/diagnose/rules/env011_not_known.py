"""What a listing cannot tell.

## What it does
Says which questions stay open when nothing but a pasted list of versions is at hand; not those that options
(`--target-python`, `--target-os`) or facts answer.

## Why it is bad
Silence would look like health: a `pip freeze` says nothing about requirements, files, or the interpreter.

## Example
`pip freeze`: no requirements, no file lists, no Python version.

## What to do
Where you can, send `pip inspect` instead, or the facts of `envdoctor host --format json`; or check the environment
on its own machine.
"""

from __future__ import annotations

from collections.abc import Iterator

from envdoctor.diagnose.rule import Rule
from envdoctor.model.environment import EnvironmentProblemKind, InstalledEnvironment
from envdoctor.model.finding import Finding, Remedy, Severity, in_words
from envdoctor.model.unknown import SubjectKind

_NOT_TOLD = (
    EnvironmentProblemKind.REQUIREMENTS_NOT_TOLD,
    EnvironmentProblemKind.PYTHON_NOT_TOLD,
    EnvironmentProblemKind.SYSTEM_NOT_TOLD,
    EnvironmentProblemKind.NOT_TOLD,
)


def find(environment: InstalledEnvironment) -> Iterator[Finding]:
    """Yield one finding for everything that stays open."""
    open_questions = [problem for problem in environment.problems if problem.kind in _NOT_TOLD]
    if open_questions:
        yield RULE.finding(
            subject=open_questions[0].subject,
            message=f"`{environment.source}` output does not tell {in_words([item.detail for item in open_questions])}",
            remedy=Remedy("Check the environment on its machine, or send `python -m pip inspect` for its requirements"),
        )


RULE = Rule.of(__name__, __doc__, Severity.INFO, find, about=SubjectKind.ENVIRONMENT)
