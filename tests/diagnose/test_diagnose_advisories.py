"""Every advisory fires where it must and stays silent where it nearly would; every row of the knowledge has a place."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from diagnose_fixtures import examination_of, target_of

from envdoctor.diagnose.advisories.advising import advise
from envdoctor.diagnose.advisories.advisory import Advisory
from envdoctor.diagnose.advisories.book import InvalidAdvisories, read_advisories, shipped_advisories
from envdoctor.diagnose.advisories.log_reading import read_log
from envdoctor.diagnose.documentation import catalogue, documentation
from envdoctor.diagnose.engine import examine
from envdoctor.diagnose.rulebook import rule
from envdoctor.model.finding import Finding, Severity

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

KNOWLEDGE = Path(__file__).parents[3] / "shared" / "knowledge.json"
ADVISORIES = shipped_advisories().advisories
EXAMPLES = [
    pytest.param(item, example, id=f"{item.code}-{'fires' if example.fires else 'silent'}-{at}")
    for item in ADVISORIES
    for at, example in enumerate(item.examples)
]
KNOWN_KEYS = {
    "target", "wsl", "gpu", "glibc", "plan", "sdist", "extras", "asked", "sources", "installed", "files", "facts",
    "absent", "log",
}  # fmt: skip


@pytest.mark.parametrize(("advisory", "example"), EXAMPLES)
def test_fires_and_stays_silent(advisory: Advisory, example) -> None:
    assert set(example.data) <= KNOWN_KEYS
    examination = examination_of(example.data)
    found = list(advise(examination, advisories=[advisory]))
    found += [item for item in read_log(examination) if item.rule == advisory.code]
    assert bool(found) is example.fires, found
    for finding in found:
        assert "{" not in finding.message, finding.message
        assert "(absent)" not in finding.message, finding.message
        assert not finding.message.endswith(".")
        assert finding.evidence
        assert finding.remedy


@pytest.mark.parametrize("advisory", ADVISORIES, ids=lambda item: item.code)
def test_every_symptom_is_not_too_wide(advisory: Advisory) -> None:
    for pattern in advisory.symptoms:
        assert not re.search(pattern, "")
        assert not re.search(pattern, "Successfully installed torch-2.4.1 torchaudio-2.4.1 numpy-1.26.4 av-12.3.0")
        assert not re.search(pattern, "Requirement already satisfied: transformers in ./venv/lib (4.42.4)")


def test_every_row_of_the_knowledge_has_a_place() -> None:
    if not KNOWLEDGE.exists():
        pytest.skip("the table of known issues is not beside the repository")
    covered = tomllib.loads((Path(__file__).parent / "knowledge_coverage.toml").read_text(encoding="utf-8"))
    advised = {item.id for item in ADVISORIES}
    rows = {row["id"] for row in json.loads(KNOWLEDGE.read_text(encoding="utf-8"))}
    assert rows - advised - covered.keys() == set()
    assert covered.keys() <= rows
    codes = {item.code for item in ADVISORIES}
    for entry in covered.values():
        assert entry["why"]
        assert not entry.get("rule") or rule(entry["rule"]) or entry["rule"] in codes


def test_a_plan_and_an_environment_are_asked_apart() -> None:
    planned = {"plan": ["gradio==4.43.0"], "installed": ["pydantic==2.14.4"]}
    assert not [item for item in advise(examination_of(planned)) if item.name == "gradio4-pydantic-211"]


@pytest.mark.parametrize(
    ("code", "data", "says", "not_said"),
    [
        ("ADV420", {"installed": ["torch==2.5.1", "torchao==0.18.0"]}, "Take torchao 0.12", "0.17"),
        ("ADV420", {"installed": ["torch==2.6.0", "torchao==0.18.0"]}, "Take torchao 0.17", "0.12"),
        ("ADV439", {"installed": ["torch==2.7.1", "triton-windows==3.2.0"], "gpu": "sm_75"}, "torch 2.6", "==3.3"),
        ("ADV439", {"installed": ["torch==2.7.1", "triton-windows==3.2.0"], "gpu": "sm_86"}, "==3.3", "torch 2.6 w"),
        (
            "ADV439",
            {"installed": ["torch==2.15.0", "triton-windows==3.8.0.post29"]},
            "is for torch ==2.14.*",
            "of the line",
        ),
        ("ADV450", {"plan": ["jax==0.7.1", "jaxlib==0.7.1"]}, "jax[cuda12]", "jax[cuda13]"),
        ("ADV451", {"plan": ["jax==0.4.20", "jaxlib==0.4.38"]}, "jaxlib==0.4.20", "JAX's own list"),
        # The index has no jaxlib 0.4.14.
        ("ADV451", {"plan": ["jax==0.4.14", "jaxlib==0.4.38"]}, "JAX's own list", "jaxlib==0.4.14"),
        ("ADV455", {"plan": ["jax==0.4.25"]}, "jax[cuda12]==0.4.25", "jax[cpu]"),
        ("ADV455", {"plan": ["jax==0.4.14"]}, "JAX's own list", "==0.4.14"),
    ],
)
def test_a_remedy_can_be_had_for_the_versions_there(code, data, says, not_said) -> None:
    found = advise(examination_of({"target": "linux/x86_64/3.11/cuda", **data}))
    (finding,) = (item for item in found if item.rule == code)
    assert finding.remedy is not None
    assert says in finding.remedy.summary
    assert not_said not in finding.remedy.summary


def test_what_is_not_known_does_not_fire() -> None:
    examination = examination_of({"plan": ["torchcodec==0.11.1"]})
    assert not [item for item in advise(examination) if item.name == "torchcodec-needs-ffmpeg-shared"]


def _seen_in(log: str, **fields) -> set[str]:
    return {item.name for item in read_log(replace(examination_of({"log": log}), **fields))}


def test_a_symptom_that_says_little_needs_the_name_beside_it() -> None:
    error = "TypeError: argument of type 'bool' is not iterable"
    assert "gradio4-pydantic-211" not in _seen_in(f"File x.py\n{error}")
    assert "gradio4-pydantic-211" in _seen_in(f"File gradio_client/utils.py\n{error}")


def test_a_log_of_a_known_machine_is_not_told_of_other_machines() -> None:
    error = "RuntimeError: CUDA error: CUBLAS_STATUS_NOT_SUPPORTED when calling cublasSgemm"
    assert "zluda-cublas-not-supported" not in _seen_in(error)
    assert "zluda-cublas-not-supported" in _seen_in(f"device: AMD Radeon RX 6600 [ZLUDA]\n{error}")
    assert "zluda-cublas-not-supported" in _seen_in(error, target=target_of("windows/x86_64/3.11/zluda"))
    of_nvidia = target_of("windows/x86_64/3.11/cuda")
    assert "zluda-cublas-not-supported" not in _seen_in(f"ZLUDA is not used\n{error}", target=of_nvidia)


def test_a_finding_of_a_log_quotes_the_line_and_its_number() -> None:
    (finding,) = read_log(examination_of({"log": "ok\nImportError: cannot import name 'BeamSearchScorer'\n"}))
    assert finding.rule == "ADV024"
    assert finding.evidence[0].where == "log line 2"
    assert finding.message.startswith("the log shows a known issue: ")


def test_documentation_tells_the_severity_that_a_report_shows() -> None:
    """What was only reported is foreseen as a warning; a log that shows it is an error, and so is what it ends with."""
    ends = {False: 0, True: 0}
    for advisory in shipped_advisories().advisories:
        told = (documentation(advisory.code) or "").split("Severity: ")[1].split(".")[0]
        both = not advisory.log_only and bool(advisory.symptoms)
        shown = {advisory.seen_severity} if advisory.log_only else {advisory.foreseen_severity}
        shown |= {advisory.seen_severity} if both else set()
        shown |= {Severity.ERROR} if advisory.symptoms and advisory.symptom_severity is None else set()
        assert {one.partition(" ")[0] for one in told.split("; ")} == {one.value for one in shown}
        (listed,) = (severity for code, _, severity, _ in catalogue() if code == advisory.code)
        assert told.startswith(listed)
        ends[len(shown) > 1] += 1
    assert all(ends.values())


def test_documentation_of_an_advisory_by_code_and_by_id() -> None:
    text = documentation("gradio4-pydantic-211")
    assert text
    assert text == documentation("adv042")
    assert "pydantic" in text
    assert documentation("NOPE") is None
    assert any(row[1] == "gradio4-pydantic-211" for row in catalogue())


BROKEN = """
[[advisory]]
code = "ADV1"
id = "one"
severity = "bad"
message = "m"
cause = "c"
evidnce = ["e"]
confidence = "metadata"
date = "2026-11-28"
seen = ["torch"]
remedy = { summary = "s", applicability = "perhaps" }
when = { all = [ { package = "a", version = "1.x" }, { os = "windos" }, { not = { pakage = "b" } } ] }
fires = []
silent = [{ plan = [] }]
"""


def test_every_fault_of_a_file_is_told_with_its_key_path(tmp_path: Path) -> None:
    (tmp_path / "broken.toml").write_text(BROKEN, encoding="utf-8")
    with pytest.raises(InvalidAdvisories) as caught:
        read_advisories(tmp_path)
    faults = "\n".join(caught.value.faults)
    for expected in (
        "broken.toml:3: `advisory[0].code`: must be ADV and three digits",
        "`advisory[0].severity`: `bad` is not one of",
        "`advisory[0].evidence`: must be a string or a list of strings",
        "`advisory[0].evidnce`: unknown key; did you mean `evidence`?",
        "`advisory[0].date`: must be a day, such as 2026-11-28 without quotes",
        "`advisory[0].seen`: `torch` is not a name with versions or a commit",
        "`advisory[0].remedy.applicability`: `perhaps`",
        "`advisory[0].when.all[0].version`: `1.x` is not a version specifier",
        "`advisory[0].when.all[1].os`: `windos` is not one of windows, linux, macos; did you mean `windows`?",
        "`advisory[0].when.all[2].not`: asks nothing",
        "`advisory[0].fires`: must be a list of at least one example",
    ):
        assert expected in faults


def test_codes_and_ids_are_unique_over_all_files(tmp_path: Path) -> None:
    good = BROKEN.replace('"ADV1"', '"ADV900"').replace('"bad"', '"error"').replace("evidnce", "evidence")
    good = good.replace('"perhaps"', '"safe"').replace('"1.x"', '">1"').replace("windos", "windows")
    good = good.replace('"2026-11-28"', "2026-11-28").replace('"torch"', '"torch 2.1"')
    good = good.replace("pakage", "package").replace("fires = []", "fires = [{ plan = [] }]")
    for name in ("a", "b"):
        (tmp_path / f"{name}.toml").write_text(good, encoding="utf-8")
    with pytest.raises(InvalidAdvisories) as caught:
        read_advisories(tmp_path)
    assert [fault.split("`")[3] for fault in caught.value.faults] == ["ADV900", "one"]


def test_a_file_that_is_not_toml_is_one_fault(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text("[[advisory\n", encoding="utf-8")
    with pytest.raises(InvalidAdvisories, match=r"x\.toml:1: "):
        read_advisories(tmp_path)


TELLING = """
[[advisory]]
code = "ADV900"
id = "one"
severity = "info"
message = "m"
cause = "c"
evidence = ["e"]
confidence = "metadata"
date = 2026-11-28
seen = []
remedy = { summary = "s" }
when = { package = "a" }
told_by = [{ rule = "ADV026" }, { rule = "RES103", abuot = "b" }, { about = "c" }]
fires = [{ plan = ["a==1"] }]
silent = [{ plan = [] }]
"""


def test_faults_of_what_tells_the_same_have_a_key_path(tmp_path: Path) -> None:
    (tmp_path / "telling.toml").write_text(TELLING, encoding="utf-8")
    with pytest.raises(InvalidAdvisories) as caught:
        read_advisories(tmp_path)
    faults = "\n".join(caught.value.faults)
    assert "telling.toml:14: `advisory[0].told_by[0].rule`: `ADV026` is not the code of a rule" in faults
    assert "telling.toml:14: `advisory[0].told_by[1].abuot`: unknown key; did you mean `about`?" in faults
    assert "telling.toml:14: `advisory[0].told_by[2].rule`: is missing" in faults


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("told_by = [", "cases = 3\ntold_by = [", "`advisory[0].cases`: unknown key"),
        ('remedy = { summary = "s" }', 'remedy = { summary = "s", cases = 3 }', "remedy.cases`: must be a list"),
        ("told_by = [", "symptom_cases = 3\ntold_by = [", "`advisory[0].symptom_cases`: must be a list of tables"),
        ('when = { package = "a" }', "when = { packages = 3 }", "`advisory[0].when.packages`: must be a list of pairs"),
        ("[[advisory]]", "table = 3\n[[advisory]]", "`table`: must be a list of tables"),
        ("[[advisory]]", "project = [3]\n[[advisory]]", "`project[0]`: must be a table"),
        ("[[advisory]]", "[advisory]", "`advisory`: must be a list of tables"),
    ],
)
def test_what_is_no_list_where_one_belongs_is_a_fault(tmp_path: Path, old: str, new: str, said: str) -> None:
    (tmp_path / "telling.toml").write_text(TELLING.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InvalidAdvisories) as caught:
        read_advisories(tmp_path)
    assert said in "\n".join(caught.value.faults)


def test_every_rule_that_tells_the_same_as_an_advisory_is_one() -> None:
    named = {item.rule for advisory in ADVISORIES for item in advisory.told_by}
    assert {"RES103", "HOST002"} <= named
    assert [code for code in named if rule(code) is None] == []


def _codes(told: set[tuple[str, str]], **data: object) -> set[str]:
    return {item.rule for item in advise(examination_of(data), told=told)}


def test_an_advisory_is_not_said_beside_the_rule_that_tells_the_same() -> None:
    plan = ["fairseq==0.12.2", "omegaconf==2.0.6"]
    assert "ADV026" in _codes(set(), plan=plan)
    assert "ADV026" in _codes({("RES103", "other"), ("RES104", "omegaconf")}, plan=plan)
    assert "ADV026" not in _codes({("RES103", "omegaconf")}, plan=plan)


def test_without_another_name_the_rule_must_tell_of_the_same_subject() -> None:
    situation = {"plan": ["phonemizer==3.3.0"], "absent": ["library.libespeak-ng"]}
    assert "ADV046" in _codes({("HOST002", "ffmpeg")}, **situation)
    assert "ADV046" not in _codes({("HOST002", "espeak-ng")}, **situation)


def test_what_another_look_has_told_is_not_said_again() -> None:
    examination = examination_of({"plan": ["fairseq==0.12.2", "omegaconf==2.0.6"]})
    legacy = Finding("RES103", "legacy-metadata", Severity.WARNING, "omegaconf", "m")
    assert "ADV026" in {item.rule for item in examine(examination)}
    assert "ADV026" not in {item.rule for item in examine(examination, said=[legacy])}


def test_an_advisory_says_when_and_with_what_it_was_seen(tmp_path: Path) -> None:
    assert all(item.date.startswith("202") for item in ADVISORIES)
    assert all(item.seen for item in ADVISORIES if item.code in ("ADV001", "ADV017", "ADV112"))
    (tmp_path / "x.toml").write_text(TELLING.replace("date = 2026-11-28\nseen = []\n", ""), encoding="utf-8")
    with pytest.raises(InvalidAdvisories) as caught:
        read_advisories(tmp_path)
    faults = "\n".join(caught.value.faults)
    assert "x.toml:2: `advisory[0].date`: is missing" in faults
    assert "x.toml:2: `advisory[0].seen`: is missing; an empty list says that the versions are not known" in faults
    text = documentation("ADV042")
    assert text
    assert "looked at on 2026-11-27, seen with gradio 4.43.0, pydantic 2.10.6, 2.14.4" in text
