"""One run of a command: time by the clock and by the processor, and the peak of its memory."""

from __future__ import annotations

import os
import statistics
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Cost", "Costs", "run"]


@dataclass(frozen=True, slots=True)
class Cost:
    """What one run took."""

    wall: float
    cpu: float
    """Seconds of the processor, of user and system, children included."""
    peak: float
    """MB of the largest process."""
    code: int | None
    """The exit code; None where it was stopped at the time limit."""


def run(command: Sequence[str], variables: Mapping[str, str], log: Path, limit: float = 300.0) -> Cost:
    """Run a command to its end, or stop it after ``limit`` seconds; what it says goes into a file."""
    with log.open("wb") as said:
        begun = time.perf_counter()
        process = subprocess.Popen(command, env=dict(variables), stdin=subprocess.DEVNULL, stdout=said, stderr=said)
        stopped = threading.Event()

        def end() -> None:
            stopped.set()
            process.kill()

        timer = threading.Timer(limit, end)
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - begun
        timer.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    code = None if stopped.is_set() else process.returncode
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, code)


class Costs(list[Cost]):
    """Several runs of one command."""

    @property
    def wall(self) -> float:
        """The median by the clock."""
        return statistics.median(cost.wall for cost in self)

    @property
    def cpu(self) -> float:
        """The median by the processor."""
        return statistics.median(cost.cpu for cost in self)

    @property
    def peak(self) -> float:
        """The median of the peak, in MB."""
        return statistics.median(cost.peak for cost in self)

    @property
    def stopped(self) -> bool:
        """Whether a run met the time limit."""
        return any(cost.code is None for cost in self)
