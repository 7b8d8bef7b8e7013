"""``lock --join``: the locks of several targets as one file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from envdoctor.lock.joined import join_locks
from envdoctor.lock.locked_files import rebased
from envdoctor.lock.pylock_reader import LockError, read_pylock
from envdoctor.lock.pylock_writer import lock_text
from envdoctor.ports import UsageError
from envdoctor.shell_line import shell_line

__all__ = ["join_again", "joined_files"]

_LARGEST_LOCK = 64 * 1024 * 1024
_JOINED = "pylock.all.toml"


def join_again(paths: Sequence[Path]) -> str:
    """Return the command that puts the same locks together."""
    return shell_line(["envdoctor", "lock", *(word for path in paths for word in ("--join", str(path)))])


def joined_files(paths: Sequence[Path], folder: Path) -> Mapping[str, str]:
    """Return the file to write into a folder, by its name.

    Raises UsageError where a lock cannot be read or the set joined.
    """
    try:
        read = {path.as_posix(): rebased(read_pylock(_text(path), str(path)), path.parent, folder) for path in paths}
        return {_JOINED: lock_text(join_locks(read))}
    except OSError as error:
        raise UsageError(f"`{error.filename}` cannot be read: {error.strerror or error}") from error
    except LockError as error:
        raise UsageError(str(error)) from error


def _text(path: Path) -> str:
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(_LARGEST_LOCK + 1)
    except ValueError as error:  # no UTF-8, or a name that no file has
        raise UsageError(f"`{path}` cannot be read: {error}") from error
    if len(text) > _LARGEST_LOCK:  # perhaps a device, which has no end
        raise UsageError(f"`{path}` is no lock: it is larger than {_LARGEST_LOCK >> 20} MB")
    return text
