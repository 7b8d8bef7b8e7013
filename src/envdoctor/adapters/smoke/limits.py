"""What a card can do at most, from its own figures; None where they do not tell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["rate_limit"]

# Floating-point operations of one multiprocessor in one clock, dense: (float32 units, half-precision tensor cores).
# From the throughput table of NVIDIA's CUDA programming guide and the architecture papers.
_PER_CLOCK = {
    "6.0": (128, 256),
    "6.1": (256, 0),
    "7.0": (128, 1024),
    "7.5": (128, 1024),
    "8.0": (128, 2048),
    "8.6": (256, 1024),
    "8.7": (256, 2048),
    "8.9": (256, 1024),
    "9.0": (256, 4096),
    "10.0": (256, 8192),
    "12.0": (256, 1024),
}


def rate_limit(unit: str | None, dtype: str, facts: Mapping[str, Any]) -> float | None:
    """Return the most that the card can do in ``unit``, for a kernel of ``dtype`` (or ``tf32``)."""
    if unit == "GB/s":
        clock, bits = facts.get("memory_clock_khz"), facts.get("memory_bus_bits")
        # Two transfers a clock.
        return 2.0 * clock * 1e3 * bits / 8 / 1e9 if clock and bits else None
    if unit != "TFLOP/s":
        return None
    per_clock = _PER_CLOCK.get(str(facts.get("capability")))
    clock, count = facts.get("clock_khz"), facts.get("multiprocessors")
    if per_clock is None or not clock or not count:
        return None
    operations = _operations(per_clock, dtype, str(facts.get("capability")))
    return operations * count * clock * 1e3 / 1e12 if operations else None


def _operations(per_clock: tuple[int, int], dtype: str, capability: str) -> int:
    """Return operations a clock for a type; 0 where the table does not say."""
    if dtype in ("float16", "bfloat16"):
        return per_clock[1]
    if dtype == "tf32":
        return per_clock[1] // 2 if capability in ("8.0", "9.0", "10.0") else 0
    return per_clock[0] if dtype == "float32" else 0
