"""A default index that gives no answer, beside folders of wheels that pip's configuration names."""

from __future__ import annotations

import json
import socket
import zipfile
from pathlib import Path

import pytest

from envdoctor.cli.main import main


def put_wheel(folder: Path, name: str, version: str, *requires: str) -> None:
    lines = [f"Requires-Dist: {text}\n" for text in requires]
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as made:
        made.writestr(f"{name}-{version}.dist-info/METADATA", f"Name: {name}\nVersion: {version}\n" + "".join(lines))
        made.writestr(f"{name}-{version}.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")


@pytest.fixture
def options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the options for a project whose `torch` none of the wheels at hand is; the index refuses connections."""
    links, project = tmp_path / "links", tmp_path / "project"
    links.mkdir()
    project.mkdir()
    put_wheel(links, "torch", "2.6")
    put_wheel(links, "helper", "1.0", "torch==2.6")
    monkeypatch.setenv("PIP_FIND_LINKS", str(links))
    (project / "requirements.txt").write_text("torch==2.7\nhelper\n", encoding="utf-8")
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        closed = f"http://127.0.0.1:{made.getsockname()[1]}/simple"
    index = ["--index-url", closed, "--cache-dir", str(tmp_path / "cache")]
    return [str(project), *index, "--target-os", "linux", "--target-python", "3.11"]


def test_it_is_unknown_and_no_conflict(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", *options, "--format", "json"]) == 3
    report = json.loads(capsys.readouterr().out)
    assert (report["verdict"], report["conflicts"], report["repairs"]) == ("unknown", [], [])
    reasons = [one["message"] for one in report["findings"] if one["rule"] == "RES107"]
    assert len(reasons) == 2
    assert all("cannot connect" in reason for reason in reasons)


@pytest.mark.parametrize("verb", ["lock", "repair"])
def test_nothing_is_written_and_the_reason_is_said(
    verb: str, options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([verb, *options]) == 3
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "cannot connect" in captured.err
    assert {path.name for path in Path(options[0]).iterdir()} == {"requirements.txt"}


def test_no_index_makes_the_wheels_at_hand_all_that_there_is(
    options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    file = Path(options[0]) / "requirements.txt"
    file.write_text("--no-index\n" + file.read_text(encoding="utf-8"), encoding="utf-8")
    del options[1:3]
    assert main(["check", *options, "--format", "json"]) == 1
    assert json.loads(capsys.readouterr().out)["conflicts"]
