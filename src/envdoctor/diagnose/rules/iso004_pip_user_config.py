"""pip's configuration sends what it installs somewhere else.

## What it does
Reads pip's configuration files and `PIP_` variables for `user`, `target`, `prefix`, `root` and `no-deps`.

## Why it is bad
`pip install` then fails in a venv ("Can not perform a '--user' install"), or says "Successfully installed" and the
environment never sees it; with `no-deps` nothing that a package needs is installed.

## Example
`user = true` in `~/.config/pip/pip.conf`.

## What to do
Remove the line (`pip config unset global.user`), or set `PIP_USER=0` for the environment.
"""

from __future__ import annotations

from collections.abc import Iterator

from envdoctor.diagnose.rule import Rule
from envdoctor.diagnose.surroundings import is_here
from envdoctor.model.environment import EnvironmentKind, InstalledEnvironment
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.unknown import SubjectKind

_EFFECTS = {
    "user": "installs into the user site, or fails in a venv",
    "target": "installs into another folder",
    "prefix": "installs into another folder",
    "root": "installs into another folder",
    "no-deps": "leaves out what packages need",
}


def find(environment: InstalledEnvironment) -> Iterator[Finding]:
    """Yield one finding for each such setting in force."""
    if environment.isolation is None:
        return
    for where, key, value in environment.isolation.pip_config:
        if key not in _EFFECTS or (key in ("target", "prefix") and is_here(environment, value)):
            continue
        # Outside of environments, `user` is what distributions of Linux recommend.
        mild = key == "user" and environment.kind not in (EnvironmentKind.VENV, EnvironmentKind.CONDA)
        yield RULE.finding(
            f"pip {key}",
            f"pip is told `{key} = {value}`, so it {_EFFECTS[key]}",
            (Evidence(f"{key} = {value}", where),),
            Remedy(f"Remove `{key}` from `{where}`, or call pip with `--isolated`"),
            severity=Severity.INFO if mild else Severity.WARNING,
        )


RULE = Rule.of(__name__, __doc__, Severity.WARNING, find, about=SubjectKind.PROGRAM)
