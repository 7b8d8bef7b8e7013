"""What breaks names its packages as values: no word of a message or of evidence is one."""

from __future__ import annotations

from dataclasses import replace

import pytest
from diagnose_fixtures import examination_of

from envdoctor.diagnose.advisories.book import shipped_advisories
from envdoctor.diagnose.advisories.package_atoms import PACKAGE_ATOMS
from envdoctor.diagnose.advisories.predicate import AllOf, Situation
from envdoctor.diagnose.engine import breakages, examine
from envdoctor.diagnose.package_view import scenes
from envdoctor.diagnose.wheel_facts import shipped_wheel_facts
from envdoctor.model.finding import Finding
from envdoctor.model.unknown import Subject, SubjectKind, Unknown, UnknownKind
from envdoctor.toml_tables import Faults, Table

LINUX = "linux/x86_64/3.11/cuda"


def _found(code: str, plan: list[str]) -> list[Finding]:
    examination = examination_of({"target": LINUX, "plan": plan})
    return [item for item in breakages(examination) if item.rule == code]


def test_a_build_in_the_words_of_evidence_is_no_package_of_that_name() -> None:
    examination = examination_of({"target": LINUX, "plan": ["torch==2.6.0+cu118", "build==1.2", "from==1"]})
    situation = Situation(scenes(examination, shipped_wheel_facts())[0])
    atom = PACKAGE_ATOMS["package"](Table({"package": "torch", "label": ["cu118"]}, "advisory[0].when", Faults("x")))
    outcome = AllOf((atom,)).ask(situation)
    assert outcome.value
    assert "build cu118 (from" in outcome.evidence[0].what
    assert outcome.packages == ("torch",)


@pytest.mark.parametrize("advisory", shipped_advisories().advisories, ids=lambda item: item.code)
def test_an_advisory_names_those_that_it_asks_about_and_no_other(advisory) -> None:
    beside = {"build", "with", "and", "installed", "the"}
    for example in advisory.examples:
        plan = [*example.data.get("plan", ()), *(f"{name}==1.2" for name in sorted(beside))]
        for finding in breakages(examination_of({**example.data, "plan": plan})):
            if finding.rule == advisory.code:
                assert not beside & set(finding.packages), finding
                there = {pin.partition("==")[0] for pin in plan}
                assert finding.packages or finding.subject not in there, finding


@pytest.mark.parametrize(
    ("code", "plan", "packages"),
    [
        ("RES201", ["torch==2.6.0", "torchaudio==2.5.1"], {"torch", "torchaudio"}),
        ("RES204", ["onnxruntime-gpu==1.18.0", "torch==2.6.0+cu124"], {"onnxruntime-gpu", "torch"}),
        ("RES204", ["ctranslate2==4.4.0", "torch==2.6.0+cu124"], {"ctranslate2", "torch"}),
        ("RES205", ["numpy==2.1.0", "torch==2.1.0"], {"torch", "numpy"}),
    ],
)
def test_a_rule_that_ranks_repairs_names_all_that_have_a_part(code: str, plan: list[str], packages: set[str]) -> None:
    found = _found(code, [*plan, "build==1.2"])
    assert [set(item.packages) for item in found] == [packages]
    assert all(item.packages[0] == item.subject for item in found)


@pytest.mark.parametrize(
    ("examination", "rule", "kind"),
    [
        ({"sources": {"a.py": 'os.system("pip install x")\n'}}, "SRC003", SubjectKind.FILE),
        ({"sources": {"a.py": "import inflect\n"}}, "SRC001", SubjectKind.PACKAGE),
        ({"plan": ["numpy==2.1.0", "torch==2.1.0"]}, "RES205", SubjectKind.PACKAGE),
        ({"log": "Error: the frobnicator exploded\nTraceback: RuntimeError: frob\n"}, "LOG001", SubjectKind.LOG),
    ],
)
def test_a_finding_says_what_its_subject_is(examination: dict[str, object], rule: str, kind: SubjectKind) -> None:
    found = examine(examination_of({"target": LINUX, "plan": ["numpy==1.26.0"], **examination}))
    kinds = {item.subject_kind for item in found if item.rule == rule}
    assert kinds == {kind}


def test_what_was_not_checked_says_what_it_is() -> None:
    lost = Unknown(UnknownKind.UNREACHABLE, Subject(SubjectKind.PACKAGE, "alpha"), "main")
    given_up = Unknown(UnknownKind.SEARCH_GIVEN_UP, Subject(SubjectKind.PROJECT), cause="no answer")
    found = examine(replace(examination_of({"target": LINUX, "plan": []}), unknowns=(lost, given_up)))
    kinds = {item.subject: item.subject_kind for item in found if item.rule == "RES107"}
    assert kinds == {"alpha": SubjectKind.PACKAGE, "the search gave up": SubjectKind.PROJECT}
