"""A file that a fix had patched is not as the patch had left it.

## What it does
Compares the files that `envdoctor fix` has patched, in the environment and in the project, with the hashes that it
wrote down: one that is as before the patch is a warning, one that somebody has changed since is information.

## Why it is bad
An install of the same package, or an update of the project's checkout, brings the old file back. What the patch was for
(an import that is not there, a call that the card cannot do) comes back with it.

## Example
`six` was installed again, and `six.py` has lost the patch `sixdev`.

## What to do
Run `envdoctor fix` again: it patches what is not patched, and leaves the rest.
"""

from __future__ import annotations

from collections.abc import Iterator

from envdoctor.diagnose.rule import Rule
from envdoctor.model.environment import InstalledEnvironment
from envdoctor.model.finding import Command, Evidence, Finding, Remedy, Severity
from envdoctor.model.unknown import SubjectKind


def find(environment: InstalledEnvironment) -> Iterator[Finding]:
    """Yield a finding for each file that has lost its patches, or has other text by now."""
    for file in environment.patched:
        path, distribution, patches, state = file.path, file.distribution, file.patches, file.state
        whose = f" of `{distribution}`" if distribution else ""
        listed = ", ".join(f"`{name}`" for name in patches)
        plural = "es" if len(patches) > 1 else ""
        if state == "reverted":
            again = f": `{distribution}` was installed again" if distribution else ""
            message = f"`{path}`{whose} has lost the patch{plural} {listed}{again}"
            remedy = Remedy("Patch it again", commands=(Command("fix"),))
            yield _finding(path, message, Severity.WARNING, "it is as it was before the patch", remedy)
        elif state == "changed":
            message = f"`{path}`{whose} was changed after it had got the patch{plural} {listed}"
            yield _finding(path, message, Severity.INFO, "it is neither as before nor as patched", None)


def _finding(path: str, message: str, severity: Severity, seen: str, remedy: Remedy | None) -> Finding:
    return RULE.finding(
        subject=path,
        message=message,
        severity=severity,
        evidence=(Evidence(seen, path),),
        remedy=remedy,
    )


RULE = Rule.of(__name__, __doc__, Severity.WARNING, find, about=SubjectKind.FILE)
