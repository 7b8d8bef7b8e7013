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

from packaging.utils import canonicalize_name
from packaging.version import Version

from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.installed_demands import demands_of
from envdoctor.diagnose.remedies import filled_by_uv, installer_commands
from envdoctor.diagnose.rule import Rule
from envdoctor.model.dataclass import dataclass
from envdoctor.model.environment import EnvironmentProblemKind, InstalledEnvironment
from envdoctor.model.finding import Applicability, Evidence, Finding, Remedy, Severity


@dataclass(frozen=True, slots=True)
class _Trouble:
    """What is said of one kind of problem; ``{name}`` is what it is about, ``{detail}`` what was seen."""

    severity: Severity
    message: str
    advice: str
    placed: bool = True
    """Whether what it is about is a place, and evidence of it."""


_UNREADABLE = _Trouble(
    Severity.WARNING, "`{name}` cannot be read: {detail}", "Delete it and install the distribution again"
)
_TROUBLES = {
    EnvironmentProblemKind.NO_METADATA: _UNREADABLE,
    EnvironmentProblemKind.UNREADABLE_METADATA: _UNREADABLE,
    EnvironmentProblemKind.FORBIDDEN: _Trouble(
        Severity.WARNING,
        "`{name}` may not be read by this user ({detail}): what is in it is not known",
        "Check as a user who may read it, or give this one the right to",
    ),
    EnvironmentProblemKind.SOURCE_GONE: _Trouble(
        Severity.ERROR,
        "`{name}` is installed as editable, and its sources are gone: {detail}",
        "Install it again from where its sources are now (`pip install -e FOLDER`), or uninstall it",
        placed=False,
    ),
    EnvironmentProblemKind.NO_OWNER: _Trouble(
        Severity.INFO,
        "`{name}` is there as a folder without metadata (no dist-info): installers do not see it",
        "Where nobody put it there on purpose, delete it and install what it belongs to again",
        placed=False,
    ),
    EnvironmentProblemKind.NO_RECORD: _Trouble(
        Severity.WARNING,
        "`{name}` has no list of its files: {detail}; installers cannot remove it",
        "Install the same version again over what is there",
        placed=False,
    ),
    EnvironmentProblemKind.UNREADABLE_LINE: _Trouble(
        Severity.INFO, "{name} could not be read: `{detail}`", "Paste the listing again as the tool prints it"
    ),
}


def find(examination: Examination, environment: InstalledEnvironment) -> Iterator[Finding]:
    """Yield one finding for each broken piece of metadata."""
    for problem in environment.problems:
        trouble = _TROUBLES.get(problem.kind)
        if trouble is not None:
            name = problem.subject.replace("\\", "/").rsplit("/", 1)[-1] if trouble is _UNREADABLE else problem.subject
            message, advice = (
                text.format(name=name, detail=problem.detail) for text in (trouble.message, trouble.advice)
            )
            evidence = Evidence(problem.detail, problem.subject if trouble.placed else "")
            if problem.kind is EnvironmentProblemKind.NO_RECORD:
                yield _finding(trouble.severity, name, message, evidence, _again(environment, name))
            else:
                yield _finding(trouble.severity, name, message, evidence, Remedy(advice))
    for distribution, text in demands_of(examination).unreadable:
        yield _finding(
            Severity.INFO,
            distribution.name,
            f"`{distribution.name}` {distribution.version} has a requirement that cannot be read: `{text}`",
            Evidence(f"Requires-Dist: {text}", distribution.metadata_path),
            Remedy(f"A newer release of `{distribution.name}` may have mended it"),
        )
    for distribution in environment.distributions:
        if distribution.version and not _is_version(distribution.version):
            yield _finding(
                # Linux distributions number some of their own packages so.
                Severity.INFO,
                distribution.name,
                f"The version `{distribution.version}` of `{distribution.name}` is not a valid one (PEP 440)",
                Evidence(f"Version: {distribution.version}", distribution.metadata_path),
                Remedy("pip 24.1 and later refuse such versions; a newer release may have a valid one"),
            )


def _is_version(text: str) -> bool:
    try:
        Version(text)
    except ValueError:
        return False
    return True


def _again(environment: InstalledEnvironment, name: str) -> Remedy:
    """Return how a distribution without a list of files is installed again in the version that is there.

    Another version would come in beside it: no installer can take away what is not listed. pip writes over what is
    there where it is told not to look; uv looks, and stops at the missing list, so that the folder goes first.
    """
    item = environment.get(canonicalize_name(name))
    if item is None or item.direct_url:
        return Remedy("Delete its dist-info folder, and install it again from where it came")
    version = f"{name}=={item.version}"
    if filled_by_uv(environment):
        advice = f"Delete `{item.metadata_path}`, then install `{name}` {item.version} again"
        commands = installer_commands(environment, ("install", "--no-deps", version))
    else:
        advice = f"Install `{name}` {item.version} again over what is there"
        commands = installer_commands(environment, ("install", "--ignore-installed", "--no-deps", version))
    return Remedy(advice, Applicability.UNSAFE, commands)


def _finding(severity: Severity, subject: str, message: str, evidence: Evidence, remedy: Remedy) -> Finding:
    return RULE.finding(subject, message, (evidence,), remedy, severity=severity)


RULE = Rule.of(__name__, __doc__, Severity.WARNING, find)
