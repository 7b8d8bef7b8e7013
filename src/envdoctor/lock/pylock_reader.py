"""A lock on disk, read back: its versions are preferred, its overrides count as accepted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from packaging.pylock import Package, PackageSdist, PackageWheel, Pylock

from envdoctor.model.plan import PlannedFile
from envdoctor.toml_tables import TomlError, read_toml

if TYPE_CHECKING:
    from packaging.utils import NormalizedName
    from packaging.version import Version

__all__ = ["AcceptedOverride", "LockError", "LockedProject", "parse_lock", "planned_files"]

_OF_A_DISTRIBUTION = re.compile(r"[\w.-]+ \d[\w.+!-]*")
"""An origin such as ``torchaudio 2.4.1``; those of files and profiles have a colon."""


class LockError(Exception):
    """A file that is not a valid lock; the message carries path and key path or line."""


@dataclass(frozen=True, slots=True)
class AcceptedOverride:
    """An override that the lock records."""

    requirement: str
    sets_aside: tuple[str, ...]
    replaces: tuple[str, ...] = ()
    """``project``, or the distributions whose demands are set aside."""
    because: str = ""
    from_profile: bool = False
    """The profile asked for it when the lock was written."""


@dataclass(frozen=True, slots=True)
class LockedProject:
    """What a lock says."""

    path: str
    versions: Mapping[NormalizedName, Version]
    overrides: tuple[AcceptedOverride, ...] = ()
    chosen: bool = False
    """A person chose the repair (``lock --repair N``): its overrides stand in place of the profile's."""
    profile: str | None = None
    hashes: Mapping[NormalizedName, frozenset[str]] = field(default_factory=dict)
    """``algorithm:hex`` digests of each package's files."""
    files: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The same digests by file name."""
    python: str | None = None
    """``3.11``, as the lock's own table says it."""
    os: str | None = None
    arch: str | None = None
    written: frozenset[str] = frozenset()
    """The requirements of people (project files, profile, command line) that it was made from, as they were written."""
    set_aside: frozenset[str] = frozenset()
    """Those of them that its overrides replace."""


def parse_lock(text: str, path: str) -> LockedProject:
    """Return the content of a pylock file. Raises LockError with path and place."""
    # Imported where there is a lock: most checks of a project find none.
    from packaging.pylock import Pylock, PylockValidationError

    try:
        data = read_toml(text)
    except TomlError as error:
        reason = "it is nested too deeply for a lock" if error.too_deep else f"not TOML: {error}"
        raise LockError(f"{path}: {reason}") from error
    try:
        document = Pylock.from_dict(data)
    except PylockValidationError as error:
        raise LockError(f"{path}: not a valid PEP 751 lock: {error}") from error
    versions = {package.name: package.version for package in document.packages if package.version is not None}
    tool = _table(data, "tool", "envdoctor")
    written, aside = _written(data)
    return LockedProject(
        path=path,
        versions=versions,
        overrides=tuple(_overrides(tool)),
        chosen=tool.get("chosen") is True,
        profile=tool.get("profile") if isinstance(tool.get("profile"), str) else None,
        hashes={package.name: _digests(_files(package)) for package in document.packages},
        files={file.filename: _digests([file]) for package in document.packages for file in _files(package)},
        python=_string(_table(tool, "target"), "python"),
        os=_string(_table(tool, "target"), "os"),
        arch=_string(_table(tool, "target"), "arch"),
        written=written | aside,
        set_aside=aside,
    )


def _overrides(tool: Mapping[str, Any]) -> list[AcceptedOverride]:
    entries = tool.get("overrides")
    if not isinstance(entries, list):
        return []
    return [
        AcceptedOverride(
            entry["requirement"],
            _texts(entry, "sets-aside"),
            _texts(entry, "replaces"),
            _string(entry, "because") or "",
            from_profile=entry.get("from-profile") is True,
        )
        for entry in entries
        if isinstance(entry, dict) and isinstance(entry.get("requirement"), str)
    ]


def _written(data: Mapping[str, Any]) -> tuple[frozenset[str], frozenset[str]]:
    """Return what people wrote, in force and set aside: demands without those that distributions make."""
    found: dict[str, set[str]] = {"wanted-by": set(), "sets-aside": set()}
    packages = data.get("packages")
    entries = [_table(item, "tool", "envdoctor") for item in packages] if isinstance(packages, list) else []
    # What an override leaves out is no package of the lock.
    overrides = _table(data, "tool", "envdoctor").get("overrides")
    entries += [item for item in overrides if isinstance(item, dict)] if isinstance(overrides, list) else []
    for entry in entries:
        for key, texts in found.items():
            for text in _texts(entry, key):
                demand, _, origin = text.removesuffix(")").partition(" (")
                if not _OF_A_DISTRIBUTION.fullmatch(origin):
                    texts.add(demand)
    return frozenset(found["wanted-by"]), frozenset(found["sets-aside"])


def _texts(entry: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = entry.get(key)
    return tuple(map(str, value)) if isinstance(value, list) else ()


def _files(package: Package) -> list[PackageWheel | PackageSdist]:
    return [*(package.wheels or ()), *([package.sdist] if package.sdist else ())]


def _digests(files: Iterable[PackageWheel | PackageSdist]) -> frozenset[str]:
    return frozenset(f"{name}:{digest}" for file in files for name, digest in file.hashes.items())


def _table(data: Mapping[str, Any], *keys: str) -> Mapping[str, Any]:
    for key in keys:
        value = data.get(key)
        if not isinstance(value, Mapping):
            return {}
        data = value
    return data


def _string(table: Mapping[str, Any], key: str) -> str | None:
    value = table.get(key)
    return value if isinstance(value, str) else None


def planned_files(lock: Pylock, index_names: Mapping[str, str]) -> tuple[PlannedFile, ...]:
    """Return one file for each package; ``index_names`` maps URLs to names. The lock speaks of one target alone."""
    return tuple(_planned(package, index_names) for package in lock.packages)


def _planned(package: Package, index_names: Mapping[str, str]) -> PlannedFile:
    file: PackageWheel | PackageSdist | None = package.wheels[0] if package.wheels else package.sdist
    index = package.index or ""
    return PlannedFile(
        name=package.name,
        version=str(package.version or ""),
        filename=file.filename if file else "",
        url=(file.url if file else None) or "",
        hashes=tuple(file.hashes.items()) if file else (),
        size=file.size if file else None,
        index=index_names.get(index.rstrip("/"), index or "default"),
        sdist=isinstance(file, PackageSdist),
    )
