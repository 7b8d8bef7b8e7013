"""Progress on stderr: one line for each activity on a terminal, nothing elsewhere."""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
from typing import TYPE_CHECKING

from envdoctor.ports import SilentProgress

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

__all__ = ["StderrProgress", "open_progress"]

_QUIET_FOR_S = 0.5


class StderrProgress:
    """Draws bars with rich; stays silent for the first half second so that quick work leaves no trace.

    What else is written to stderr meanwhile appears above the bars.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._started = time.monotonic()
        self._counts: dict[str, tuple[int, int | None, str]] = {}
        self._bars: Progress | None = None
        self._tasks: dict[str, TaskID] = {}
        # rich hides the cursor while it draws: whatever ends the process, it comes back.
        atexit.register(self.close)

    def start(self, activity: str, total: int | None = None) -> None:
        """Announce an activity."""
        with self._lock:
            self._counts[activity] = (0, total, "")
            self._draw(activity)

    def advance(self, activity: str, by: int = 1, note: str = "") -> None:
        """Count units of an activity; an unknown one is started."""
        with self._lock:
            done, total, noted = self._counts.get(activity, (0, None, ""))
            self._counts[activity] = (done + by, total, "".join(filter(str.isprintable, note)) or noted)
            self._draw(activity)

    def finish(self, activity: str) -> None:
        """Close an activity."""
        with self._lock:
            self._counts.pop(activity, None)
            if self._bars is not None and activity in self._tasks:
                self._bars.remove_task(self._tasks.pop(activity))
            if not self._counts:
                self._wipe()

    def close(self) -> None:
        """Wipe the lines."""
        with self._lock:
            self._wipe()

    def _wipe(self) -> None:
        if self._bars is not None:
            self._bars.stop()
        self._bars = None
        self._tasks.clear()
        self._counts.clear()

    def _draw(self, activity: str) -> None:
        if self._bars is None:
            if time.monotonic() - self._started < _QUIET_FOR_S:
                return
            self._bars = _bars()
            self._bars.start()
        for name in (activity, *(each for each in self._counts if each not in self._tasks and each != activity)):
            done, total, note = self._counts[name]
            if name not in self._tasks:
                self._tasks[name] = self._bars.add_task(name, total=total, note="")
            count = f"{done}/{total}" if total else str(done or "")
            self._bars.update(self._tasks[name], completed=done, total=total or None, note=f"{count} {note}".strip())


def _bars() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        TextColumn("{task.fields[note]}", markup=False),
    )
    console = Console(stderr=True, markup=False, emoji=False, highlight=False)
    return Progress(*columns, console=console, transient=True, redirect_stdout=False)


def open_progress(*, quiet: bool) -> SilentProgress | StderrProgress:
    """Return bars where a person can see them."""
    if quiet or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        return SilentProgress()
    return StderrProgress()
