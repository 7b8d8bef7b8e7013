"""Waivers of ``[tool.envdoctor]``: accepted with a reason and until a day, in every format that has a word for it."""

from __future__ import annotations

import json
import re
import shutil
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import junitparser
import pytest

from envdoctor.cli.main import main
from song_maker import EXAMPLE, RECORDED

TODAY = datetime.now(tz=timezone.utc).date()
LATER, GONE = TODAY + timedelta(days=30), TODAY - timedelta(days=2)
SETTINGS = '[tool.envdoctor]\nprofile = "diffrhythm2-directml"\n'
CONFLICTS = 'rule = "conflicting-requirements"\nreason = "the target image brings its own torch"'
INFERENCE = 'rule = "ADV062"\nsubject = "torch.inference_mode"\nreason = "the launcher patches it"'


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ENVDOCTOR_INDEX_RECORDED", RECORDED)
    monkeypatch.setenv("ENVDOCTOR_CACHE_DIR", str(tmp_path / "cache"))
    folder = tmp_path / "songs"
    folder.mkdir()
    for name in ("requirements.txt", "generate.py"):
        shutil.copy(EXAMPLE / name, folder)
    return folder


def accept(project: Path, *waivers: str) -> None:
    tables = "".join(f"\n[[tool.envdoctor.waive]]\n{waiver}\n" for waiver in waivers)
    (project / "pyproject.toml").write_text(SETTINGS + tables, encoding="utf-8")


def say(project: Path, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, str]:
    capsys.readouterr()
    code = main(["check", str(project), "--quiet", *options])
    return code, capsys.readouterr().out


def findings(project: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, list[dict[str, Any]]]]:
    code, text = say(project, capsys, "--format", "json")
    by_rule: dict[str, list[dict[str, Any]]] = {}
    for finding in json.loads(text)["findings"]:
        by_rule.setdefault(finding["rule"], []).append(finding)
    return code, by_rule


