"""Demands that a project sets aside itself: uv's overrides, and packages that come with ``--no-deps``."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
from packaging.markers import Marker
from resolve_universe import LINUX, MemoryIndex, read

from envdoctor.adapters.project.in_force import overridden
from envdoctor.model.finding import Severity
from envdoctor.model.project import Project
from envdoctor.model.report import Report
from envdoctor.model.requirement import Requirement
from envdoctor.verbs.check import check
from envdoctor.verbs.check_request import CheckRequest
from envdoctor.verbs.project_index import as_the_project_says

TABLE = {
    "codec": {"1.0": ["tools"]},
    "tools": {"1.0": ["protobuf<3.20"]},
    "onnx": {"1.16": ["protobuf>=3.20.2", "ml-dtypes"]},
    "protobuf": {"3.19.6": {}, "5.29": {}},
    "ml-dtypes": {"1.0": {}},
}


def _checked(*lines: str, overrides: tuple[str, ...] = (), no_deps: tuple[str, ...] = (), **more: object) -> Report:
    asked = tuple(replace(line, no_deps=str(line) in no_deps) for line in read(*lines))
    said = tuple(replace(item, **more) for item in read(*overrides))
    project = Project("", requirements=overridden(asked, said), overrides=said)
    index = as_the_project_says(MemoryIndex(TABLE), project, LINUX)
    return check(CheckRequest(target=LINUX, today=date(2026, 11, 28), project=project, index=index))


def _versions(report: Report) -> dict[str, str]:
    return {item.name: str(item.version) for item in report.resolution.packages} if report.resolution else {}


@pytest.mark.parametrize("lines", [("codec",), ("codec", "protobuf<3"), ("codec", "onnx")])
def test_an_override_of_the_project_takes_the_place_of_every_demand(lines: tuple[str, ...]) -> None:
    report = _checked(*lines, overrides=("protobuf>=3.20,<6",))
    assert not report.conflicts
    assert _versions(report)["protobuf"] == "5.29"


def test_an_override_that_holds_nowhere_leaves_the_package_out() -> None:
    report = _checked("codec", overrides=("protobuf",), marker=Marker("sys_platform == 'never'"))
    assert set(_versions(report)) == {"codec", "tools"}


def test_a_package_without_its_dependencies_makes_no_conflict_and_is_told() -> None:
    report = _checked("codec", "onnx", no_deps=("onnx",))
    assert not report.conflicts
    assert set(_versions(report)) == {"codec", "tools", "protobuf", "onnx"}
    (finding,) = [item for item in report.findings if item.rule == "RES015"]
    assert finding.severity is Severity.WARNING
    assert finding.message == (
        "`onnx` 1.16 is installed with `--no-deps`: its `protobuf>=3.20.2` is not met by protobuf 3.19.6; "
        "nothing brings `ml-dtypes`"
    )


def test_one_line_with_dependencies_is_enough_for_them_to_count() -> None:
    assert _checked("codec", "onnx", "onnx>=1", no_deps=("onnx",)).conflicts


def test_what_is_met_all_the_same_is_not_told() -> None:
    report = _checked("onnx", "protobuf", "ml-dtypes", no_deps=("onnx",))
    assert not [item for item in report.findings if item.rule == "RES015"]


def test_a_line_keeps_the_place_of_the_override() -> None:
    (line,) = read("protobuf<3")
    assert isinstance(line, Requirement)
    report = _checked("protobuf<3", overrides=("protobuf>=9",))
    assert [str(item) for item in report.conflicts[0].core] == ["protobuf>=9"]


def test_a_wheel_beside_the_project_is_asked_for_by_its_whole_path(tmp_path) -> None:
    (tmp_path / "wheels").mkdir()
    (tmp_path / "wheels" / "codec-1.0-py3-none-any.whl").write_bytes(b"")
    (line,) = read("codec==1.0")
    project = Project(str(tmp_path), requirements=(replace(line, url="./wheels/codec-1.0-py3-none-any.whl"),))
    asked: list[str] = []

    class Remembering(MemoryIndex):
        def metadata(self, file):
            asked.append(file.url)
            return super().metadata(file)

    index = as_the_project_says(Remembering(TABLE), project, LINUX)
    report = check(CheckRequest(target=LINUX, today=date(2026, 11, 28), project=project, index=index))
    assert asked[0] == (tmp_path / "wheels" / "codec-1.0-py3-none-any.whl").as_uri()
    assert set(_versions(report)) == {"codec", "tools", "protobuf"}
