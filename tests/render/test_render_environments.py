"""What is found in one of several environments is called after it, by its fields and not by its words."""

from __future__ import annotations

from dataclasses import replace

from render_reports import REPORTS

from envdoctor.model.finding import Evidence, Finding, Severity
from envdoctor.render.reasons import message_of, worded
from envdoctor.verbs.profile_environments import together


def test_conflicts_and_repairs_are_called_after_their_environment() -> None:
    report = REPORTS["diffrhythm2"]
    conflict, repair = report.conflicts[0], report.repairs[0]
    said = Finding(
        "RES001",
        "conflicting-requirements",
        Severity.ERROR,
        conflict.clash.package,
        "repair R1 and C1 are words here",
        evidence=(Evidence("both sides", of_conflict=True), Evidence("C1", "elsewhere")),
        conflict=conflict.id,
        repair=repair.id,
    )
    alike = Finding("RES003", "ambiguous", Severity.WARNING, "C1", "the same in both")
    parts = [replace(report, environment=name, findings=(said, alike)) for name in ("main", "tools")]
    whole = together(parts)
    found = [item for item in whole.findings if item.rule == "RES001"]
    assert [item for item in whole.findings if item.rule == "RES003"] == [alike]
    assert [(item.environment, item.conflict, item.repair) for item in found] == [
        (name, f"{name}:C1", f"{name}:{repair.id}") for name in ("main", "tools")
    ]
    shown = worded(replace(whole, findings=tuple(found))).findings[0].evidence
    assert [seen.where for seen in shown] == ["main:C1", "elsewhere"]
    assert found[0].remedy is not None
    assert found[0].remedy.summary.startswith(f"repair main:{repair.id} overrides ")
    assert message_of(found[0]) == "environment `main`: repair R1 and C1 are words here"
