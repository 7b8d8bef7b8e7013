"""One treatment of an environment at a time.

On POSIX the lock is handed to the installer that is running: if this process is killed, the lock lasts until the
installer has ended too, so that nobody takes back what is still being written.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["Busy", "locked"]

_POLL_S = 0.2


class Busy(Exception):
    """Somebody else is at work on the environment."""


@contextmanager
def locked(folder: Path, *, wait_s: float, say: Callable[[str], None]) -> Iterator[int]:
    """Hold ``folder/lock``; yields its descriptor. Raises Busy after ``wait_s`` seconds, or OSError."""
    path = folder / "lock"
    deadline = time.monotonic() + wait_s
    told = False
    while True:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = _opened(path)
        if descriptor is not None and _take(descriptor) and _same(descriptor, path):
            break
        owner = _owner(path)
        if descriptor is not None:
            os.close(descriptor)
        if time.monotonic() >= deadline:
            raise Busy(f"another treatment of `{folder.parent}` is under way{owner}")
        if not told:
            say(f"another treatment of `{folder.parent}` is under way{owner}; waiting")
            told = True
        time.sleep(_POLL_S)
    try:
        with suppress(OSError):
            os.ftruncate(descriptor, 0)
            os.lseek(descriptor, 0, os.SEEK_SET)
            os.write(descriptor, str(os.getpid()).encode())
        yield descriptor
    finally:
        _release(descriptor)
        os.close(descriptor)


def _opened(path: Path) -> int | None:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except PermissionError:
        if os.name != "nt":
            raise
        return None  # Whoever held it takes it away in this moment.


def _owner(path: Path) -> str:
    try:
        text = path.read_text(encoding="ascii", errors="replace").strip("\x00 \n")
    except OSError:
        return ""
    return f" (process {text})" if text.isdigit() else ""


def _same(descriptor: int, path: Path) -> bool:
    """Return whether the name still leads to what is locked; an undo may have taken the folder away meanwhile."""
    try:
        return os.path.sameopenfile(descriptor, descriptor) and os.path.samestat(os.fstat(descriptor), path.stat())
    except OSError:
        return False


if sys.platform == "win32":
    import msvcrt

    _FAR = 1 << 30

    def _take(descriptor: int) -> bool:
        os.lseek(descriptor, _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _release(descriptor: int) -> None:
        with suppress(OSError):
            os.lseek(descriptor, _FAR, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _take(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def _release(descriptor: int) -> None:
        # Closing is enough for us, and unlocking would take it from an installer that still runs.
        del descriptor
