"""The environment is not what its lock says.

## What it does
Compares the installed versions with a `pylock.toml` (PEP 751), for the packages whose markers hold on the
environment's interpreter. Packages that the lock does not know are told together, as information.

## Why it is bad
Somebody ran `pip install` by hand, or the lock moved on: what was tested is not what runs.

## Example
The lock has `torch 2.7.1+cu128`, `torch 2.7.1` is installed.

## What to do
Bring the environment back to the lock (`envdoctor fix`), or lock again.
"""

from __future__ import annotations

from collections.abc import Iterator

from packaging.version import Version

from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.installed_demands import marker_environment
from envdoctor.diagnose.rule import Rule
from envdoctor.model.environment import InstalledDistribution, InstalledEnvironment
from envdoctor.model.finding import Command, Evidence, Finding, Remedy, Severity
from envdoctor.model.requirement import holds
from envdoctor.model.unknown import SubjectKind

# What every environment may hold beside its lock: the tools that fill it.
_TOOLS = frozenset({"pip", "setuptools", "wheel", "uv", "distribute", "envdoctor"})


def find(examination: Examination, environment: InstalledEnvironment) -> Iterator[Finding]:
    """Yield a finding for each package that is missing or of another version, and one for all that are not locked."""
    lock = environment.lock
    if lock is None:
        return
    where = lock.path
    markers = marker_environment(environment, examination.target)
    installed = {item.name: item for item in reversed(environment.distributions)}
    locked: set[str] = set()
    for package in lock.document.packages:
        locked.add(package.name)
        if holds(package.marker, markers, "lock_file") is False:
            continue
        have = installed.get(package.name)
        if have is None:
            yield _finding(package.name, f"`{package.name}`{_of(package.version)} is locked, but not installed", where)
        elif package.version is not None and not _same(have.version, package.version):
            message = f"`{package.name}` is locked at {package.version}, but {have.version} is installed"
            yield _finding(package.name, message, where, have)
    extra = sorted(set(installed) - locked - _TOOLS)
    if extra:
        yield RULE.finding(
            subject="environment",
            subject_kind=SubjectKind.ENVIRONMENT,
            severity=Severity.INFO,
            message=f"{len(extra)} installed distribution{'s are' if len(extra) != 1 else ' is'} not in the lock",
            evidence=tuple(Evidence(f"{name} {installed[name].version}", where) for name in extra),
        )


def _of(version: Version | None) -> str:
    return f" {version}" if version is not None else ""


def _same(installed: str, locked: Version) -> bool:
    try:
        return Version(installed) == locked
    except ValueError:
        return installed == str(locked)


def _finding(name: str, message: str, where: str, have: InstalledDistribution | None = None) -> Finding:
    evidence = [Evidence("locked", where)]
    if have is not None:
        evidence.append(Evidence(f"installed: {have.version}", have.metadata_path))
    return RULE.finding(
        subject=name,
        message=message,
        evidence=tuple(evidence),
        remedy=Remedy("Bring the environment back to the lock, or lock again", commands=(Command("fix"),)),
    )


RULE = Rule.of(__name__, __doc__, Severity.WARNING, find)
