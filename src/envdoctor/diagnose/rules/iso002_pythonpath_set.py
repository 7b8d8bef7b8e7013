"""`PYTHONPATH` is set, and puts folders before the environment.

## What it does
Reads the variable. Folders with distributions in them, folders of another Python version, and folders whose files have
the names of installed packages are a warning; other folders of sources are information.

## Why it is bad
Every Python that starts, in every environment, looks there first: a package of another environment, or of another
Python version, replaces the right one.

## Example
`PYTHONPATH=/opt/other/lib/python3.8/site-packages` with Python 3.11.

## What to do
Unset it (`unset PYTHONPATH`), and install what is needed, editable where it is your own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from envdoctor.diagnose.rule import Rule
from envdoctor.diagnose.surroundings import is_inside
from envdoctor.model.environment import InstalledEnvironment
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.unknown import SubjectKind

_VERSION = re.compile(r"python(\d)\.(\d+)")


def find(environment: InstalledEnvironment) -> Iterator[Finding]:
    """Yield one finding where the variable is set."""
    around = environment.isolation
    value = around.variables.get("PYTHONPATH", "") if around is not None else ""
    if not value:
        return
    separator = ";" if environment.told.platform == "win32" else ":"
    folders = [folder for folder in value.split(separator) if folder]
    own = {str(folder) for folder in environment.site_packages if is_inside(environment, folder)}
    evidence = []
    for folder in folders:
        count = sum(item.location == folder for item in environment.distributions)
        version = _VERSION.search(folder)
        hidden = _hidden(environment, folder, around.path_modules.get(folder, frozenset()) if around else frozenset())
        if folder not in own and count:
            evidence.append(Evidence(f"{count} distributions", folder))
        elif version and environment.python not in (None, (int(version[1]), int(version[2]))):
            evidence.append(Evidence(f"a folder of Python {version[1]}.{version[2]}", folder))
        elif folder not in own and hidden:
            evidence.append(Evidence(f"hides {', '.join(hidden[:5])}", folder))
    yield RULE.finding(
        "PYTHONPATH",
        f"`PYTHONPATH` puts {len(folders)} folder{'s' if len(folders) != 1 else ''} before the environment",
        (*evidence, Evidence(value, "PYTHONPATH")),
        Remedy("Unset `PYTHONPATH`, and install what you need from there"),
        severity=Severity.WARNING if evidence else Severity.INFO,
    )


def _hidden(environment: InstalledEnvironment, folder: str, modules: frozenset[str]) -> list[str]:
    """Return the installed distributions whose modules lie in a folder that is searched before theirs.

    What is installed as editable from there is itself.
    """
    return sorted(
        item.name
        for item in environment.distributions
        if not item.editable
        and item.location != folder
        and modules & (set(item.top_level) or {item.name.replace("-", "_")})
    )


RULE = Rule.of(
    __name__,
    __doc__,
    Severity.WARNING,
    find,
    summary="PYTHONPATH puts folders before the environment",
    about=SubjectKind.VARIABLE,
)
