"""A binary needs a newer glibc or macOS than the target has.

## What it does
Reads the highest glibc symbol version that extension modules (and what they cannot load without) need, and the macOS
release that they were built for, and compares with the system's own level where it is known: told by the
environment's interpreter or the facts, or promised by the profile.

## Why it is bad
The import fails: "version `GLIBC_2.34' not found", "was built for macOS 14.0 which is newer than running OS".

## Example
Packages built in a container of Debian 12, copied to a machine with Ubuntu 20.04.

## What to do
Install the wheel with the lower level (`manylinux_2_17` instead of `manylinux_2_34`), or build on the target.

## References
- PEP 600, https://peps.python.org/pep-0600/
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from envdoctor.diagnose.binary_links import links_of, owner, short_path
from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.rule import Rule
from envdoctor.model.binary import Binary, BinaryInventory
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.target import OperatingSystem, dotted

_Level = tuple[int, int]


def find(examination: Examination, binaries: BinaryInventory) -> Iterator[Finding]:
    """Yield one finding for each distribution with a binary above the level."""
    for system, level, where in _levels(examination):
        groups: dict[str, list[tuple[_Level, Binary]]] = {}
        for item in links_of(binaries).importable():
            needed = item.glibc if system == "glibc" else item.macos
            if needed is not None and needed > level:
                groups.setdefault(owner(item), []).append((needed, item))
        for subject, items in groups.items():
            highest = max(needed for needed, _ in items)
            yield RULE.finding(
                subject,
                f"`{subject}` needs {system} {dotted(highest)}, and {where} has {dotted(level)}",
                tuple(Evidence(f"{system} {dotted(needed)}", short_path(item.path)) for needed, item in items[:8]),
                Remedy(f"install a build of `{subject}` for {system} {dotted(level)}, or build it on the target"),
            )


def _levels(examination: Examination) -> Iterator[tuple[str, _Level, str]]:
    """Yield what is known of the system's level; a target that only assumes a level proves nothing."""
    environment, target, profile = examination.environment, examination.target, examination.profile
    linux = target is None or target.os is OperatingSystem.LINUX
    told = _level(environment.told.glibc if environment else None)
    measured = told or (_level(examination.facts.value("host.glibc")) if linux else None)
    promised = profile.target.glibc if profile and linux else None
    if measured or promised:
        yield "glibc", measured or promised or (0, 0), "this machine" if measured else "the target"
    if target is not None and target.os is OperatingSystem.MACOS:
        level = _level(examination.facts.value("host.macos")) or (profile.target.macos if profile else None)
        if level:
            yield "macOS", level, "the target"


def _level(text: object) -> _Level | None:
    """Return the level in ``glibc 2.36`` or ``14.2.1``."""
    match = re.search(r"(?<!\d)(\d{1,9})\.(\d{1,9})", str(text or ""))
    return (int(match[1]), int(match[2])) if match else None


RULE = Rule.of(__name__, __doc__, Severity.ERROR, find)
