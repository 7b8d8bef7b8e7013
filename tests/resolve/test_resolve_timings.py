"""Where the time went is told by phase, and waiting for an index counts for the index; what was paused goes on."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from datetime import date

import pytest
from packaging.utils import NormalizedName
from resolve_universe import LINUX, MemoryIndex, read

from envdoctor.model.candidate import ProjectPage
from envdoctor.model.project import Project
from envdoctor.verbs.check import check
from envdoctor.verbs.check_request import CheckRequest


class SlowIndex(MemoryIndex):
    """An index that says how long it kept its callers waiting; its clock is its own, so that no test waits."""

    seconds = 7.0
    collecting: tuple[bool, ...] = ()

    def page(self, name: NormalizedName) -> ProjectPage:
        self.seconds += 0.25
        self.collecting = (*self.collecting, gc.isenabled())
        return super().page(name)


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second goes by whenever somebody looks at the clock."""

    def ticking() -> Iterator[float]:
        yield from map(float, range(1_000_000))

    monkeypatch.setattr(time, "perf_counter", ticking().__next__)


def _request(index: MemoryIndex, *lines: str) -> CheckRequest:
    return CheckRequest(
        target=LINUX, today=date(2026, 11, 28), project=Project("", requirements=read(*lines)), index=index
    )


def test_waiting_for_the_index_is_told_by_itself() -> None:
    index = SlowIndex({"app": {"1": ["left"]}, "left": {"1": {}}})
    timings = check(_request(index, "app")).timings
    assert timings == {"total_s": 2.0, "index_s": 0.5, "resolve_s": 0.5, "rules_s": 1.0}


def test_an_index_that_does_not_say_it_waits_for_nothing() -> None:
    timings = check(_request(MemoryIndex({"app": {"1": {}}}), "app")).timings
    assert timings == {"total_s": 2.0, "index_s": 0.0, "resolve_s": 1.0, "rules_s": 1.0}


def test_the_cycle_collector_is_paused_for_a_prescription_and_goes_on_after_it() -> None:
    index = SlowIndex({"app": {"1": {}}})
    assert gc.isenabled()
    check(_request(index, "app"))
    assert gc.isenabled()
    assert index.collecting
    assert not any(index.collecting)
    gc.disable()
    try:
        check(_request(index, "app"))
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_the_collector_goes_on_after_a_failure_too() -> None:
    class Broken(MemoryIndex):
        def page(self, name: NormalizedName) -> ProjectPage:
            raise RuntimeError(name)

    with pytest.raises(RuntimeError):
        check(_request(Broken({}), "app"))
    assert gc.isenabled()
