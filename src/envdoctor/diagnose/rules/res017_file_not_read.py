"""Files that say what is needed, and that were not read.

## What it does

Names the requirements files, scripts and container files that lie in the project and were not looked at, with the
reason: a script for another system, a script beside the list that it installs, a project inside the project.

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
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
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
    named = ", ".join(f"`{one.path}`" for one in left_out[:_MOST])
    more = f" and {len(left_out) - _MOST} more" if len(left_out) > _MOST else ""
    were = "was" if len(left_out) == 1 else "were"
    yield RULE.finding(
        subject=left_out[0].path,
        message=f"{named}{more} {were} not read: this report says nothing of other files",
        evidence=tuple(
            Evidence(f"{one.reason.value}: {one.detail}" if one.detail else one.reason.value, one.path)
            for one in left_out
        ),
        remedy=_remedy(left_out),
    )


def _remedy(left_out: Sequence[FileLeftOut]) -> Remedy | None:
    files = [one.path for one in left_out if one.reason not in _LINES]
    return Remedy(f"`envdoctor check {files[0]}` judges one of them by itself") if files else None


RULE = Rule.of(__name__, __doc__, Severity.INFO, _find, needs={"project"}, about=SubjectKind.FILE)
