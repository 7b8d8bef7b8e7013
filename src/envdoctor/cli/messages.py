"""What is said on stderr: clean of control characters and of secrets, whatever it quotes."""

from __future__ import annotations

import sys

__all__ = ["error", "note", "printable", "say"]


def say(text: str) -> None:
    """Write one line."""
    sys.stderr.write(f"{printable(text)}\n")
    sys.stderr.flush()


def error(text: str) -> None:
    """Write ``error: ...``."""
    say(f"error: {text}")


def note(text: str) -> None:
    """Write ``note: ...``."""
    say(f"note: {text}")


def printable(text: str) -> str:
    """Return text that may be shown: no escape sequences, no credentials, long quotations cut."""
    from envdoctor.render.untrusted import shown

    return shown(text)
