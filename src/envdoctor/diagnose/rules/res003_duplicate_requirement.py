"""Two lines say the same thing.

## What it does

Reports lines that say the same thing twice.

## Why is this bad

Whoever edits one of them later leaves the other behind, and the two begin to conflict.

## Example

```
accelerate==0.25.0
...
accelerate==0.25.0
```

## References

- pip, Requirements file format: https://pip.pypa.io/en/stable/reference/requirements-file-format/
"""

from __future__ import annotations

from collections.abc import Iterator

from envdoctor.diagnose.examination import Examination, line_of
from envdoctor.diagnose.rule import Rule
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.origin import FileOrigin, Origin
from envdoctor.model.project import Project
from envdoctor.model.requirement import Requirement

_METADATA = ("setup.py", "setup.cfg", "pyproject.toml")


def _of_other_files(first: Origin, second: Origin) -> bool:
    """Two files of which neither includes the other are each complete in themselves: a server's and a trainer's, say.

    A third one may include both.
    """
    if not isinstance(first, FileOrigin) or not isinstance(second, FileOrigin):
        return False
    return first.path not in _including(second) and second.path not in _including(first)


def _in_other_hands(first: Requirement, second: Requirement) -> bool:
    """One for conda beside one for pip, and what a package's own metadata asks for: neither line is there in vain."""
    metadata = [
        item.origin.included_from is not None and item.origin.path.rpartition("/")[2] in _METADATA
        for item in (first, second)
        if isinstance(item.origin, FileOrigin)
    ]
    return first.conda != second.conda or any(metadata)


def _including(origin: FileOrigin) -> set[str]:
    """Return the file of a line, and the files that include it."""
    paths = {origin.path}
    while origin.included_from is not None:
        origin = origin.included_from
        paths.add(origin.path)
    return paths


def _find(examination: Examination, project: Project) -> Iterator[Finding]:
    for first, second in project.duplicates:
        if _of_other_files(first.origin, second.origin) or _in_other_hands(first, second):
            continue
        yield RULE.finding(
            subject=second.name,
            message=f"`{second}` is listed twice: at {first.origin} and again at {second.origin}",
            evidence=(Evidence(str(first), str(first.origin)), Evidence(str(second), str(second.origin))),
            remedy=Remedy(f"delete the line at {second.origin}"),
            location=line_of(second),
        )
    yield from _left_out(examination)


def _left_out(examination: Examination) -> Iterator[Finding]:
    """Say in one finding how many more lines repeat others, where they are too many to be told one by one."""
    project = examination.project
    if project is None or not project.duplicates_left_out:
        return
    last = project.duplicates[-1][1]
    yield RULE.finding(
        subject=last.name,
        message=f"{project.duplicates_left_out:,} more lines after {last.origin} repeat others",
        evidence=(Evidence(str(last), str(last.origin)),),
        remedy=Remedy("delete the lines that repeat others"),
        location=line_of(last),
    )


RULE = Rule.of(__name__, __doc__, Severity.WARNING, _find)
