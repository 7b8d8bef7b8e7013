"""Under WSL the environment or the project lies on a disk of Windows.

## What it does
Looks whether the environment (else the project) lies below `/mnt/c` or another letter, on a machine that is WSL.

## Why it is bad
Each file there goes through Windows' side: an import of torch, which opens thousands of files, takes many times as
long, and so does loading a checkpoint. Rights of executables and links are not those of Linux.

## Example
`/mnt/c/Users/me/DiffRhythm2/.venv` in Ubuntu under WSL2.

## What to do
Keep the project and its environment in Linux' own file system (`~/`); Windows reaches them by the network place of WSL.

## References
- Microsoft, Working across Windows and Linux file systems: https://learn.microsoft.com/windows/wsl/filesystems
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.rule import Rule
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.unknown import SubjectKind

_OF_WINDOWS = re.compile(r"/mnt/[a-z](?:/|$)")


def find(examination: Examination) -> Iterator[Finding]:
    """Yield at most one note."""
    if not examination.facts.value("host.wsl"):
        return
    environment = examination.environment.root if examination.environment is not None else ""
    project = examination.project.root if examination.project is not None else ""
    for what, place in (("the environment", environment), ("the project", project)):
        if place and _OF_WINDOWS.match(place):
            yield RULE.finding(
                place,
                f"{what} lies on a disk of Windows, `{place}`, which is slow from WSL",
                (Evidence(place, examination.facts.get("host.wsl").source),),
                Remedy("keep it in Linux' own file system, below your home folder"),
            )
            return


RULE = Rule.of(__name__, __doc__, Severity.INFO, find, about=SubjectKind.FILE)
