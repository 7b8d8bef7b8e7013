"""Threads that fetch ahead of those who ask, each piece of work done once; and how long callers were kept waiting."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

__all__ = ["Job", "Stopwatch", "Workers"]


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


T = TypeVar("T")


class Job(Generic[T]):
    """Work that is done once, by whoever comes first: a worker, or the caller who needs the result now."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._work: Callable[[], T] | None = work
        self._working = threading.Lock()
        self._result: T
        self.done = False
        """Whether the result is at hand."""
        self._error: Exception | None = None

    def run(self) -> None:
        """Do the work unless somebody has begun it."""
        if self._working.acquire(blocking=False):
            self._do_and_release()

    def _do_and_release(self) -> None:
        work, self._work = self._work, None
        try:
            if work is not None:
                self._result = work()
        except Exception as error:  # noqa: BLE001 - handed to whoever asks for the result
            self._error = error
        finally:
            self.done = True
            self._working.release()

    def result(self) -> T:
        """Return the result, doing the work here if nobody has begun it. Raises what the work raised."""
        if not self.done:
            self._working.acquire()
            self._do_and_release()
        if self._error is not None:
            raise self._error.with_traceback(None)
        return self._result


class Workers:
    """Daemon threads, started as work comes."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._jobs: queue.SimpleQueue[Job[object] | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._threads = 0
        self._open = 0
        self._closed = False

    def submit(self, job: Job[object]) -> None:
        """Queue a job."""
        with self._lock:
            if self._closed:
                return
            self._open += 1
            more = self._threads < min(self._most, self._open)
            self._threads += more
        self._jobs.put(job)
        if more:
            threading.Thread(target=self._serve, name="envdoctor-index", daemon=True).start()

    def close(self) -> None:
        """Leave what is queued; threads end after what they are at."""
        with self._lock:
            self._closed = True
            threads = self._threads
        for _ in range(threads):
            self._jobs.put(None)

    def _serve(self) -> None:
        while True:
            job = self._jobs.get()
            if job is None or self._closed:
                return
            job.run()
            with self._lock:
                self._open -= 1
