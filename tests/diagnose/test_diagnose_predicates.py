"""Predicates: three values, every question, strictness of their form."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from diagnose_fixtures import examination_of, require, resolution_of, resolved, target_of

from envdoctor.diagnose.advisories.advisory import needed_packages
from envdoctor.diagnose.advisories.book import read_advisories
from envdoctor.diagnose.advisories.predicate import Situation
from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.package_view import scenes
from envdoctor.diagnose.source_scan import SourceScan
from envdoctor.diagnose.wheel_facts import shipped_wheel_facts
from envdoctor.model.fact import Fact, Facts, FactState
from envdoctor.model.override import Override
from envdoctor.model.repair import Repair
from envdoctor.model.unknown import Subject, SubjectKind, Unknown, UnknownKind

HEAD = """
[[project]]
name = "demo"
recognise = ["demo/main.py", "demo*.cfg"]
[[table]]
name = "a-b"
subject = "a"
object = "b"
evidence = "seen"
rows = [["<2", "==1.*"], [">=2", ">=2"]]
[[advisory]]
code = "ADV900"
id = "x"
severity = "error"
message = "m"
cause = "c"
evidence = ["e"]
confidence = "metadata"
date = 2026-11-28
seen = []
remedy = { summary = "s" }
fires = [{ plan = [] }]
silent = [{ plan = [] }]
"""


def predicate(tmp_path, when: str):
    (tmp_path / "x.toml").write_text(f"{HEAD}when = {when}\n", encoding="utf-8")
    return read_advisories(tmp_path).advisories[0].when


def answer(tmp_path, when: str, examination: Examination | dict[str, Any]) -> bool | None:
    if isinstance(examination, dict):
        examination = examination_of(examination)
    scan = SourceScan(examination.sources) if examination.sources else None
    scene = scenes(examination, shipped_wheel_facts())[0]
    return predicate(tmp_path, when).ask(Situation(scene, scan)).value


A1 = {"plan": ["a==1.0", "b==1.5"]}
NOTHING: dict[str, Any] = {}


@pytest.mark.parametrize(
    ("when", "data", "expected"),
    [
        ('{ package = "a" }', A1, True),
        ('{ package = "a", version = ">=2" }', A1, False),
        ('{ package = "c" }', A1, False),
        ('{ package = "a" }', NOTHING, None),
        ('{ package = "a", in = "installed" }', A1, None),
        ('{ package = "a", in = "plan" }', {"installed": ["a==1.0"]}, None),
        ('{ package = ["c", "a"] }', A1, True),
        ('{ package = "a", label = "cu*" }', A1, None),
        ('{ package = "a", label = "cu*" }', {"plan": ["a==1.0+cu118"]}, True),
        ('{ package = "a", label = "cu*" }', {"plan": ["a==1.0+cpu"]}, False),
        ('{ package = "a", index = "default" }', A1, True),
        ('{ package = "a", yanked = true }', A1, False),
        ('{ package = "a", asked = true }', A1, True),
        ('{ package = "a", source_only = true }', {"plan": ["a==1.0"], "sdist": ["a"]}, True),
        ('{ package = "a" }', {"asked": ["a==1.0"]}, True),
        ('{ package = "c" }', {"asked": ["a==1.0"]}, None),
        ('{ package = "a" }', {"asked": ["a==1.0; sys_platform == 'win32'"]}, None),
        ('{ absent = "c" }', A1, True),
        ('{ absent = "a" }', A1, False),
        ('{ absent = "c" }', NOTHING, None),
        ('{ absent = "c" }', {"asked": ["a==1.0"]}, None),
        ('{ count = ["a", "b", "c"] }', A1, True),
        ('{ count = ["a", "c"] }', A1, False),
        ('{ table = "a-b", fits = false }', A1, False),
        ('{ table = "a-b", fits = true }', A1, True),
        ('{ table = "a-b", fits = false }', {"plan": ["a==2.0", "b==1.5"]}, True),
        ('{ table = "a-b", fits = false }', {"plan": ["a==2.0"]}, None),
        ('{ table = "a-b", fits = false }', {"plan": ["b==1.5"]}, False),
        ('{ installed_file = "a/*.so" }', {"installed": ["a==1"], "files": ["a/x.so"]}, True),
        ('{ installed_file = "a/*.so" }', {"installed": ["a==1"], "files": ["a/x.py"]}, False),
        ('{ installed_file = "a/*.so" }', {"installed": ["a==1"]}, None),
        ('{ os = ["windows", "macos"] }', NOTHING, False),
        ('{ python = ">=3.11" }', NOTHING, True),
        ('{ glibc = "<2.34" }', NOTHING, True),
        ('{ glibc = "<2.34" }', {"target": "windows/x86_64/3.11/cpu"}, False),
        ("{ wsl = true }", {"wsl": True}, True),
        ("{ wsl = true }", NOTHING, False),
        ('{ gpu = "gfx11*" }', {"gpu": "gfx1100"}, True),
        ('{ gpu = "sm_120" }', {"facts": {"gpu[0].compute_capability": "12.0"}}, True),
        ('{ gpu = "sm_120" }', {"facts": {"gpu[0].architecture": "9.0"}, "gpu": "sm_120"}, False),
        ('{ gpu = "sm_120" }', NOTHING, None),
        ('{ fact = "driver.version", version = "<580" }', {"facts": {"driver.version": "550.54"}}, True),
        ('{ fact = "driver.version", version = "<580" }', {"facts": {"driver.version": "not a version"}}, None),
        ('{ fact = "driver.version", version = "<580" }', {"absent": ["driver.version"]}, False),
        ('{ fact = "driver.version", state = "absent" }', {"absent": ["driver.version"]}, True),
        ('{ fact = "driver.version", state = "known" }', {"facts": {"driver.version": "1"}}, True),
        ('{ fact = "gpu[*].vendor", equals = "amd" }', {"facts": {"gpu[1].vendor": "amd"}}, True),
        ('{ fact = "gpu[*].vendor", equals = "amd" }', {"facts": {"gpu[0].vendor": "nvidia"}}, False),
        ('{ fact = "gpu[*].vendor", equals = "amd" }', NOTHING, None),
        ('{ fact = "list", matches = "sm_9*" }', {"facts": {"list": ["sm_80", "sm_90"]}}, True),
        ('{ env_unset = "X" }', {"absent": ["environment.X"]}, True),
        ('{ env_unset = "X" }', {"facts": {"environment.X": "1"}}, False),
        ('{ env_unset = "X" }', NOTHING, None),
        ('{ imports = "x.y" }', {"sources": {"a.py": "from x.y import z\n"}}, True),
        ('{ imports = "x.y" }', {"sources": {"a.py": "import x.yy\n"}}, False),
        ('{ imports = "x.y" }', NOTHING, None),
        ("{ source = '^x = ' }", {"sources": {"a.py": "x = 1\n"}}, True),
        ("{ source = '^x = ' }", {"sources": {"tests/a.py": "x = 1\n"}}, False),
        ("{ source = 'x = ' }", {"sources": {"a.py": '"""Doc.\n\nx = 1\n"""\n'}}, False),
        ("{ source = 'x', files = ['*.bat'] }", {"sources": {"a.bat": "x\n", "b.py": ""}}, True),
        ('{ patched = "x.load" }', NOTHING, False),
        ('{ project = "demo" }', {"sources": {"demo/main.py": ""}}, True),
        ('{ project = "demo" }', {"sources": {"demo-1.cfg": ""}}, True),
        ('{ project = "demo" }', {"sources": {"other.py": ""}}, False),
        ('{ project = "demo" }', NOTHING, None),
        ('{ not = { package = "c" } }', A1, True),
        ('{ not = { package = "c" } }', NOTHING, None),
        ('{ all = [ { package = "a" }, { env_unset = "X" } ] }', A1, None),
        ('{ all = [ { package = "c" }, { env_unset = "X" } ] }', A1, False),
        ('{ any = [ { package = "a" }, { env_unset = "X" } ] }', A1, True),
        ('{ any = [ { package = "c" }, { env_unset = "X" } ] }', A1, None),
        ('{ any = [ { package = "c" }, { package = "d" } ] }', A1, False),
    ],
)
def test_answers(tmp_path, when: str, data: dict[str, Any], expected: bool | None) -> None:
    assert answer(tmp_path, when, data) is expected


def test_unknown_target(tmp_path) -> None:
    for when in ('{ os = "linux" }', '{ python = ">3" }', '{ glibc = ">2" }', "{ wsl = true }"):
        assert answer(tmp_path, when, Examination()) is None


def test_a_fact_that_could_not_be_looked_for_is_unknown(tmp_path) -> None:
    facts = Facts([Fact("driver.version", FactState.UNKNOWN, reason="timed out")])
    assert answer(tmp_path, '{ fact = "driver.version", state = "absent" }', Examination(facts=facts)) is None


def test_what_could_not_be_read_is_not_known_to_be_absent(tmp_path) -> None:
    plain = Examination(target=target_of("linux/x86_64/3.11/cpu"), resolution=resolution_of(resolved("a==1.0")))
    assert answer(tmp_path, '{ absent = "b" }', plain) is True
    unread = Unknown(UnknownKind.UNREACHABLE, Subject(SubjectKind.PACKAGE, "b"))
    assert answer(tmp_path, '{ absent = "b" }', replace(plain, unknowns=(unread,))) is None
    assert answer(tmp_path, '{ absent = "c" }', replace(plain, unknowns=(unread,))) is True


def test_a_build_of_conda_is_asked_apart(tmp_path) -> None:
    line = replace(require("a==1.0"), conda=True)
    for wanted_by, is_other in (([line], True), ([], False)):
        plan = resolution_of(resolved("a==1.0", wanted_by=wanted_by))
        seen = Examination(target=target_of("linux/x86_64/3.11/cpu"), resolution=plan)
        assert answer(tmp_path, '{ package = "a", other_build = true }', seen) is is_other


def test_overrides_in_force(tmp_path) -> None:
    when = '{ override = "torch" }'
    plain = Examination(target=target_of("linux/x86_64/3.11/cpu"), resolution=resolution_of(resolved("torch==2.4.1")))
    assert answer(tmp_path, when, plain) is False
    repair = Repair("R1", (Override(require("torch==2.4.1"), (require("torch==2.7"),)),), ("C1",))
    used = replace(plain, repairs=(repair,), resolution=resolution_of(resolved("torch==2.4.1"), repair="R1"))
    assert answer(tmp_path, when, used) is True
    assert answer(tmp_path, when, replace(used, resolution=plain.resolution)) is False
    assert answer(tmp_path, when, Examination()) is None


@pytest.mark.parametrize(
    ("when", "groups"),
    [
        ('{ package = "a" }', [{"a"}]),
        ('{ all = [ { package = "a" }, { package = ["b", "c"] }, { os = "linux" } ] }', [{"a"}, {"b", "c"}]),
        ('{ any = [ { package = "a" }, { package = "b" } ] }', [{"a", "b"}]),
        ('{ any = [ { package = "a" }, { os = "linux" } ] }', []),
        ('{ not = { package = "a" } }', []),
        ('{ table = "a-b", fits = false }', [{"a"}]),
    ],
)
def test_what_a_predicate_cannot_do_without(tmp_path, when: str, groups: list[set[str]]) -> None:
    assert [set(group) for group in needed_packages(predicate(tmp_path, when))] == groups
