"""Files that are whole or not there, also after a power cut."""

from __future__ import annotations

import hashlib
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from envdoctor.adapters.apply import planted_faults
from envdoctor.adapters.apply.replacing import put_in_place

__all__ = ["deferred", "digest_of", "partial_of", "shielded", "sync_folder", "write_whole"]

_BLOCK = 1024 * 1024


def partial_of(path: Path) -> Path:
    """Return the name under which a file is written before it takes its place."""
    return path.with_name(f".{path.name}.envdoctor-partial")


def write_whole(path: Path, data: bytes, *, mode: int | None = None) -> None:
    """Write a file so that its name leads to the old bytes or to all of the new ones. Raises OSError."""
    partial = partial_of(path)
    try:
        with partial.open("wb") as file:
            planted_faults.point(writes=True)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            partial.chmod(mode)
        planted_faults.point()
        put_in_place(partial, path)
    except OSError:
        with suppress(OSError):
            partial.unlink()
        raise
    sync_folder(path.parent)
    planted_faults.point()


def sync_folder(folder: Path) -> None:
    """Make a folder's names durable, where the system can."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def digest_of(path: Path) -> str | None:
    """Return the SHA-256 of a file, None where there is none."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                digest.update(block)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return digest.hexdigest()


_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
_ENDING = tuple(getattr(signal, name) for name in _SIGNALS if hasattr(signal, name))


@contextmanager
def shielded() -> Iterator[None]:
    """Let Ctrl-C, and being told to end where that is answered like it, do nothing meanwhile: for taking back.

    Outside the main thread, where no signal arrives, it changes nothing.
    """
    with _answered_by(lambda _number: None):
        yield


@contextmanager
def deferred() -> Iterator[None]:
    """Let such a signal wait until the block has ended: for what must be wholly there before it can be taken back.

    Raises KeyboardInterrupt at the end of the block where one came, as it would have in it.
    """
    came: list[int] = []
    with _answered_by(came.append):
        yield
    for number in came[:1]:
        signal.raise_signal(number)


@contextmanager
def _answered_by(take: Callable[[int], None]) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    # What kills at once, or is ignored, stays as it is. A handler, unlike SIG_IGN, is not handed down to children.
    before = {number: handler for number in _ENDING if callable(handler := signal.getsignal(number))}
    for number in before:
        signal.signal(number, lambda number, _frame: take(number))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
