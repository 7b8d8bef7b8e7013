"""``envdoctor host``: the facts of a machine as a report."""

from __future__ import annotations

import time
from collections.abc import Callable

from envdoctor.model.fact import Facts
from envdoctor.model.report import Report

__all__ = ["cards_were_asked", "host_report"]


def host_report(probe: Callable[[], Facts]) -> Report:
    """Measure, and return the report; it is not complete where a source did not answer in time."""
    started = time.perf_counter()
    facts = probe()
    return Report(
        command="host",
        facts=tuple(facts),
        complete=not any(fact.timed_out for fact in facts),
        timings={"total_s": round(time.perf_counter() - started, 3)},
    )


def cards_were_asked(facts: Facts) -> bool:
    """Return whether every source of cards and drivers answered in time: what rules about them say depends on it."""
    return not any(fact.timed_out for fact in facts if fact.name.startswith(("gpu", "driver.")))
