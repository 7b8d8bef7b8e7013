"""A lock does not have all that the target needs.

## What it does

Holds a lock that is read in a project's place (`pylock.toml`, `uv.lock`, `poetry.lock`, `pdm.lock`, `Pipfile.lock`)
against the target: packages that the locked ones need there and that the lock does not name, and packages of which the
lock has no file that the target can use.

## Why is this bad

An installer that takes the lock as it stands fails on that machine, or installs packages that do not start. Some tools
lock for the machine on which they run, and their lock looks the same as one for all.

## Example

`pip lock` on Linux names the Linux wheel of `cffi` alone, and not `colorama`, which `tqdm` needs on Windows.

## References

- PEP 751, a file format to record Python dependencies: https://peps.python.org/pep-0751/
- pip, pip lock: https://pip.pypa.io/en/stable/cli/pip_lock/
"""

from __future__ import annotations

from collections.abc import Iterator

from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.rule import Rule
from envdoctor.model.candidate import agreeing, comparable
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.origin import FileOrigin
from envdoctor.model.project import Project
from envdoctor.model.requirement import Requirement, may_hold
from envdoctor.model.resolution import Resolution
from envdoctor.model.target import Target

_MOST = 6


def _find(examination: Examination, project: Project) -> Iterator[Finding]:
    resolution = examination.resolution
    if resolution is None or resolution.repair is not None:
        return
    environment = examination.target.marker_environment() if examination.target else None
    for lock in project.locked:
        pins = [
            line
            for line in project.requirements
            if project.lock_of(line) == lock and (environment is None or may_hold(line.marker, environment))
        ]
        target = _text(examination.target)
        yield from _told(lock, pins, _of_no_use(pins, resolution), f"has no file that {target} can use, of")
        yield from _told(lock, pins, _missing(project, resolution), f"does not have what is needed on {target}:")


def _text(target: Target | None) -> str:
    return f"{target.os.value} {target.arch.value}, Python {target.python_version}" if target else "the target"


def _of_no_use(pins: list[Requirement], resolution: Resolution) -> Iterator[tuple[str, Evidence]]:
    """Yield what the lock has no file of that the target can use, though the version has one."""
    for line in pins:
        package = resolution.get(line.name)
        if package is None or not line.hashes or agreeing(package.files, line.hashes):
            continue
        if comparable(package.files, line.hashes):
            has = f"{line.name} {package.version}: no locked file can be used (of {len(line.hashes)})"
            yield line.name, Evidence(f"{has}; the index has {package.file.filename}", str(line.origin))


def _missing(project: Project, resolution: Resolution) -> Iterator[tuple[str, Evidence]]:
    """Yield what only locked packages ask for and the lock does not name."""
    written = [line for line in project.requirements if project.lock_of(line) is None]
    known = {name for names in project.locked.values() for name in names}
    for package in resolution.packages:
        if package.name not in known and not written:
            by = next((str(one.origin) for one in package.wanted_by), "")
            yield package.name, Evidence(f"{package.name} {package.version} is asked for by {by}")


def _told(lock: str, pins: list[Requirement], found: Iterator[tuple[str, Evidence]], message: str) -> Iterator[Finding]:
    names, evidence = zip(*rows, strict=True) if (rows := list(found)) else ((), ())
    if not names:
        return
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    shown = ", ".join(f"`{name}`" for name in names[:_MOST]) + more
    line = next((pin for pin in pins if pin.name == names[0]), pins[0])
    yield RULE.finding(
        subject=names[0],
        message=f"`{lock}` {message} {shown}",
        evidence=evidence[:20],
        packages=tuple(names),
        remedy=Remedy("lock again on that system, or with a tool that locks for it: `uv lock` locks for all of them"),
        location=line.origin if isinstance(line.origin, FileOrigin) else None,
    )


RULE = Rule.of(__name__, __doc__, Severity.ERROR, _find)
