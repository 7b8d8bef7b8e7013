"""A line that is not a requirement.

## What it does

Reports a line that is not a requirement, with what may have been meant.

## Why is this bad

`pip` refuses the whole file for one such line. A guess would install something that nobody asked for.

A line of an extra, group or list that nobody asked for is a warning: `--extra` and `--group` ask for one.

## Example

`httpx==0.23.` may mean `httpx==0.23.0`, `httpx==0.23.3` or `httpx==0.23.*`.

## References

- PyPA, Version specifiers: https://packaging.python.org/specifications/version-specifiers/
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from packaging.requirements import InvalidRequirement
from packaging.requirements import Requirement as ParsedRequirement

from envdoctor.diagnose.rule import Rule
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.project import Project, ReadingProblem, ReadingProblemKind
from envdoctor.model.unknown import SubjectKind

_VERSION = re.compile(r"(?:===|[=!<>~]=|[<>])\s*([^\s,;)]+)")
_SINGLE = re.compile(r"[\w\]]\s*=(?!=)\s*\w")


def _wrong(problem: ReadingProblem) -> str:
    """Say what is wrong with the text, in words of its own where the reader only says that it is not valid."""
    text = problem.text.strip()
    said = problem.message.rstrip(".")
    if not problem.unexplained:
        return said
    body = text.split(";")[0].rstrip()
    if body.endswith(("=", "<", ">", "!", "~", ",")):
        return "it ends where a version should follow"
    for version in _VERSION.findall(body):
        if version.endswith("."):
            return f"its version `{version}` ends with a dot"
        if version.startswith("."):
            return f"its version `{version}` starts with a dot"
        if "*" in version and not version.endswith(".*"):
            return f"`*` may only end a version, after a dot, and here it is `{version}`"
        if version[0] in "=<>!~":
            return f"there is one operator too many before `{version.lstrip('=<>!~')}`"
    if _SINGLE.search(body):
        return "a single `=` is conda's form, pip's is `==`"
    return _parser_s_words(text) or "it is not a name with versions"


def _parser_s_words(text: str) -> str | None:
    try:
        ParsedRequirement(text)
    except InvalidRequirement as error:
        first = str(error).splitlines()[0].strip().rstrip(":. ")
        return f"{first[:1].lower()}{first[1:]}" if first else None
    return None


def _find(project: Project) -> Iterator[Finding]:
    for problem in project.problems:
        if problem.kind is not ReadingProblemKind.INVALID_REQUIREMENT:
            continue
        meant = ", ".join(f"`{item}`" for item in problem.suggestions)
        summary = f"write {'one of ' if len(problem.suggestions) > 1 else ''}{meant}" if meant else "correct the line"
        stands = f" of the {problem.group}" if problem.group else ""
        yield RULE.finding(
            subject=problem.text.strip() or problem.origin.path,
            message=f"`{problem.text.strip()}` is an invalid requirement{stands}: {_wrong(problem)}",
            severity=Severity.WARNING if problem.group else RULE.severity,
            evidence=(Evidence(problem.text.strip(), str(problem.origin)),),
            remedy=Remedy(summary),
            location=problem.origin,
        )


RULE = Rule.of(__name__, __doc__, Severity.ERROR, _find, about=SubjectKind.PROJECT)
