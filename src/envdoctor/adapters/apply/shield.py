"""Taking back is not cut short by an impatient Ctrl-C: it takes a moment, and half of it would be worse than none."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["shielded"]


@contextmanager
def shielded() -> Iterator[None]:
    """Let Ctrl-C do nothing meanwhile. Outside the main thread, where no signal arrives, it changes nothing."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = signal.signal(signal.SIGINT, _wait)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous if previous is not None else signal.default_int_handler)


def _wait(_number: int, _frame: object) -> None:
    """Take note of nothing; a handler, unlike SIG_IGN, is not handed down to children."""
