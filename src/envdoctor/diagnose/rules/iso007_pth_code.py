"""A `.pth` file runs code whenever Python starts.

## What it does
Lists `.pth` lines that begin with `import`, apart from those of well-known tools (setuptools, editable installs,
namespace packages, coverage, pywin32, virtualenv).

## Why it is bad
Such a line runs in every process before any program does; it can change the search path, hang or break the start,
and it is a place where malicious packages hide.

## Example
`_loader.pth`: `import base64; exec(base64.b64decode(...))`.

## What to do
Look which distribution brought the file (its RECORD names it); remove it where none did.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from envdoctor.diagnose.rule import Rule
from envdoctor.model.environment import InstalledEnvironment
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.unknown import SubjectKind

_KNOWN = re.compile(
    r"distutils-precedence|_distutils_hack|__editable__|-nspkg|_virtualenv|coverage|cov_core|pytest-cov|pywin32"
    r"|_envdoctor_settings|easy-install|setuptools|_pypackages|googleapis|protobuf|sphinxcontrib|ruamel|zope|_uv_ephemeral_overlay",
    re.IGNORECASE,
)


def find(environment: InstalledEnvironment) -> Iterator[Finding]:
    """Yield one finding for each file that runs code of its own."""
    files: dict[str, list[tuple[int, str]]] = {}
    for file, number, text in environment.pth:
        name = file.replace("\\", "/").rsplit("/", 1)[-1]
        if not _KNOWN.search(name):
            files.setdefault(file, []).append((number, text))
    for file, found in files.items():
        name = file.replace("\\", "/").rsplit("/", 1)[-1]
        yield RULE.finding(
            name,
            f"`{name}` runs code whenever Python starts",
            tuple(Evidence(text[:200], f"{file}:{number}") for number, text in found[:5]),
            Remedy("Look which distribution brought the file; remove it where none did"),
            severity=Severity.INFO,
        )


RULE = Rule.of(
    __name__,
    __doc__,
    Severity.INFO,
    find,
    summary="A .pth file runs code whenever Python starts",
    about=SubjectKind.FILE,
)
