"""Planted faults, so that tests can cut the power at every point of a treatment.

``ENVDOCTOR_CRASH_AT=n`` kills this process at the n-th point that it passes (its whole process group with
``ENVDOCTOR_CRASH_GROUP=1``); ``ENVDOCTOR_FULL_AT=n`` makes the disk full there; ``ENVDOCTOR_INTERRUPT_AT=n`` is a
Ctrl-C there. Without them nothing happens.
"""

from __future__ import annotations

import errno
import os
import signal

__all__ = ["passed", "point"]

_count = 0


def point(writes: bool = False) -> None:
    """Pass a point. Raises OSError where the disk is to be full; ``writes`` says that something is written here."""
    global _count
    _count += 1
    if os.environ.get("ENVDOCTOR_CRASH_AT") == str(_count):
        _die()
    if os.environ.get("ENVDOCTOR_INTERRUPT_AT") == str(_count):
        signal.raise_signal(signal.SIGINT)
    if writes and os.environ.get("ENVDOCTOR_FULL_AT") == str(_count):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def passed() -> int:
    """Return how many points were passed."""
    return _count


def _die() -> None:
    kill = getattr(signal, "SIGKILL", signal.SIGTERM)
    if os.environ.get("ENVDOCTOR_CRASH_GROUP") and hasattr(os, "killpg"):
        os.killpg(os.getpgid(0), kill)
    os.kill(os.getpid(), kill)
