"""Moments that no signal cuts short: half of them would be worse than none."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["deferred", "shielded"]

_ENDING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextmanager
def shielded() -> Iterator[None]:
    """Let Ctrl-C, and being told to end where that is answered like it, do nothing meanwhile: for taking back.

    Outside the main thread, where no signal arrives, it changes nothing.
    """
    with _answered_by(lambda _number: None):
        yield


@contextmanager
def deferred() -> Iterator[None]:
    """Let such a signal wait until the block has ended: for what must be wholly there before it can be taken back.

    Raises KeyboardInterrupt at the end of the block where one came, as it would have in it.
    """
    came: list[int] = []
    with _answered_by(came.append):
        yield
    for number in came[:1]:
        signal.raise_signal(number)


@contextmanager
def _answered_by(take: Callable[[int], None]) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    # What kills at once, or is ignored, stays as it is. A handler, unlike SIG_IGN, is not handed down to children.
    before = {number: handler for number in _ENDING if callable(handler := signal.getsignal(number))}
    for number in before:
        signal.signal(number, lambda number, _frame: take(number))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
