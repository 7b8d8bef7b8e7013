"""The log that `--log` names: its end where it is large, since errors stand there."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from envdoctor.cli.errors import UsageFault

__all__ = ["read_log_file"]

_LARGEST = 16 * 1024 * 1024
"""Bytes; more of a log is not looked at."""


def read_log_file(path: Path) -> str:
    """Return a log; of one above 16 MB the end, with an empty line for each line before it, so that numbers hold.

    UTF-16, as PowerShell's redirection writes it, is read too. Raises UsageFault for what cannot be read or is no text.
    """
    try:
        begin, end, lines = _ends(path)
    except OSError as error:
        raise UsageFault(f"--log: cannot read `{path}`: {error.strerror or error}") from error
    encoding = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}.get(begin[:2])
    if encoding is None and b"\0" in begin:
        raise UsageFault(f"--log: `{path}` is not a text file")
    return "\n" * lines + end.decode(encoding or "utf-8", "replace").removeprefix("\ufeff")


def _ends(path: Path) -> tuple[bytes, bytes, int]:
    """Return a file's first bytes, its end, and how many lines there are before that end; it may be a pipe."""
    lines = 0
    with path.open("rb") as file:
        if stat.S_ISCHR(os.fstat(file.fileno()).st_mode) and not file.isatty():
            raise OSError(errno.EINVAL, "it is a device, which may have no end")
        end = file.read(_LARGEST)
        begin = end[:4096]
        while more := file.read(_LARGEST):
            # An even number is left out, since in UTF-16 a character has two bytes or four.
            left_out = len(end) + len(more) - _LARGEST
            left_out += left_out % 2
            lines += end.count(b"\n", 0, left_out)
            end = end[left_out:] + more
    return begin, end, lines
