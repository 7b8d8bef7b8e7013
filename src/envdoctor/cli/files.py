"""Writing a file where it was asked for: whole or not at all, and never in the place of a device."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from pathlib import Path

from envdoctor.cli.errors import UsageFault

__all__ = ["write_file"]

_STREAMS = ("/dev/", "/proc/")


def write_file(path: Path, text: str) -> None:
    """Write a file through another beside it, so that it is whole or as it was. Raises UsageFault.

    A link is followed. What is no regular file (a device, a pipe) is written to as it is: a rename would put a plain
    file in its place.
    """
    try:
        if _is_stream(path):
            path.write_text(text, encoding="utf-8", newline="\n")
        else:
            _replace(Path(os.path.realpath(path)), text)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageFault(f"cannot write `{path}`: {reason}") from error


def _is_stream(path: Path) -> bool:
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return False
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(21, "it is a directory")
    # /dev/stdout may be a plain file, which the shell has opened and goes on writing to.
    return not stat.S_ISREG(mode) or str(path.absolute()).startswith(_STREAMS)


def _replace(path: Path, text: str) -> None:
    partial = path.with_name(f".envdoctor-{secrets.token_hex(4)}.partial")
    try:
        # Exclusively: in a folder that others may write to, nobody has put a link there.
        with partial.open("x", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
        with contextlib.suppress(OSError):
            partial.chmod(stat.S_IMODE(path.stat().st_mode))
        partial.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
        raise
