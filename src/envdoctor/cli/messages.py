"""What is said on stderr: clean of control characters and of secrets, whatever it quotes."""

from __future__ import annotations

import os
import sys

from envdoctor.adapters.terminal import fitted
from envdoctor.ports import Tell

__all__ = ["error", "note", "printable", "say", "teller"]


def say(text: str) -> None:
    """Write one line, on a terminal as many as it takes."""
    try:
        sys.stderr.write(f"{fitted(printable(text), sys.stderr)}\n")
        sys.stderr.flush()
    except BrokenPipeError:
        # The reader of `2>&1 | head` has seen enough; the exit code still tells how it went.
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - lives as long as the process


def error(text: str) -> None:
    """Write ``error: ...``."""
    say(f"error: {text}")


def note(text: str) -> None:
    """Write ``note: ...``."""
    say(f"note: {text}")


def teller(*, quiet: bool) -> Tell:
    """Return what writes notes, or what keeps silent."""
    return _keep_silent if quiet else note


def _keep_silent(text: str) -> None:
    del text


def printable(text: str) -> str:
    """Return text that may be shown: no escape sequences, no credentials, long quotations cut."""
    from envdoctor.render.untrusted import shown

    return shown(text)
