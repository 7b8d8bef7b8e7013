"""Files, and lines of a script, that say what is needed and that were not judged.

## What it does

Names the requirements files, scripts and container files that lie in the project and were not looked at, with the
reason: a script for another system, a script beside the list that it installs, a project inside the project. And the
lines of a script that do not run where those run that are judged: of another branch, of another item of a menu.

## Why it matters

Nothing in this report speaks of them. What is installed by one of them is not what was judged.

## Example

`backend/requirements.txt` beside a `requirements.txt` in the folder above: `envdoctor check backend` judges it.

## References

- pip, Requirements file format: https://pip.pypa.io/en/stable/reference/requirements-file-format/
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.rule import Rule
from envdoctor.model.finding import Command, Evidence, Finding, Remedy, Severity
from envdoctor.model.project import FileLeftOut, LeftOut
from envdoctor.model.unknown import SubjectKind

_MOST = 4
_LINES = (LeftOut.BRANCH, LeftOut.FALLBACK, LeftOut.STAGE)
"""What is said of lines of a script."""


def _find(examination: Examination) -> Iterator[Finding]:
    project = examination.project
    # RES006 tells what would decide and cannot be read.
    told = set(project.unread) if project else set()
    left_out = [one for one in project.left_out if one.path not in told] if project else []
    left_out = [one for one in left_out if one.reason is not LeftOut.DENIED]
    if not left_out:
        return
    places = list(dict.fromkeys(one.path for one in left_out))
    named = ", ".join(f"`{place}`" for place in places[:_MOST])
    more = f" and {len(places) - _MOST} more" if len(places) > _MOST else ""
    were, them, there = ("was", "it", "its place") if len(places) == 1 else ("were", "them", "their places")
    lines = all(one.reason in _LINES for one in left_out)
    why = f"other lines of the script run in {there}" if lines else f"this report says nothing of {them}"
    yield RULE.finding(
        subject=left_out[0].path,
        message=f"{named}{more} {were} not {'judged' if lines else 'read'}: {why}",
        evidence=tuple(
            Evidence(f"{one.reason.value}: {one.detail}" if one.detail else one.reason.value, one.path)
            for one in left_out
        ),
        remedy=_remedy(left_out),
    )


def _remedy(left_out: Sequence[FileLeftOut]) -> Remedy | None:
    files = list(dict.fromkeys(one.path for one in left_out if one.reason not in _LINES))
    if not files:
        return None
    summary = "judge it by itself" if len(files) == 1 else "judge each of them by itself, as the first"
    return Remedy(summary, commands=(Command("check", file=files[0]),))


RULE = Rule.of(__name__, __doc__, Severity.INFO, _find, needs={"project"}, about=SubjectKind.FILE)
