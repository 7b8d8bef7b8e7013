"""An older release is taken, since a newer one needs a newer glibc or macOS than is assumed.

## What it does

Names packages of the plan of which a newer release, which all requirements admit, has wheels for a newer glibc or macOS
alone, where nothing and nobody tells the target's. A note: the plan holds there, too.

## Why is this bad

On a machine with that system an installer takes the newer release: what is installed is not what was looked at here.

## Example

`scene` 0.19 has wheels for macOS 15 alone. Without `--macos`, 14.0 is assumed, and the plan has 0.18.

## References

- PyPA, Platform compatibility tags: https://packaging.python.org/specifications/platform-compatibility-tags/
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from packaging.specifiers import Specifier
from packaging.version import Version

from envdoctor.diagnose.examination import chain_to
from envdoctor.diagnose.rule import Rule
from envdoctor.model.candidate import ProjectPage
from envdoctor.model.compatibility import can_use, newer_level
from envdoctor.model.file_table import tags_of
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.resolution import Resolution, ResolvedPackage
from envdoctor.model.target import Target, dotted
from envdoctor.ports import Index, IndexUnavailable, ProjectNotFound

_MOST = 50
"""Newer versions that are looked at, of one package."""


def _is_settled(package: ResolvedPackage) -> bool:
    """Return whether it is pinned, or a file at a URL, of which no index is to hear."""
    return any(wanted.url or any(map(_is_exact, wanted.specifier)) for wanted in package.wanted_by)


def _admitted(package: ResolvedPackage, page: ProjectPage) -> Iterator[Version]:
    """Yield the newer versions that all admit, the newest first."""
    newer = (version for version in reversed(page.versions) if version > package.version)
    for version in islice(newer, _MOST):
        early = version.is_prerelease and not package.version.is_prerelease
        if not early and all(wanted.admits(version) for wanted in package.wanted_by):
            yield version


def _is_exact(clause: Specifier) -> bool:
    return clause.operator in ("==", "===") and not clause.version.endswith(".*")


def _level(page: ProjectPage, version: Version, target: Target) -> tuple[int, int] | None:
    """Return the oldest newer system that has a wheel of a version; None where there is none."""
    files = [(file, newer_level(tags_of(file.filename) or "", target)) for file in page.of_version(version)]
    levels = (level for file, level in files if level is not None and can_use(file, target.at_level(level)))
    return min(levels, default=None)


def _newer(package: ResolvedPackage, index: Index, target: Target) -> tuple[Version, tuple[int, int]] | None:
    """Return the newest version that the target's level alone keeps out, and the level that it needs.

    None where another newer one is there for the target: something else is then why that is not taken.
    """
    try:
        page = index.page(package.name)
    except (IndexUnavailable, ProjectNotFound):
        return None
    found: tuple[Version, tuple[int, int]] | None = None
    for version in _admitted(package, page):
        if any(can_use(file, target) for file in page.of_version(version)):
            return None
        level = _level(page, version, target) if found is None else None
        found = found if level is None else (version, level)
    return found


def _find(target: Target, index: Index, resolution: Resolution) -> Iterator[Finding]:
    if not target.level_assumed or target.level is None:
        return
    for package in resolution.packages:
        newer = _newer(package, index, target) if not _is_settled(package) else None
        if newer is None:
            continue
        version, level = newer
        name, chain = target.level_name, chain_to(resolution, package.name)
        needs = f"which needs {name} {dotted(level)} or later, and nothing tells which the target has"
        way = f"say `--{target.level_option} {dotted(level)}` where the target has {name} {dotted(level)} or later"
        yield RULE.finding(
            subject=package.name,
            message=f"`{package.name}` is {package.version} and not the newer {version}, {needs}",
            evidence=(Evidence(f"{name} {dotted(target.level)} is assumed", str(chain)),),
            remedy=Remedy(f"{way}; else {package.version} is what it can have"),
            location=chain.location,
        )


RULE = Rule.of(__name__, __doc__, Severity.INFO, _find)
