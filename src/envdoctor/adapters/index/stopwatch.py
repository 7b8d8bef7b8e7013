"""How long an index kept its callers waiting."""

from __future__ import annotations

import threading
import time

__all__ = ["Stopwatch"]


class Stopwatch:
    """Adds up wall-clock seconds in which at least one caller waits; nested and simultaneous waits count once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting = 0
        self._since = 0.0
        self._seconds = 0.0

    @property
    def seconds(self) -> float:
        """Seconds so far."""
        with self._lock:
            running = time.perf_counter() - self._since if self._waiting else 0.0
            return self._seconds + running

    def __enter__(self) -> None:
        with self._lock:
            self._waiting += 1
            if self._waiting == 1:
                self._since = time.perf_counter()

    def __exit__(self, *_exc: object) -> None:
        with self._lock:
            self._waiting -= 1
            if not self._waiting:
                self._seconds += time.perf_counter() - self._since
