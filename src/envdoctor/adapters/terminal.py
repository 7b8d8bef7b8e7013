"""What the terminal behind standard output can show."""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import Any, TextIO

__all__ = ["fitted", "follows_links", "keep_line_ends", "output_encoding", "tell_broken_pipes", "wants_colour"]

_NARROWEST = 40
_FOLLOWS_NO_LINKS = ("dumb", "linux", "unknown")


def wants_colour(asked: str) -> bool:
    """Return whether colours are shown: on a terminal, unless ``NO_COLOR`` is set; elsewhere where ``FORCE_COLOR`` is.

    Source: https://no-color.org and https://force-color.org; a variable that is set to nothing counts as not set, and
    what is typed (``asked``: ``auto``, ``always`` or ``never``) outweighs both.
    """
    if asked != "auto":
        return asked == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb" and _takes_escape_codes()


def follows_links() -> bool:
    """Return whether the terminal takes links (OSC 8): most show the text alone where they do not know them.

    ``FORCE_HYPERLINK`` decides where it is set, as for other programs.
    """
    forced = os.environ.get("FORCE_HYPERLINK")
    if forced:
        return forced != "0"
    if not sys.stdout.isatty() or os.environ.get("TERM", "").partition("-")[0] in _FOLLOWS_NO_LINKS:
        return False
    if os.name == "nt":
        return "WT_SESSION" in os.environ or "TERM_PROGRAM" in os.environ
    return os.environ.get("TERM_PROGRAM") != "Apple_Terminal"


def output_encoding() -> str:
    """Return the encoding of standard output, in lower case; ``ascii`` where it has none."""
    return (getattr(sys.stdout, "encoding", None) or "ascii").lower()


def keep_line_ends() -> None:
    """Let standard output, but on a terminal, have UTF-8 and the line ends as they are: what `git apply` takes."""
    if isinstance(sys.stdout, io.TextIOWrapper) and not sys.stdout.isatty():
        sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape", newline="")


class _Pipe(io.FileIO):
    """A stream of Windows, where a pipe that nobody reads is an invalid argument; here it is what it is elsewhere."""

    def write(self, b: Any, /) -> int:
        try:
            return super().write(b)
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise
            raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE)) from None


def tell_broken_pipes() -> None:
    """Let what is written to a standard stream that nobody reads any more fail on Windows as it does elsewhere."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is getattr(sys, f"__{name}__") and isinstance(stream, io.TextIOWrapper) and not stream.isatty():
            pipe = io.BufferedWriter(_Pipe(stream.fileno(), "w", closefd=False))
            text = io.TextIOWrapper(pipe, stream.encoding, stream.errors, line_buffering=stream.line_buffering)
            setattr(sys, name, text)


def _takes_escape_codes() -> bool:
    """Return whether standard output, a terminal, takes colours as escape codes; on Windows they are switched on."""
    if sys.platform != "win32":
        return True
    import ctypes
    from ctypes import wintypes

    kernel, mode = ctypes.WinDLL("kernel32"), wintypes.DWORD()
    kernel.GetStdHandle.restype = wintypes.HANDLE
    handle = wintypes.HANDLE(kernel.GetStdHandle(-11))  # STD_OUTPUT_HANDLE
    if not kernel.GetConsoleMode(handle, ctypes.byref(mode)):
        return True  # Not a console but a terminal all the same, as MSYS and Cygwin have them.
    return bool(kernel.SetConsoleMode(handle, mode.value | 0x4))  # ENABLE_VIRTUAL_TERMINAL_PROCESSING


def fitted(text: str, stream: TextIO) -> str:
    """Return lines no wider than the terminal that a stream leads to, cut between words; as they are without one."""
    if not stream.isatty():
        return text
    import shutil
    import textwrap

    width = max(_NARROWEST, shutil.get_terminal_size().columns)
    words = textwrap.TextWrapper(width, break_long_words=False, break_on_hyphens=False)
    lines = []
    for line in text.splitlines():
        words.initial_indent = line[: len(line) - len(line.lstrip(" "))]
        words.subsequent_indent = f"{words.initial_indent}  "
        lines.append(words.fill(line.strip(" ")))
    return "\n".join(lines)
