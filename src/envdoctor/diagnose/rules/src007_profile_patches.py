"""What of a profile's patches fits the sources as they are.

## What it does
Tries each patch of the profile on the project's files, in memory: it fits, it is applied already, or the place that it
looks for is not there (a newer version of the project, or somebody's own changes). Where the stack's checkout lies
inside another project, the patches are tried there.

## Why it is bad
`envdoctor fix` refuses all of a treatment where one patch does not fit, so that what the profile promises is not to be
had for these sources.

## Example
`inference.py` chooses its device in another way than the release for which the profile was written.

## What to do
Take the version of the project that the profile names, or change the patch: `envdoctor profiles show NAME` says what
each is for. `envdoctor fix --dry-run` shows those that fit as diffs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from envdoctor.diagnose.examination import Sources
from envdoctor.diagnose.rule import Rule
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.profile import Profile
from envdoctor.model.unknown import SubjectKind

if TYPE_CHECKING:
    from envdoctor.diagnose.examination import Examination
    from envdoctor.model.plan import PatchState


def find(examination: Examination, sources: Sources, profile: Profile) -> Iterator[Finding]:
    """Yield one finding: how the patches stand; nothing where the project has no sources."""
    states = examination.patches
    if not states or not any(True for _ in sources.python_files()):
        return
    misfits = [state for state in states if state.state == "misfit"]
    absent = [state for state in states if state.state == "absent"]
    there = [state for state in states if state.state in ("fits", "applied")]
    wrong = misfits or (absent if there else [])
    if examination.accepted and not wrong:
        return
    if not there and not misfits:
        if not absent:
            return
        message = f"the files that profile `{profile.name}` patches are not here: `envdoctor fix` needs the checkout"
    else:
        message = _counted(profile.name, states)
    yield RULE.finding(
        subject=profile.place or profile.name,
        message=message,
        severity=Severity.WARNING if wrong else Severity.INFO,
        evidence=tuple(Evidence(*_said(state)) for state in (*misfits, *absent, *there)),
        remedy=_REMEDY if wrong else None,
    )


_REMEDY = Remedy("take the version of the project that the profile was written for; `fix` refuses where a patch misses")


def _counted(profile: str, states: Sequence[PatchState]) -> str:
    words = (
        ("fits", "fit"),
        ("applied", "are applied"),
        ("misfit", "do not fit"),
        ("absent", "miss their file"),
        ("optional", "have nothing to change here"),
    )
    counted = [(sum(state.state == name for state in states), word) for name, word in words]
    parts = ", ".join(f"{number} {word}" for number, word in counted if number)
    return f"of the {len(states)} patches of profile `{profile}`: {parts}"


def _said(state: PatchState) -> tuple[str, str]:
    words = {"fits": "fits", "applied": "is applied", "absent": "its file is not here"}
    return f"patch `{state.name}` {words[state.state]}" if state.state in words else state.detail, state.files[0]


RULE = Rule.of(__name__, __doc__, Severity.WARNING, find, needs={"patches"}, about=SubjectKind.PROJECT)
