"""A resolution that fails its own check: it is said, the next that passes is used, and no lock is made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

import pytest
from resolve_universe import LINUX, MemoryIndex, read

from envdoctor.model.project import Project
from envdoctor.model.unknown import UnknownKind
from envdoctor.render.reasons import message_of, refusal_text, unknown_text
from envdoctor.resolve.diagnosis import diagnose
from envdoctor.resolve.manifest import Manifest
from envdoctor.resolve.pubgrub import PubGrub
from envdoctor.resolve.solver import Demand, Outcome, Solved, View
from envdoctor.verbs.check import check
from envdoctor.verbs.check_request import CheckRequest
from envdoctor.verbs.lock import LockChoice, lock

TABLE: Mapping[str, Mapping[str, Any]] = {"app": {"1": ["lib<2"]}, "lib": {"1": {}, "2": {}}}
FAULT = "the resolution: it fails its own check, which is a fault of envdoctor"


class Wrong(PubGrub):
    """Takes lib 2, whatever asks for it, and where nothing does."""

    def solve(self, demands: Sequence[Demand], view: View, prefer: Mapping[str, int] | None = None) -> Outcome:
        outcome = super().solve(demands, view, prefer)
        return Solved({**outcome.positions, "lib": 1}) if isinstance(outcome, Solved) else outcome


def test_what_fails_its_own_check_is_said() -> None:
    found = diagnose(Manifest(read("app"), LINUX), MemoryIndex(TABLE), solver=Wrong())
    assert [unknown_text(u) for u in found.unknowns] == [f"{FAULT}: app 1 asks for `lib<2`, and `lib` 2 is there"]


def test_a_package_that_nothing_asks_for_is_said() -> None:
    table: Mapping[str, Mapping[str, Any]] = {"app": {"1": {}}, "lib": {"1": {}, "2": {}}}
    found = diagnose(Manifest(read("app"), LINUX), MemoryIndex(table), solver=Wrong())
    assert [unknown_text(unknown) for unknown in found.unknowns] == [f"{FAULT}: nothing asks for `lib` 2"]


def test_no_lock_is_made_of_it_and_the_report_is_not_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("envdoctor.resolve.pubgrub.PubGrub", Wrong)
    project = Project("", requirements=read("app"))
    request = CheckRequest(target=LINUX, today=date(2026, 11, 28), project=project, index=MemoryIndex(TABLE))
    report = check(request)
    assert not report.complete
    assert [unknown.kind for unknown in report.unknowns] == [UnknownKind.UNSOUND]
    assert any("fails its own check" in message_of(item) for item in report.findings)
    outcome = lock(request, LockChoice(), {})
    assert not outcome.files
    assert any("fails its own check" in refusal_text(refusal) for refusal in outcome.refusals)


def test_a_repair_that_passes_is_used_before_one_that_does_not() -> None:
    # Both repairs cost one; with the first, the engine takes what the check refuses.
    class WrongOnce(PubGrub):
        def solve(self, demands: Sequence[Demand], view: View, prefer: Mapping[str, int] | None = None) -> Outcome:
            outcome = super().solve(demands, view, prefer)
            if isinstance(outcome, Solved) and outcome.positions.get("lib") == 1 and "extra" not in outcome.positions:
                return Solved({**outcome.positions, "extra": 0})
            return outcome

    table: Mapping[str, Mapping[str, Any]] = {
        "app": {"1": ["lib==1"], "2": ["lib==2"]},
        "lib": {"1": {}, "2": {}},
        "extra": {"1": {}},
    }
    honest = diagnose(Manifest(read("app==1", "lib==2"), LINUX), MemoryIndex(table))
    found = diagnose(Manifest(read("app==1", "lib==2"), LINUX), MemoryIndex(table), solver=WrongOnce())
    assert len(honest.repairs) == len(found.repairs) == 2
    assert not found.unknowns
    assert found.resolution is not None
    assert found.resolution.get("extra") is None
    chosen = diagnose(
        Manifest(read("app==1", "lib==2"), LINUX),
        MemoryIndex(table),
        solver=WrongOnce(),
        repair=_other(found.resolution.repair),
    )
    assert chosen.resolution is not None
    assert chosen.resolution.get("extra") is not None
    assert [(u.kind, u.subject.name, u.demand) for u in chosen.unknowns] == [(UnknownKind.UNSOUND, "extra", "")]


def _other(repair: str | None) -> str:
    return {"R1": "R2", "R2": "R1"}[repair or ""]
