"""Files that are whole or not there, also after a power cut, and taking away those that are open or read-only.

Windows deletes and replaces no file that a program has open, that runs, or that is read-only; and scanners open, for
moments, whatever was just written.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from envdoctor.adapters.apply import planted_faults

__all__ = [
    "KEEPS_OPEN_FILES",
    "deferred",
    "digest_of",
    "first_in_use",
    "is_link",
    "leads_elsewhere",
    "partial_of",
    "put_in_place",
    "remove_file",
    "remove_tree",
    "shielded",
    "sync_folder",
    "write_whole",
]

KEEPS_OPEN_FILES = os.name == "nt"
_PAUSES_S = (0.02, 0.05, 0.1, 0.2, 0.4, 0.8)
_JUNCTION = 0xA0000003
"""The tag of a mount point: IO_REPARSE_TAG_MOUNT_POINT of winnt.h."""
_CODE = (".exe", ".dll", ".pyd")


def put_in_place(partial: Path, path: Path) -> None:
    """Let a file take the place of another. Raises OSError, naming the file where a program has it open."""
    _patiently(lambda: partial.replace(path), path)


def remove_file(path: Path) -> None:
    """Remove a file or a link, if it is there. Raises OSError, naming it where a program has it open."""
    _patiently(lambda: path.unlink(missing_ok=True), path)


def remove_tree(path: Path) -> None:
    """Remove a folder with all that is in it, a file or a link; what a link leads to stays. Raises OSError."""
    if is_link(path) or not path.is_dir():
        remove_file(path)
    elif not KEEPS_OPEN_FILES:
        shutil.rmtree(path)
    elif sys.version_info >= (3, 12):
        shutil.rmtree(path, onexc=_again)
    else:
        shutil.rmtree(path, onerror=lambda action, name, error: _again(action, name, error[1]))


def is_link(path: Path) -> bool:
    """Return whether a name leads elsewhere: a symbolic link, or a junction of Windows."""
    try:
        status = path.lstat()
    except OSError:
        return False
    return leads_elsewhere(status)


def leads_elsewhere(status: os.stat_result) -> bool:
    """Return whether what ``lstat`` says is a symbolic link or a junction."""
    return stat.S_ISLNK(status.st_mode) or getattr(status, "st_reparse_tag", 0) == _JUNCTION


def first_in_use(paths: Iterable[Path]) -> Path | None:
    """Return the first program or library that runs or is loaded, so that it can be neither deleted nor replaced.

    None on systems where that is no hindrance.
    """
    if not KEEPS_OPEN_FILES:
        return None
    return next((path for path in paths if path.suffix.lower() in _CODE and _is_in_use(path)), None)


def _is_in_use(path: Path) -> bool:
    try:
        if not path.stat().st_mode & stat.S_IWRITE:
            return False  # It cannot be opened for writing, whoever has it.
        with path.open("r+b"):
            return False
    except PermissionError:
        return True
    except OSError:
        return False


def _again(_action: Callable[..., object], name: str, error: BaseException) -> None:
    """Try once more what ``rmtree`` could not take away."""
    if not isinstance(error, PermissionError):
        raise error
    path = Path(name)
    _patiently(path.rmdir if path.is_dir() and not is_link(path) else path.unlink, path)


def _patiently(action: Callable[[], object], path: Path) -> None:
    if not KEEPS_OPEN_FILES:
        action()
        return
    for pause in _PAUSES_S:
        try:
            action()
        except PermissionError:  # noqa: PERF203 - each time is another try
            with suppress(OSError):
                path.chmod(stat.S_IWRITE)
            time.sleep(pause)
        else:
            return
    try:
        action()
    except PermissionError as error:
        raise PermissionError(error.errno, "another program has it open, or it runs", str(path)) from error


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
