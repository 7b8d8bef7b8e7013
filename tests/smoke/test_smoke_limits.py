"""A card's limits from its own figures, against its data sheet."""

from __future__ import annotations

import pytest

from envdoctor.adapters.smoke.runner import rate_limit
from envdoctor.model.kernel import KernelResult, KernelStatus
from envdoctor.render.wording import speed_up

H100 = {
    "capability": "9.0",
    "multiprocessors": 132,
    "clock_khz": 1_830_000,
    "memory_clock_khz": 2_619_000,
    "memory_bus_bits": 5120,
}


@pytest.mark.parametrize(
    ("unit", "dtype", "limit"),
    [
        ("TFLOP/s", "bfloat16", 989.4),
        ("TFLOP/s", "tf32", 494.7),
        ("TFLOP/s", "float32", 61.8),
        ("GB/s", "float32", 3352.0),
    ],
)
def test_an_h100_is_what_its_data_sheet_says(unit: str, dtype: str, limit: float) -> None:
    assert rate_limit(unit, dtype, H100) == pytest.approx(limit, rel=1e-3)


@pytest.mark.parametrize("facts", [{}, {"capability": "9.0"}, {**H100, "capability": "3.5"}])
def test_what_the_driver_does_not_tell_is_not_guessed(facts: dict[str, object]) -> None:
    assert rate_limit("TFLOP/s", "float16", facts) is None
    assert rate_limit(None, "float16", facts) is None


def test_integers_have_no_floating_point_limit() -> None:
    assert rate_limit("TFLOP/s", "int8", H100) is None


def test_a_speed_up_needs_both_times() -> None:
    passed = KernelResult("sort", "cuda:0", KernelStatus.PASSED, steady_ms=0.5, reference_ms=2.0)
    assert speed_up(passed) == 4.0
    assert speed_up(KernelResult("sort", "cpu", KernelStatus.PASSED, steady_ms=0.5)) is None
