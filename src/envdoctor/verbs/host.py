"""``envdoctor host``: the facts of a machine as a report."""

from __future__ import annotations

import time
from collections.abc import Callable

from envdoctor.model.fact import Fact, Facts, FactState
from envdoctor.model.report import Report

__all__ = ["cards_were_asked", "host_report"]

_OUT_OF_TIME = ("did not end within", "there was no time left")


def host_report(probe: Callable[[], Facts]) -> Report:
    """Measure, and return the report; it is not complete where a source did not answer in time."""
    started = time.perf_counter()
    facts = probe()
    return Report(
        command="host",
        facts=tuple(facts),
        complete=not any(_ran_out_of_time(fact) for fact in facts),
        timings={"total_s": round(time.perf_counter() - started, 3)},
    )


def cards_were_asked(facts: Facts) -> bool:
    """Return whether every source of cards and drivers answered in time: what rules about them say depends on it."""
    return not any(_ran_out_of_time(fact) for fact in facts if fact.name.startswith(("gpu", "driver.")))


def _ran_out_of_time(fact: Fact) -> bool:
    reason = fact.reason or ""
    return fact.state is FactState.UNKNOWN and any(words in reason for words in _OUT_OF_TIME)
