"""A fix of this environment was cut short, and not taken back.

## What it does
Looks into the journals of `envdoctor fix`: one without an end belongs to a fix, or to an undo, that was killed or lost
its power.

## Why it is bad
Some packages may be new, others old, and a patch may be half of what belongs together. That nothing else is found wrong
says only that the files which are there agree.

## Example
The machine was switched off while `fix` installed.

## What to do
Take the fix back: `envdoctor undo`. The next `fix` does that by itself before it begins.
"""

from __future__ import annotations

from collections.abc import Iterator

from envdoctor.diagnose.rule import Rule
from envdoctor.model.environment import EnvironmentProblemKind, InstalledEnvironment
from envdoctor.model.finding import Command, Evidence, Finding, Remedy, Severity
from envdoctor.model.unknown import SubjectKind


def find(environment: InstalledEnvironment) -> Iterator[Finding]:
    """Yield one finding for all fixes that were cut short."""
    cut = [item for item in environment.problems if item.kind is EnvironmentProblemKind.CUT_SHORT]
    if not cut:
        return
    yield RULE.finding(
        subject=environment.root,
        message="A fix of this environment was cut short: it is neither as before nor as the fix would have left it",
        evidence=tuple(Evidence("the journal has no end", f".envdoctor/journal/{item.subject}") for item in cut),
        remedy=Remedy("Put it back as it was; the next fix does that, too", commands=(Command("undo"),)),
    )


RULE = Rule.of(
    __name__,
    __doc__,
    Severity.ERROR,
    find,
    summary="A fix of the environment was cut short and not taken back",
    about=SubjectKind.ENVIRONMENT,
)
