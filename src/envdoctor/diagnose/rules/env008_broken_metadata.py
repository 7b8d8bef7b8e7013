"""Metadata of an installed distribution is missing or cannot be read.

## What it does
Reports `.dist-info` folders without METADATA or, where pip or uv wrote them, without a list of files (RECORD);
packages of which no distribution knows (a note); metadata without a name and version, requirements that are not
PEP 508, versions that are not PEP 440, and editable installs whose sources are gone (an error: importing them fails).

## Why it is bad
pip warns or stops (`None` as a version, "invalid distribution"), upgrades go wrong, and nobody knows what such a
distribution needs.

## Example
`torch-2.6.0.dist-info` with nothing but an empty `REQUESTED` in it, after an uninstall that failed half way.

## What to do
Delete the folder and install the distribution again; newer releases have mended most invalid requirements.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from packaging.version import Version

from envdoctor.diagnose.installed_demands import demands_of
from envdoctor.diagnose.rule import Rule
from envdoctor.model.environment import ProblemKind
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity

if TYPE_CHECKING:
    from envdoctor.diagnose.examination import Examination


def find(examination: Examination) -> Iterator[Finding]:
    """Yield one finding for each broken piece of metadata."""
    environment = examination.environment
    if environment is None:
        return
    for problem in environment.problems:
        if problem.kind in (ProblemKind.NO_METADATA, ProblemKind.UNREADABLE_METADATA):
            entry = problem.subject.replace("\\", "/").rsplit("/", 1)[-1]
            yield _finding(
                Severity.WARNING,
                entry,
                f"`{entry}` cannot be read: {problem.detail}",
                Evidence(problem.detail, problem.subject),
                "Delete it and install the distribution again",
            )
        elif problem.kind is ProblemKind.FORBIDDEN:
            yield _finding(
                Severity.WARNING,
                problem.subject,
                f"`{problem.subject}` may not be read by this user ({problem.detail}): what is in it is not known",
                Evidence(problem.detail, problem.subject),
                "Check as a user who may read it, or give this one the right to",
            )
        elif problem.kind is ProblemKind.SOURCE_GONE:
            yield _finding(
                Severity.ERROR,
                problem.subject,
                f"`{problem.subject}` is installed as editable, and its sources are gone: {problem.detail}",
                Evidence(problem.detail),
                "Install it again from where its sources are now (`pip install -e FOLDER`), or uninstall it",
            )
        elif problem.kind is ProblemKind.NO_OWNER:
            yield _finding(
                Severity.INFO,
                problem.subject,
                f"`{problem.subject}` is there as a folder without metadata (no dist-info): installers do not see it",
                Evidence(problem.detail),
                "Where nobody put it there on purpose, delete it and install what it belongs to again",
            )
        elif problem.kind is ProblemKind.NO_RECORD:
            yield _finding(
                Severity.WARNING,
                problem.subject,
                f"`{problem.subject}` has no list of its files: {problem.detail}; installers cannot remove it",
                Evidence(problem.detail),
                f"Install it again over what is there: `pip install --ignore-installed --no-deps {problem.subject}`",
            )
        elif problem.kind is ProblemKind.UNREADABLE_LINE:
            yield _finding(
                Severity.INFO,
                problem.subject,
                f"{problem.subject} could not be read: `{problem.detail}`",
                Evidence(problem.detail, problem.subject),
                "Paste the listing again as the tool prints it",
            )
    for distribution, text in demands_of(examination).unreadable:
        yield _finding(
            Severity.INFO,
            distribution.name,
            f"`{distribution.name}` {distribution.version} has a requirement that cannot be read: `{text}`",
            Evidence(f"Requires-Dist: {text}", distribution.metadata_path),
            f"A newer release of `{distribution.name}` may have mended it",
        )
    for distribution in environment.distributions:
        if distribution.version and not _is_version(distribution.version):
            yield _finding(
                # Linux distributions number some of their own packages so.
                Severity.INFO,
                distribution.name,
                f"The version `{distribution.version}` of `{distribution.name}` is not a valid one (PEP 440)",
                Evidence(f"Version: {distribution.version}", distribution.metadata_path),
                "pip 24.1 and later refuse such versions; a newer release may have a valid one",
            )


def _is_version(text: str) -> bool:
    try:
        Version(text)
    except ValueError:
        return False
    return True


def _finding(severity: Severity, subject: str, message: str, evidence: Evidence, advice: str) -> Finding:
    return Finding(RULE.code, RULE.name, severity, subject, message, (evidence,), Remedy(advice))


RULE = Rule(
    code="ENV008",
    name="broken-metadata",
    severity=Severity.WARNING,
    summary="Metadata of an installed distribution is missing or cannot be read",
    find=find,
    documentation=__doc__,
    needs=frozenset({"environment"}),
)