def test_hooks_what_is_waived_does_not_fail_and_keeps_its_reason_and_place(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    accept(project, CONFLICTS, f"{INFERENCE}\nexpires = {LATER}")
    code, found = findings(project, capsys)
    assert code == 0
    assert [bool(finding["waived"]) for finding in found["RES001"]] == [True, True]
    waived = found["ADV062"][0]["waived"]
    assert waived == {
        "reason": "the launcher patches it",
        "source": "pyproject.toml: tool.envdoctor.waive[1]",
        "expires": LATER.isoformat(),
    }


def test_hooks_what_no_waiver_names_still_fails(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    accept(project, INFERENCE, 'rule = "RES001"\nsubject = "another"\nreason = "elsewhere"')
    code, found = findings(project, capsys)
    assert code == 1
    assert [finding["waived"] for finding in found["RES001"]] == [None, None]


@pytest.mark.parametrize("written", ["{}", '"{}"', "{}T08:30:00Z"])
def test_hooks_a_waiver_holds_through_its_last_day(
    project: Path, capsys: pytest.CaptureFixture[str], written: str
) -> None:
    today = datetime.now(tz=timezone.utc).date()
    accept(project, CONFLICTS, f"{INFERENCE}\nexpires = {written.format(today)}")
    code, found = findings(project, capsys)
    assert code == 0
    assert "RES091" not in found


@pytest.mark.parametrize("day", [str(GONE), f'"{GONE}"', f"{GONE}T08:30:00"])
def test_hooks_an_expired_waiver_is_a_finding_and_accepts_nothing(
    project: Path, capsys: pytest.CaptureFixture[str], day: str
) -> None:
    accept(project, INFERENCE, f"{CONFLICTS}\nexpires = {day}")
    code, found = findings(project, capsys)
    assert code == 1
    assert found["RES001"][0]["waived"] is None
    said = f"the waiver of `conflicting-requirements` ended on {GONE}: the target image brings its own torch"
    assert found["RES091"][0]["message"] == said
    assert say(project, capsys, "--fail-on", "warning")[0] == 1


def test_hooks_what_is_waived_is_shown_on_request(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    accept(project, CONFLICTS, f"{INFERENCE}\nexpires = {LATER}")
    _, told = say(project, capsys)
    assert "3 findings accepted; --show-waived lists them" in told
    assert "the launcher patches it" not in told
    _, told = say(project, capsys, "--show-waived")
    said = " ".join(told.split())
    assert "ADV062 directml-inference-mode: torch.inference_mode" in said
    assert f"because the launcher patches it (pyproject.toml: tool.envdoctor.waive[1], until {LATER})" in said


def test_hooks_ci_formats_say_what_is_waived_in_their_own_words(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    accept(project, CONFLICTS, f"{INFERENCE}\nexpires = {LATER}")
    results = json.loads(say(project, capsys, "--format", "sarif")[1])["runs"][0]["results"]
    suppressed = {result["ruleId"]: result["suppressions"] for result in results if result["suppressions"]}
    assert {rule.partition("/")[0] for rule in suppressed} == {"RES001", "ADV062"}
    assert all(one["justification"] for suppressions in suppressed.values() for one in suppressions)
    junit = junitparser.JUnitXml.fromstring(say(project, capsys, "--format", "junit")[1].encode("utf-8"))
    assert (junit.failures, junit.skipped) == (0, 3)
    annotations = say(project, capsys, "--format", "github")[1]
    assert "ADV062" not in annotations
    assert "::error" not in annotations


@pytest.mark.parametrize(
    ("waiver", "code", "said"),
    [
        ("RES999", "RES092", "no rule or advisory is called `RES999`; did you mean `RES"),
        ("conflicting-requirement", "RES092", "did you mean `conflicting-requirements`?"),
        ('RES001"\nsubject = "torhc', "RES093", "the waiver of `RES001` is for `torhc`, and was found of `"),
        ("RES010", "RES093", "the waiver of `RES010` accepts nothing of what was found"),
        ("ENV003", None, ""),
        ("log-without-outcome", None, ""),
    ],
)
def test_hooks_a_waiver_that_accepts_nothing_is_said_where_its_rule_was_asked(
    project: Path, capsys: pytest.CaptureFixture[str], waiver: str, code: str | None, said: str
) -> None:
    accept(project, CONFLICTS, INFERENCE, f'rule = "{waiver}"\nreason = "x"')
    ended, found = findings(project, capsys)
    assert ended == 0
    idle = [finding for key in ("RES092", "RES093") for finding in found.get(key, [])]
    assert [finding["rule"] for finding in idle] == ([code] if code else [])
    assert all(said in finding["message"] for finding in idle)


def test_hooks_what_was_not_looked_at_leaves_no_waiver_idle(
    project: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ENVDOCTOR_INDEX_RECORDED")
    accept(project, INFERENCE, 'rule = "RES010"\nreason = "x"', 'rule = "RES999"\nreason = "x"')
    _, text = say(project, capsys, "--offline", "--format", "json")
    rules = [finding["rule"] for finding in json.loads(text)["findings"]]
    assert "RES092" in rules
    assert "RES093" not in rules


@pytest.mark.parametrize(
    ("waiver", "fault"),
    [
        ('rule = "ADV062"', "`tool.envdoctor.waive[0].reason`: missing"),
        ('reason = "because"', "`tool.envdoctor.waive[0].rule`: missing"),
        ('rule = "ADV062"\nreason = " "', "`tool.envdoctor.waive[0].reason`: must be a non-empty string"),
        ('rule = "ADV062"\nreason = "x"\nexpires = "soon"', "`tool.envdoctor.waive[0].expires`: `soon` is not a date"),
        ('rule = "ADV062"\nreason = "x"\nexpires = 08:30:00', "tool.envdoctor.waive[0].expires"),
        ('rule = "ADV062"\nreason = "x"\nuntil = 2027-01-31', "`tool.envdoctor.waive[0].until`: unknown key"),
    ],
)
def test_hooks_a_waiver_that_is_not_one_is_a_usage_fault(
    project: Path, capsys: pytest.CaptureFixture[str], waiver: str, fault: str
) -> None:
    accept(project, waiver)
    capsys.readouterr()
    assert main(["check", str(project), "--quiet"]) == 2
    said = capsys.readouterr().err
    assert fault in said
    assert re.search(r"pyproject\.toml:\d+: ", said)
