"""``envdoctor compare``: what differs and what of it matters; a document that is none is named with its fault."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from envdoctor.cli.main import main
from song_maker import EXAMPLE, RECORDED

Steps = tuple[str | int, ...]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    file = tmp_path_factory.mktemp("report") / "report.json"
    recorded = RECORDED
    options = ["--profile", "diffrhythm2-directml", "--recorded-index", recorded, "--format", "json"]
    main(["check", str(EXAMPLE), *options, "--output", str(file)])
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    found["facts"] = [{"name": "gpu[0].name", "state": "known", "value": "A", "source": "x", "overridden_by": None}]
    found["kernels"] = [{"kernel": "stft", "device": "cuda:0", "status": "passed"}]
    return found


def written(path: Path, document: object) -> str:
    path.write_text(json.dumps(document), encoding="utf-8")
    return str(path)


def compared(
    capsys: pytest.CaptureFixture[str], folder: Path, one: object, other: object, *options: str
) -> tuple[int, str, str]:
    code = main(["compare", written(folder / "one.json", one), written(folder / "other.json", other), *options])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_what_matters_comes_first_and_the_rest_is_counted(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, report: dict[str, Any]
) -> None:
    other = copy.deepcopy(report)
    other["complete"], other["conflicts"], other["target"]["python"] = False, [], "3.12"
    other["kernels"][0]["status"] = "wrong-answer"
    for package in other["resolution"]["packages"]:
        if package["name"] in ("torch", "attrs"):
            package["version"] = "9"
    code, out, err = compared(capsys, tmp_path, report, other)
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "what matters",
        "  complete: true -> false",
        "  target python: 3.11 -> 3.12",
        "  package torch: 2.4.1 -> 9 (binaries are built for each other)",
        "  kernel stft on cuda:0: passed -> wrong-answer",
        "  conflict torch==2.7 with torch-directml: cannot hold -> absent",
        "  conflict torchaudio==2.7 with torch-directml: cannot hold -> absent",
        "1 further difference that hardly matters; --verbose shows it",
    ]
    assert "  package attrs: " in compared(capsys, tmp_path, report, other, "--verbose")[1]
    changes = json.loads(compared(capsys, tmp_path, report, other, "--json")[1])["changes"]
    assert [item["matters"] for item in changes] == [True] * 6 + [False]


def test_the_same_report_differs_in_nothing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, report: dict[str, Any]
) -> None:
    assert compared(capsys, tmp_path, report, report) == (0, "no difference\n", "")


def test_what_only_one_report_looked_at_is_not_absent_from_the_other(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, report: dict[str, Any]
) -> None:
    host = {**report, "command": "host", "target": None, "resolution": None}
    _, out, _ = compared(capsys, tmp_path, report, host)
    assert "package" not in out
    assert "target" not in out
    unresolved = {**report, "resolution": None}
    number = len(report["resolution"]["packages"])
    assert f"  resolution: {number} packages -> absent" in compared(capsys, tmp_path, report, unresolved)[1]


def test_a_report_is_known_by_what_is_in_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, report: dict[str, Any]
) -> None:
    one, other = written(tmp_path / "report.txt", report), written(tmp_path / "report", report)
    assert main(["compare", one, other]) == 0
    assert capsys.readouterr().out == "no difference\n"


def test_another_schema_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Path, report: dict[str, Any]) -> None:
    code, out, err = compared(capsys, tmp_path, report, {**report, "schema": "envdoctor.report/2"})
    assert (code, out) == (2, "")
    assert "other.json`: schema: `envdoctor.report/2` is not the schema that this envdoctor reads, " in err
    assert "`envdoctor.report/1`" in err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not JSON"),
        ("", "is not JSON"),
        ('{"a": 1}', "is a report and"),
        ("[1]", "is a report and"),
        ("[" * 100_000, "is not JSON"),
    ],
)
def test_what_is_no_report_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, report: dict[str, Any], text: str, message: str
) -> None:
    (tmp_path / "other.json").write_text(text, encoding="utf-8")
    assert main(["compare", written(tmp_path / "one.json", report), str(tmp_path / "other.json")]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert message in said.err


def places(value: Any, steps: Steps = ()) -> Iterator[Steps]:
    if steps:
        yield steps
    if isinstance(value, dict):
        for key, below in value.items():
            yield from places(below, (*steps, key))
    elif isinstance(value, list) and value:
        yield from places(value[0], (*steps, 0))


def test_a_report_with_any_fault_is_compared_or_refused_by_key_path(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, report: dict[str, Any]
) -> None:
    refused = set()
    report = {**report, **{key: report[key][:2] for key in ("findings", "repairs")}}
    report["resolution"] = {**report["resolution"], "packages": report["resolution"]["packages"][:2]}
    for steps in places(report):
        for value in (None, 1, [1], {"a": None}):
            broken = copy.deepcopy(report)
            place: Any = broken
            for step in steps[:-1]:
                place = place[step]
            place[steps[-1]] = value
            code, _, err = compared(capsys, tmp_path, report, broken)
            assert code in (0, 2)
            assert "Traceback" not in err
            if code == 2:
                refused.add(str(steps[0]))
    assert {"schema", "target", "resolution", "findings", "facts", "kernels", "conflicts"} <= refused


def test_what_a_report_says_moves_no_cursor(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, report: dict[str, Any]
) -> None:
    other = copy.deepcopy(report)
    other["facts"][0]["value"] = "\x1b]0;gone\x07B"
    assert "\x1b" not in compared(capsys, tmp_path, report, other)[1]


def test_what_is_not_there_is_said_to_be_so(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["compare", str(tmp_path / "nowhere")]) == 2
    assert "nowhere`: there is no such file or directory" in capsys.readouterr().err


def test_a_folder_that_goes_away_while_reports_are_looked_for_ends_nothing(
    tmp_path: Path, report: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("one.json", "two.json"):
        (tmp_path / name).write_text(json.dumps(report))
    (tmp_path / "gone").mkdir()
    listed = os.scandir

    def vanishing(place: Any = ".") -> Any:
        if str(place).endswith("gone"):
            raise FileNotFoundError(2, "No such file or directory", str(place))
        return listed(place)

    monkeypatch.setattr(os, "scandir", vanishing)
    assert main(["compare", str(tmp_path)]) == 0
    assert "fault of envdoctor" not in capsys.readouterr().err


def test_a_report_without_end_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with (tmp_path / "big.json").open("wb") as file:
        file.truncate(1 << 40)
    assert main(["compare", str(tmp_path / "big.json"), str(tmp_path / "big.json")]) == 2
    assert "larger than 256 MiB" in capsys.readouterr().err
