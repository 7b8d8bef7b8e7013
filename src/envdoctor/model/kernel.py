"""GPU operations with a reference answer, and what follows from them."""

from __future__ import annotations

import enum
from dataclasses import dataclass

__all__ = ["KernelResult", "KernelStatus", "Placement"]


class KernelStatus(enum.Enum):
    """How one kernel ended."""

    PASSED = "passed"
    WRONG_ANSWER = "wrong-answer"
    UNSUPPORTED = "unsupported"
    CRASHED = "crashed"
    TIMED_OUT = "timed-out"
    OUT_OF_MEMORY = "out-of-memory"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class KernelResult:
    """The outcome of one kernel on one device."""

    kernel: str
    device: str
    status: KernelStatus
    error_relative: float | None = None
    """Largest error over the scale of the reference answer."""
    tolerance: float | None = None
    first_ms: float | None = None
    """First call, milliseconds."""
    steady_ms: float | None = None
    """Median of later calls, milliseconds."""
    reference_ms: float | None = None
    """The same operation on the CPU in the kernel's own dtype, milliseconds."""
    peak_bytes: int | None = None
    rate: float | None = None
    """Work per second in ``rate_unit``, where that makes sense."""
    rate_unit: str | None = None
    """``TFLOP/s`` or ``GB/s``."""
    detail: str | None = None
    setting: str | None = None
    """A setting that made it pass after it had failed, such as ``cudnn-off``."""


@dataclass(frozen=True, slots=True)
class Placement:
    """Which device a component should run on."""

    component: str
    device: str
    because: tuple[str, ...] = ()
