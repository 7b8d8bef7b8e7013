"""The bytes of a project's file, and the error that ends the reading of a project."""

from __future__ import annotations

from pathlib import Path
from stat import S_ISBLK, S_ISCHR, S_ISDIR, S_ISFIFO, S_ISREG, S_ISSOCK

__all__ = ["ProjectFileError", "file_bytes"]

_LARGEST = 8 * 1024 * 1024


class ProjectFileError(Exception):
    """A path that cannot be read as a project: not there, not readable, or not what it claims to be."""

    def __init__(self, path: str, line: int | None, message: str, *, empty: bool = False, denied: bool = False) -> None:
        where = path if line is None else f"{path}:{line}"
        super().__init__(f"{where}: {message}")
        self.path = path
        self.line = line
        self.message = message
        self.empty = empty
        """There is no fault: nothing there says what is needed."""
        self.denied = denied
        """It is there, and this user may not read it."""


def file_bytes(path: Path, shown: str) -> bytes:
    """Return a file whole. Raises ProjectFileError for what is no file, may not be read or is too large."""
    try:
        what = _special(path.stat().st_mode)
        if what is not None:
            raise ProjectFileError(shown, None, f"this is {what}, not a file")
        with path.open("rb") as stream:
            data = stream.read(_LARGEST + 1)
    except FileNotFoundError as error:
        raise ProjectFileError(shown, None, "there is no such file") from error
    except IsADirectoryError as error:
        raise ProjectFileError(shown, None, "this is a directory, not a file") from error
    except PermissionError as error:
        raise ProjectFileError(shown, None, "the file may not be read (permission denied)", denied=True) from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ProjectFileError(shown, None, f"the file cannot be read: {reason}") from error
    if len(data) > _LARGEST:
        raise ProjectFileError(shown, None, "not what it claims to be: it is larger than 8 MiB")
    return data


def _special(mode: int) -> str | None:
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
