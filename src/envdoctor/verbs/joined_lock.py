"""``lock --join``: one lock of the locks of several targets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from envdoctor.lock.joined import join_locks
from envdoctor.lock.pylock_reader import LockError, read_pylock
from envdoctor.lock.pylock_writer import lock_text
from envdoctor.ports import UsageError
from envdoctor.shell_line import shell_line

__all__ = ["NAME", "again", "joined_files"]

NAME = "pylock.all.toml"


def again(paths: Sequence[Path]) -> str:
    """Return the command that puts the same locks together."""
    return shell_line(["envdoctor", "lock", *(word for path in paths for word in ("--join", str(path)))])


def joined_files(paths: Sequence[Path]) -> Mapping[str, str]:
    """Return the file to write, by its name. Raises UsageError where a lock cannot be read or the set joined."""
    try:
        read = {path.as_posix(): read_pylock(_text(path), str(path)) for path in paths}
        return {NAME: lock_text(join_locks(read))}
    except OSError as error:
        raise UsageError(f"`{error.filename}` cannot be read: {error.strerror or error}") from error
    except LockError as error:
        raise UsageError(str(error)) from error


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except ValueError as error:  # no UTF-8, or a name that no file has
        raise UsageError(f"`{path}` cannot be read: {error}") from error
