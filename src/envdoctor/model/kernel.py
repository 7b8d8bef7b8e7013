"""GPU operations with a reference answer, and what follows from them."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import field

from envdoctor.model.dataclass import dataclass
from envdoctor.model.fact import Fact
from envdoctor.model.unknown import Unknown

__all__ = ["KernelResult", "KernelStatus", "Placement", "SmokeOutcome", "SmokeRequest"]


class KernelStatus(enum.Enum):
    """How one kernel ended."""

    PASSED = "passed"
    CONVERTED = "converted"
    """A model was converted for another runtime that is not here: nothing is known of its answers."""
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
    """The same operation on the CPU, milliseconds; half types in float32, which is what one would run there."""
    peak_bytes: int | None = None
    rate: float | None = None
    """Work per second in ``rate_unit``, where that makes sense."""
    rate_unit: str | None = None
    """``TFLOP/s`` or ``GB/s``."""
    detail: str | None = None
    setting: str | None = None
    """A setting that made it pass after it had failed, such as ``cudnn-off``."""
    slower: bool = False
    """It passed, and the CPU of the same machine is faster at these shapes."""
    unknown: Unknown | None = None
    """Why it was not run, where something before it failed: a stage, which is a kernel, or the device."""
    rate_limit: float | None = None
    """What the card can do at most, in ``rate_unit``, where its data tell."""

    @property
    def failed(self) -> bool:
        """True unless it passed, was skipped, or converted what only another machine can ask."""
        return self.status not in (KernelStatus.PASSED, KernelStatus.CONVERTED, KernelStatus.SKIPPED)


@dataclass(frozen=True, slots=True)
class Placement:
    """Which device a component should run on."""

    component: str
    device: str
    because: tuple[str, ...] = ()
    away: bool = False
    """Its kernels sent it there; so too where that device is the one that they ran on."""


@dataclass(frozen=True, slots=True)
class SmokeRequest:
    """What to run on which device."""

    kernels: tuple[str, ...]
    """Names of kernels and workloads, in order."""
    backend: str = "auto"
    """``auto``, a backend's name, or ``cpu-as:<backend>`` for a CPU that plays its part in tests."""
    forced: frozenset[str] = frozenset()
    """Kernels asked for by name: they run even where the backend is known not to have them."""
    settings: tuple[str, ...] = ()
    """Settings for all of them, such as ``cudnn-off``."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables of the child, over those of this process."""
    device: int | None = None
    """The number of a card, of those there are, counted round; None: the first. Ranks of one host take one each."""
    all_devices: bool = False
    bisect: bool = True
    """Whether a failing kernel is tried again under other settings."""
    timeout_scale: float = 1.0
    """Factor on every kernel's time limit."""
    time_limit_s: float = 600.0
    """Seconds for all of it, trials and the all-reduce included; what there is no time left for is skipped."""
    plant: Mapping[str, str] = field(default_factory=dict)
    """Faults for tests, by kernel; they act only where ``ENVDOCTOR_PLANT=1``."""


@dataclass(frozen=True, slots=True)
class SmokeOutcome:
    """What the kernels said."""

    results: tuple[KernelResult, ...]
    facts: tuple[Fact, ...] = ()
    backend: str | None = None
    """The backend that was opened; None where none was."""
    children: int = 1
    """Processes that were needed; one on a healthy machine."""
    timings: Mapping[str, float] = field(default_factory=dict)
    """Seconds by phase."""
