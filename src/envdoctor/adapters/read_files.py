"""Opening files that a project, an index or a setting names: no device, which may have no end, and no pipe."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from stat import S_ISBLK, S_ISCHR, S_ISDIR, S_ISFIFO, S_ISREG, S_ISSOCK

__all__ = ["at_once", "open_file", "pieces_of", "read_file", "special"]


def open_file(path: Path) -> BufferedReader:
    """Open a file for its bytes. Raises OSError, for what is no regular file, too.

    Who opens a pipe waits until somebody writes to it. The null device is an empty file, as pip and uv take it.
    """
    what = special(path.stat().st_mode) if str(path) != os.devnull else None
    if what is not None:
        raise OSError(errno.EINVAL, f"it is {what}, and no file", str(path))
    return path.open("rb")


def read_file(path: Path, largest: int) -> bytes:
    """Return a file whole; ``largest`` is in bytes. Raises OSError, for what is no file or is larger, too."""
    with open_file(path) as stream:
        content = stream.read(largest + 1)
    if len(content) > largest:
        raise OSError(errno.EFBIG, f"it is larger than {largest // 1024**2} MiB", str(path))
    return content


def pieces_of(path: Path) -> Iterator[bytes]:
    """Yield the bytes of a file, a MiB at a time. Raises OSError, for what is no regular file, too."""
    with open_file(path) as stream:
        while piece := stream.read(1024 * 1024):
            yield piece


def at_once(path: str, flags: int) -> int:
    """Open a file as ``open`` does; where it is a pipe, do not wait for who writes to it: nothing is in it."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def special(mode: int) -> str | None:
    """Say what a path is that must not be opened: reading a pipe may never end, and a device may do something."""
    for test, what in (
        (S_ISDIR, "a directory"),
        (S_ISFIFO, "a named pipe"),
        (S_ISSOCK, "a socket"),
        (S_ISCHR, "a device"),
        (S_ISBLK, "a device"),
    ):
        if test(mode):
            return what
    return None if S_ISREG(mode) else "something else"
