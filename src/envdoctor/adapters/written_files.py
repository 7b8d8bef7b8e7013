"""Writing a file where it was asked for: whole or not at all, and never in the place of a device."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Mapping
from pathlib import Path

from envdoctor.ports import UsageError

__all__ = ["write_file", "write_together"]

_STREAMS = ("/dev/", "/proc/")
_PARTIAL = ".envdoctor-{}.partial"
_WRITING_S = 60.0
"""Seconds from which on a file half written belongs to nobody who still runs: writing takes far less than one."""


def write_file(path: Path, text: str) -> None:
    """Write a file through another beside it, so that it is whole or as it was. Raises UsageError.

    A link is followed. What is no regular file (a device, a pipe) is written to as it is: a rename would put a plain
    file in its place.
    """
    write_together({path: text})


def write_together(files: Mapping[Path, str]) -> None:
    """Write files that belong together: where one cannot be written, all stay as they were. Raises UsageError."""
    staged: list[tuple[Path, Path]] = []
    path = Path()
    try:
        for path, text in files.items():
            if _is_stream(path):
                path.write_text(text, encoding="utf-8", newline="\n")
            else:
                real = Path(os.path.realpath(path))
                staged.append((_stage(real, text), real))
        for partial, path in staged:
            _clear_beside(partial)
            partial.replace(path)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot write `{path}`: {getattr(error, 'strerror', None) or error}") from error
    finally:
        for partial, _ in staged:
            with contextlib.suppress(OSError):
                partial.unlink(missing_ok=True)


def _is_stream(path: Path) -> bool:
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return False
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(21, "it is a directory")
    # /dev/stdout may be a plain file, which the shell has opened and goes on writing to.
    return not stat.S_ISREG(mode) or str(path.absolute()).startswith(_STREAMS)


def _stage(path: Path, text: str) -> Path:
    """Write beside a file what will take its place, and return where."""
    partial = path.with_name(_PARTIAL.format(os.urandom(4).hex()))
    try:
        # Exclusively: in a folder that others may write to, nobody has put a link there.
        with partial.open("x", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
        with contextlib.suppress(OSError):
            partial.chmod(stat.S_IMODE(path.stat().st_mode))
    except BaseException:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
        raise
    return partial


def _clear_beside(partial: Path) -> None:
    """Remove what runs that were killed have left beside a file that was just written."""
    with contextlib.suppress(OSError):
        now = partial.stat().st_mtime  # the clock of that disk, which may not be ours
        for other in partial.parent.glob(_PARTIAL.format("[0-9a-f]" * 8)):
            status = other.lstat()
            if stat.S_ISREG(status.st_mode) and abs(now - status.st_mtime) > _WRITING_S:
                other.unlink()
