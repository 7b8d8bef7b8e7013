"""The JSON report: the contract's shape, its schema, and values JSON cannot hold."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from render_reports import REPORTS

from envdoctor.model.candidate import BuildRisk, FileKind, RejectionKind
from envdoctor.model.fact import Fact, FactState
from envdoctor.model.finding import Applicability, Severity
from envdoctor.model.kernel import KernelStatus
from envdoctor.model.report import Report
from envdoctor.model.target import Arch, Backend, OperatingSystem
from envdoctor.render import RenderOptions, render
from envdoctor.render.json_document import report_dict, report_schema

CONTRACT_EXAMPLE = Path(__file__).parent / "contract_example.json"
VALIDATOR = jsonschema.Draft202012Validator(report_schema())


def contract_example() -> dict[str, Any]:
    example: dict[str, Any] = json.loads(CONTRACT_EXAMPLE.read_text(encoding="utf-8"))
    return example


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(report_schema())


NAMED_VALUES = {
    ("target", "os"): OperatingSystem,
    ("target", "arch"): Arch,
    ("target", "backend"): Backend,
    ("rejection", "kind"): RejectionKind,
    ("package", "source"): FileKind,
    ("package", "build_risk"): BuildRisk,
    ("remedy", "applicability"): Applicability,
    ("finding", "severity"): Severity,
    ("fact", "state"): FactState,
    ("kernel", "status"): KernelStatus,
}


@pytest.mark.parametrize("place", NAMED_VALUES, ids=".".join)
def test_the_schema_names_every_value_that_can_be_written(place: tuple[str, str]) -> None:
    definition, key = place
    named = report_schema()["$defs"][definition]["properties"][key]["enum"]
    assert set(named) - {None} == {item.value for item in NAMED_VALUES[place]}


@pytest.mark.parametrize("name", REPORTS)
def test_every_report_obeys_the_schema(name: str) -> None:
    VALIDATOR.validate(json.loads(render(REPORTS[name], "json")))


def test_the_contracts_example_obeys_the_schema() -> None:
    VALIDATOR.validate(contract_example())


def keys(value: Any, path: str = "") -> set[str]:
    if isinstance(value, dict):
        return {f"{path}.{key}" for key in value}.union(*(keys(item, f"{path}.{key}") for key, item in value.items()))
    if isinstance(value, list):
        return set().union(*(keys(item, f"{path}[]") for item in value))
    return set()


def test_the_output_has_every_key_of_the_contracts_example() -> None:
    written = set().union(*(keys(json.loads(render(report, "json"))) for report in REPORTS.values()))
    assert keys(contract_example()) <= written


def test_the_first_conflict_is_written_as_the_contract_writes_it() -> None:
    written = json.loads(render(REPORTS["diffrhythm2"], "json"))
    clash = written["conflicts"][0]["clash"]
    assert [side["requirement"] for side in clash["sides"]] == ["torch==2.7", "torch==2.4.1"]
    assert clash["sides"][1]["via"] == ["torch-directml"]
    assert len(clash["sides"][1]["versions_considered"]) == 6
    assert "via" not in clash["sides"][0]
    assert written["repairs"][0]["changes"][0] == {"name": "torch", "from": "2.7", "to": "2.4.1"}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("verdict",), "fine"),
        (("schema",), "envdoctor.report/2"),
        (("surprise",), 1),
        (("target", "os"), "beos"),
        (("target", "surprise"), 1),
        (("findings", 0, "severity"), "fatal"),
        (("findings", 0, "rule"), "X1"),
        (("kernels", 0, "status"), "ok"),
        (("facts", 0, "state"), "maybe"),
        (("conflicts", 0, "core"), []),
        (("conflicts", 0, "core", 0, "origin", "kind"), "rumour"),
        (("resolution", "packages", 0, "source"), "egg"),
        (("timings", "total_s"), -1),
    ],
)
def test_the_schema_refuses(path: tuple[str | int, ...], value: Any) -> None:
    document = copy.deepcopy(contract_example())
    place: Any = document
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    assert not VALIDATOR.is_valid(document)


@pytest.mark.parametrize("key", contract_example())
def test_the_schema_asks_for_every_key_of_the_contract(key: str) -> None:
    document = contract_example()
    del document[key]
    assert not VALIDATOR.is_valid(document)


def test_numbers_that_json_lacks_become_null() -> None:
    written = json.loads(render(REPORTS["kernels"], "json"), parse_constant=lambda name: pytest.fail(name))
    stft = next(item for item in written["kernels"] if item["kernel"] == "stft")
    assert (stft["error_relative"], stft["steady_ms"], stft["status"]) == (None, None, "wrong-answer")
    fact = Fact("cpu.load", FactState.KNOWN, float("inf"))
    assert report_dict(Report("host", facts=(fact,), timings={"total_s": float("nan")}))["facts"][0]["value"] is None


def test_ascii_where_the_terminal_has_no_unicode() -> None:
    text = render(REPORTS["nasty"], "json", options=RenderOptions(unicode=False))
    assert text.isascii()
    assert json.loads(text) == json.loads(render(REPORTS["nasty"], "json"))
