"""A requirements file that is not plain UTF-8.

## What it does

Reports a requirements file that is not plain UTF-8: UTF-16, a byte order mark, or bytes of an older code page.
The file was decoded and read all the same; the finding says how many requirements it gave.

## Why is this bad

Tools that expect UTF-8 see NUL bytes or an invisible character before the first name, and read nothing or nonsense.

## Example

A file saved by a Windows editor as "Unicode" is UTF-16 LE; `gradio==4.43.0` may have an invisible U+FEFF before it.

## References

- pip, Requirements file format, Encoding: https://pip.pypa.io/en/stable/reference/requirements-file-format/
"""

from __future__ import annotations

from collections.abc import Iterator

from envdoctor.diagnose.rule import Rule
from envdoctor.model.finding import Finding, Remedy, Severity
from envdoctor.model.origin import FileOrigin
from envdoctor.model.project import Project, ReadingProblemKind
from envdoctor.model.unknown import SubjectKind


def _read_all_the_same(project: Project, path: str) -> str:
    """Return how much the decoded file gave: a file that was read as nonsense would give nothing."""
    lines = {
        (item.origin.line, item.name)
        for item in (*project.requirements, *project.superseded)
        if isinstance(item.origin, FileOrigin) and item.origin.path == path
    }
    if not lines:
        return "nothing that asks for a package was found in it"
    return (
        "1 requirement was read all the same"
        if len(lines) == 1
        else f"{len(lines)} requirements were read all the same"
    )


def _find(project: Project) -> Iterator[Finding]:
    for problem in project.problems:
        if problem.kind is not ReadingProblemKind.ENCODING:
            continue
        read = _read_all_the_same(project, problem.origin.path)
        yield RULE.finding(
            subject=problem.origin.path,
            message=f"`{problem.origin.path}` has an unusual encoding: {problem.message.rstrip('.')}; {read}",
            severity=Severity.INFO if problem.harmless else RULE.severity,
            remedy=Remedy("save the file as UTF-8 without a byte order mark"),
            location=problem.origin,
        )


RULE = Rule.of(__name__, __doc__, Severity.WARNING, _find, about=SubjectKind.FILE)
