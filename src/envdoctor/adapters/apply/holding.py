"""Taking hold of an environment: one treatment at a time, and no trace of it where nothing came of it."""

from __future__ import annotations

import errno
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path

from envdoctor.adapters.apply.durable import KEEPS_OPEN_FILES, deferred
from envdoctor.adapters.apply.journal import fault_of_own, own_folder
from envdoctor.model.dataclass import dataclass

__all__ = ["Busy", "Held", "folders_made", "hold_environment", "is_blank", "locked"]

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


_MADE = "made"


@dataclass(frozen=True, slots=True)
class Held:
    """An environment that nobody else treats meanwhile."""

    environment: Path
    lock: int
    """The lock's descriptor."""
    folder_made: bool
    """The environment's folder was not there before."""


@contextmanager
def hold_environment(environment: Path, *, wait_s: float, say: Callable[[str], None]) -> Iterator[Held]:
    """Lock an environment, or the place where it will be. Raises Busy or OSError."""
    own = own_folder(environment)
    fault = fault_of_own(environment)
    if fault is not None:
        raise OSError(errno.ELOOP, fault)
    fresh = not environment.exists()
    descriptor: int | None = None

    def leave() -> None:
        if descriptor is not None:
            # A Ctrl-C in this last moment is answered after it, and not passed over: what was done is said then.
            with deferred():
                _leave_no_trace(environment)

    with ExitStack() as stack:
        if KEEPS_OPEN_FILES:
            # The lock can go only when we have closed it, and then only where nobody else has opened it.
            stack.callback(leave)
        try:
            # A place that was just made is locked at once; one that somebody works on is waited for.
            with deferred() if fresh else nullcontext():
                if fresh:
                    _make(environment)
                descriptor = stack.enter_context(locked(own, wait_s=wait_s, say=say))
            yield Held(environment, descriptor, (own / _MADE).exists())
        finally:
            if not KEEPS_OPEN_FILES:
                leave()


def _make(environment: Path) -> None:
    own = own_folder(environment)
    missing = [str(folder) for folder in environment.parents if not folder.exists()]
    own.mkdir(parents=True)
    # Whoever comes after a power cut must know that nobody else made the folder, nor those above it.
    (own / _MADE).write_text(json.dumps(missing), encoding="utf-8")


def _leave_no_trace(environment: Path) -> None:
    """Remove this tool's folder where nothing came of it, and the environment's where it was made for that."""
    own, above = own_folder(environment), folders_made(environment)
    if not own.is_dir() or not {child.name for child in own.iterdir()} <= {"lock", _MADE}:
        return
    made = (own / _MADE).exists()
    with suppress(OSError):
        (own / "lock").unlink()
        (own / _MADE).unlink(missing_ok=True)
        own.rmdir()
        if made:
            environment.rmdir()
            for folder in above:
                folder.rmdir()


def folders_made(environment: Path) -> list[Path]:
    """Return the folders above an environment that were made for it, the innermost first."""
    try:
        names = json.loads((own_folder(environment) / _MADE).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return []
    listed = {name for name in names if isinstance(name, str)} if isinstance(names, list) else set()
    return [folder for folder in environment.parents if str(folder) in listed]


def is_blank(environment: Path) -> bool:
    """Return whether there is nothing at a place but what this tool may have left there."""
    if not environment.exists():
        return not environment.is_symlink()
    return environment.is_dir() and {child.name for child in environment.iterdir()} <= {".envdoctor"}
