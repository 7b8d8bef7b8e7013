"""A version with a wheel in place of one that this machine cannot build: an override that nobody had to write.

Only what a distribution demands is set aside; what a person pinned stays a person's business.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from packaging.pylock import Pylock
from packaging.requirements import InvalidRequirement, Requirement
from packaging.tags import Tag
from packaging.utils import InvalidWheelFilename, NormalizedName, canonicalize_name, parse_wheel_filename
from packaging.version import Version

from envdoctor.lock.reading import AcceptedOverride, LockedProject
from envdoctor.model.candidate import DistributionFile, FileKind
from envdoctor.model.plan import PlannedFile
from envdoctor.model.target import Target
from envdoctor.ports import Index, IndexUnavailable, ProjectNotFound

__all__ = ["with_wheels_instead"]

_WANTED = re.compile(r"^(?P<requirement>.*?) \((?P<origin>[^()]*)\)$")
_DISTRIBUTION = re.compile(r"^(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*) (?P<version>[0-9][^ ]*)$")


def with_wheels_instead(
    unbuildable: Iterable[PlannedFile], document: Pylock, locked: LockedProject | None, index: Index, target: Target
) -> tuple[LockedProject, tuple[str, ...]] | None:
    """Return the lock to start from, with overrides added, and a sentence for each; None where nothing helps."""
    added: list[AcceptedOverride] = []
    notes: list[str] = []
    for file in unbuildable:
        found = _override(file, document, index, target)
        if found is None:
            return None
        added.append(found[0])
        notes.append(found[1])
    if not added:
        return None
    base = locked or LockedProject("this fix", {})
    names = {file.name for file in unbuildable}
    versions = {name: version for name, version in base.versions.items() if name not in names}
    return replace(base, versions=versions, overrides=(*base.overrides, *added)), tuple(notes)


def _override(file: PlannedFile, document: Pylock, index: Index, target: Target) -> tuple[AcceptedOverride, str] | None:
    demands = _demands(file.name, document)
    try:
        files = index.page(file.name).files
    except (IndexUnavailable, ProjectNotFound):
        return None
    version = _with_wheel(files, Version(file.version), frozenset(target.tag_priorities()))
    if version is None:
        return None
    against = [(text, origin) for text, origin in demands if not _admits(text, version)]
    makers = [_DISTRIBUTION.match(origin) for _, origin in against]
    if not against or not all(makers):
        return None
    sign = ">=" if version > Version(file.version) else "=="
    requirement = f"{file.name}{sign}{version}"
    aside = tuple(sorted(f"{text} ({origin})" for text, origin in against))
    replaces = tuple(sorted({str(canonicalize_name(match["name"])) for match in makers if match}))
    note = (
        f"`{requirement}` in place of {', '.join(aside)}: `{file.name}` {file.version} has no wheel, and cannot be "
        "built here"
    )
    return AcceptedOverride(requirement, aside, replaces), note


def _demands(name: NormalizedName, document: Pylock) -> list[tuple[str, str]]:
    """Return requirement and origin of all that is asked of a package, as the lock records it."""
    package = next((item for item in document.packages if item.name == name), None)
    table = (package.tool or {}).get("envdoctor", {}) if package is not None else {}
    matches = (_WANTED.match(str(line)) for line in table.get("wanted-by", ()))
    return [(match["requirement"], match["origin"]) for match in matches if match]


def _with_wheel(files: Iterable[DistributionFile], current: Version, tags: frozenset[Tag]) -> Version | None:
    """Return the lowest version above with a wheel for the target, else the highest below."""
    versions = {
        file.version
        for file in files
        if file.kind is FileKind.WHEEL
        and file.yanked is None
        and not file.version.is_prerelease
        and not _tags(file.filename).isdisjoint(tags)
    }
    above = [version for version in versions if version > current]
    below = [version for version in versions if version < current]
    return min(above, default=None) or max(below, default=None)


def _tags(filename: str) -> frozenset[Tag]:
    try:
        return parse_wheel_filename(filename)[3]
    except InvalidWheelFilename:
        return frozenset()


def _admits(text: str, version: Version) -> bool:
    try:
        return Requirement(text.partition(";")[0]).specifier.contains(version, prereleases=True)
    except InvalidRequirement:
        return False
