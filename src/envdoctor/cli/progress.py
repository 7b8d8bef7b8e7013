"""Progress on stderr: one line that is rewritten on a terminal, nothing elsewhere."""

from __future__ import annotations

import os
import sys
import threading
import time

__all__ = ["SilentProgress", "StderrProgress", "open_progress"]

_QUIET_FOR_S = 0.5
_REDRAW_EVERY_S = 0.1


class SilentProgress:
    """Says nothing: ``--quiet``, and wherever stderr is not a terminal."""

    def start(self, activity: str, total: int | None = None) -> None:
        """Do nothing."""

    def advance(self, activity: str, by: int = 1, note: str = "") -> None:
        """Do nothing."""

    def finish(self, activity: str) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


class StderrProgress:
    """Rewrites one line; stays silent for the first half second so that quick work leaves no trace."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._started = time.monotonic()
        self._drawn_at = 0.0
        self._shown = False
        self._activities: dict[str, list[int | None]] = {}
        self._note = ""

    def start(self, activity: str, total: int | None = None) -> None:
        """Announce an activity."""
        with self._lock:
            self._activities[activity] = [0, total]
            self._draw()

    def advance(self, activity: str, by: int = 1, note: str = "") -> None:
        """Count units of an activity; an unknown one is started."""
        with self._lock:
            state = self._activities.setdefault(activity, [0, None])
            state[0] = (state[0] or 0) + by
            self._note = note or self._note
            self._draw()

    def finish(self, activity: str) -> None:
        """Close an activity."""
        with self._lock:
            self._activities.pop(activity, None)
            self._draw()

    def close(self) -> None:
        """Wipe the line."""
        with self._lock:
            if self._shown:
                sys.stderr.write("\r\x1b[K")
                sys.stderr.flush()
                self._shown = False

    def _draw(self) -> None:
        now = time.monotonic()
        if now - self._started < _QUIET_FOR_S or now - self._drawn_at < _REDRAW_EVERY_S or not self._activities:
            return
        self._drawn_at = now
        self._shown = True
        parts = [_part(activity, state) for activity, state in self._activities.items()]
        text = f"{'; '.join(parts)} {self._note}".strip()
        width = os.get_terminal_size(sys.stderr.fileno()).columns if sys.stderr.isatty() else 80
        sys.stderr.write("\r\x1b[K" + text[: max(10, width - 1)])
        sys.stderr.flush()


def _part(activity: str, state: list[int | None]) -> str:
    done, total = state
    if total:
        return f"{activity} {done}/{total}"
    return f"{activity} {done}" if done else activity


def open_progress(*, quiet: bool) -> SilentProgress | StderrProgress:
    """Return a progress line where a person can see it."""
    if quiet or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        return SilentProgress()
    return StderrProgress()
