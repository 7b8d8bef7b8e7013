"""Part of the project's requirements could not be read.

## What it does

Reports what could not be read of a project's files. An error is what pip refuses too: a missing `-r` file, an unknown
option, an index URL that is none. A warning is what only a download or running code would tell, a file outside the
checkout, an unset variable, an option that pip ignores, and a project without requirements. In an extra, group or list
that nobody asked for, all of it is one step milder. What conda's channels have and no Python index is one note a file.

## Why is this bad

What was not read was not checked either: the diagnosis speaks of less than what will be installed.

## Example

`-r requirements/base.txt` where there is no such file.

## References

- pip, Requirements file format: https://pip.pypa.io/en/stable/reference/requirements-file-format/
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from envdoctor.diagnose.rule import Rule
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.project import Project, ReadingProblem, ReadingProblemKind
from envdoctor.model.unknown import SubjectKind

_SEVERITY = {
    ReadingProblemKind.MISSING_FILE: Severity.ERROR,
    ReadingProblemKind.UNKNOWN_OPTION: Severity.ERROR,
    ReadingProblemKind.OUTSIDE_PROJECT: Severity.WARNING,
    ReadingProblemKind.INVALID_URL: Severity.ERROR,
    ReadingProblemKind.MISSING_VARIABLE: Severity.WARNING,
    ReadingProblemKind.IGNORED_OPTION: Severity.WARNING,
    ReadingProblemKind.UNKNOWN_EXTRA: Severity.WARNING,
    ReadingProblemKind.UNREAD: Severity.WARNING,
    ReadingProblemKind.DYNAMIC: Severity.WARNING,
    ReadingProblemKind.EMPTY: Severity.WARNING,
    ReadingProblemKind.UNSUPPORTED: Severity.INFO,
}

_INSTALLED = "what comes out of an install can be judged: `envdoctor check --env DIR`"
_TRY = {
    ReadingProblemKind.MISSING_FILE: "add it, or take out the line that names it",
    ReadingProblemKind.UNKNOWN_OPTION: "take the option out of the file",
    ReadingProblemKind.OUTSIDE_PROJECT: "check the folder that holds both",
    ReadingProblemKind.INVALID_URL: "write the whole URL, such as `https://host.example/simple`",
    ReadingProblemKind.MISSING_VARIABLE: "set it, or write its value in its place",
    ReadingProblemKind.UNKNOWN_EXTRA: "ask for an extra that the project has",
    ReadingProblemKind.UNREAD: _INSTALLED,
    ReadingProblemKind.DYNAMIC: f"write the requirements where they can be read; {_INSTALLED}",
}
_MOST = 5
"""Of conda's packages that the message names; the others are evidence."""


def _is_said(problem: ReadingProblem) -> bool:
    """Return whether the message quotes all of the line; the place stands beside it in any case."""
    return not problem.text.strip() or problem.text.strip() in problem.message


def _find(project: Project) -> Iterator[Finding]:
    problems = project.problems
    yield from _of_conda(problems)
    for problem in problems:
        severity = _SEVERITY.get(problem.kind)
        if severity is None:
            continue
        if problem.group is not None:
            # What nobody asked for decides nothing.
            severity = Severity.WARNING if severity is Severity.ERROR else Severity.INFO
        yield RULE.finding(
            subject=problem.origin.path,
            message=problem.message.rstrip("."),
            severity=severity,
            evidence=() if _is_said(problem) else (Evidence(problem.text.strip(), str(problem.origin)),),
            remedy=Remedy(_TRY[problem.kind]) if problem.kind in _TRY and severity is not Severity.INFO else None,
            location=problem.origin,
        )


def _of_conda(problems: Sequence[ReadingProblem]) -> Iterator[Finding]:
    """Yield one note a file: an environment that conda wrote down has dozens of them."""
    by_file: dict[str, list[ReadingProblem]] = {}
    for problem in problems:
        if problem.kind is ReadingProblemKind.OF_CONDA:
            by_file.setdefault(problem.origin.path, []).append(problem)
    for path, left in by_file.items():
        named = ", ".join(f"`{item.text.strip()}`" for item in left[:_MOST])
        named += f" and {len(left) - _MOST} more" if len(left) > _MOST else ""
        many = f"{len(left)} packages of conda's channels, which no Python index has so, are left to conda: {named}"
        yield RULE.finding(
            subject=path,
            message=left[0].message if len(left) == 1 else many,
            severity=Severity.INFO,
            evidence=tuple(Evidence(item.text.strip(), str(item.origin)) for item in left[_MOST:]),
            location=left[0].origin,
        )


RULE = Rule.of(__name__, __doc__, Severity.ERROR, _find, about=SubjectKind.FILE)
