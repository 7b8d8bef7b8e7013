"""Taking files away and putting others in their place, also where a system keeps those that are open or read-only.

Windows deletes and replaces no file that a program has open, that runs, or that is read-only; and scanners open, for
moments, whatever was just written.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

__all__ = [
    "KEEPS_OPEN_FILES",
    "first_in_use",
    "is_link",
    "leads_elsewhere",
    "put_in_place",
    "remove_file",
    "remove_tree",
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
