"""Where the time of a prescription went."""

from __future__ import annotations

import time
from typing import Protocol, runtime_checkable

__all__ = ["Phases"]


@runtime_checkable
class _Waited(Protocol):
    """An index that knows how long it kept its callers waiting."""

    @property
    def seconds(self) -> float: ...


class Phases:
    """Wall-clock seconds by phase; those spent waiting for an index count for the index alone."""

    def __init__(self, *indexes: object) -> None:
        self._indexes = tuple({id(index): index for index in indexes if isinstance(index, _Waited)}.values())
        self._seconds = {"index_s": 0.0}
        self._at = time.perf_counter()
        self._waited = self._waiting()

    def end(self, phase: str) -> None:
        """Count what has passed since the last phase ended (or since the start) to ``phase``."""
        now, waited = time.perf_counter(), self._waiting()
        waiting = min(waited - self._waited, now - self._at)
        self._seconds["index_s"] += waiting
        self._seconds[phase] = self._seconds.get(phase, 0.0) + now - self._at - waiting
        self._at, self._waited = now, waited

    def timings(self) -> dict[str, float]:
        """Return the seconds of the index and of each phase, and ``total_s``, their sum."""
        return {
            name: round(value, 3) for name, value in {"total_s": sum(self._seconds.values()), **self._seconds}.items()
        }

    def _waiting(self) -> float:
        return sum(index.seconds for index in self._indexes)
