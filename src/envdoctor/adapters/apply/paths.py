"""Paths that stay inside their folder."""

from __future__ import annotations

import os
import re
from pathlib import Path

__all__ = ["PathEscape", "fault_of_relative", "inside", "resolve_inside"]

_DRIVE = re.compile(r"^[A-Za-z]:")


class PathEscape(Exception):
    """A path that would lead out of its folder; the text says how."""


def fault_of_relative(path: str) -> str | None:
    """Return what is wrong with a relative path of a profile or an archive, None where it is harmless."""
    if not path or "\x00" in path:
        return "is empty or holds a NUL"
    if path.startswith(("/", "\\")) or _DRIVE.match(path):
        return "is absolute"
    parts = re.split(r"[/\\]", path)
    if ".." in parts:
        return "leaves its folder (`..`)"
    # Windows drops dots and spaces at the end of a name, and so makes another name of it: `.. ` is `..` there.
    if any(part not in ("", ".") and not part.rstrip(" .") for part in parts):
        return "has a name of dots and spaces alone"
    return None


def inside(path: Path, root: Path) -> bool:
    """Return whether ``path``, links followed, is ``root`` or in it."""
    real, base = (os.path.normcase(os.path.realpath(item)) for item in (path, root))
    return real == base or real.startswith(base.rstrip(os.sep) + os.sep)


def resolve_inside(root: Path, relative: str) -> Path:
    """Return the real path of ``relative`` under ``root``. Raises PathEscape, for links that lead out too."""
    fault = fault_of_relative(relative)
    if fault:
        raise PathEscape(f"`{relative}` {fault}")
    path = root / relative
    try:
        kept = inside(path, root)
    except OSError as error:  # `con`, on Windows
        raise PathEscape(f"`{relative}` cannot be looked at: {error.strerror or error}") from error
    if not kept:
        raise PathEscape(f"`{relative}` is a link that leads out of `{root}`")
    return Path(os.path.realpath(path))
