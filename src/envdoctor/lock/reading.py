"""A lock on disk, read back: its versions are preferred, its overrides count as accepted."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from packaging.pylock import Pylock, PylockValidationError
from packaging.utils import NormalizedName
from packaging.version import Version

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["AcceptedOverride", "LockError", "LockedProject", "parse_lock", "tomllib"]


class LockError(Exception):
    """A file that is not a valid lock; the message carries path and key path or line."""


@dataclass(frozen=True, slots=True)
class AcceptedOverride:
    """An override that the lock records."""

    requirement: str
    sets_aside: tuple[str, ...]
    replaces: tuple[str, ...] = ()
    """``project``, or the distributions whose demands are set aside."""


@dataclass(frozen=True, slots=True)
class LockedProject:
    """What a lock says."""

    path: str
    versions: Mapping[NormalizedName, Version]
    overrides: tuple[AcceptedOverride, ...] = ()
    profile: str | None = None
    hashes: Mapping[NormalizedName, frozenset[str]] = field(default_factory=dict)
    """``algorithm:hex`` digests of each package's files."""
    python: str | None = None
    """``3.11``, as the lock's own table says it."""


def parse_lock(text: str, path: str) -> LockedProject:
    """Return the content of a pylock file. Raises LockError with path and place."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise LockError(f"{path}: not TOML: {error}") from error
    try:
        document = Pylock.from_dict(data)
    except PylockValidationError as error:
        raise LockError(f"{path}: not a valid PEP 751 lock: {error}") from error
    versions = {package.name: package.version for package in document.packages if package.version is not None}
    tool = _table(data, "tool", "envdoctor")
    return LockedProject(
        path=path,
        versions=versions,
        overrides=tuple(_overrides(tool)),
        profile=tool.get("profile") if isinstance(tool.get("profile"), str) else None,
        hashes={package.name: _digests(package) for package in document.packages},
        python=_string(_table(tool, "target"), "python"),
    )


def _overrides(tool: Mapping[str, Any]) -> list[AcceptedOverride]:
    entries = tool.get("overrides")
    if not isinstance(entries, list):
        return []
    return [
        AcceptedOverride(entry["requirement"], _texts(entry, "sets-aside"), _texts(entry, "replaces"))
        for entry in entries
        if isinstance(entry, dict) and isinstance(entry.get("requirement"), str)
    ]


def _texts(entry: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = entry.get(key)
    return tuple(map(str, value)) if isinstance(value, list) else ()


def _digests(package: Any) -> frozenset[str]:
    files = [*(package.wheels or ()), *([package.sdist] if package.sdist else ())]
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
