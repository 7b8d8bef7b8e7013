"""What an index has to say of how it was asked: on stderr, once, and not at all with ``--quiet``."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from envdoctor.adapters.index.recorded import RecordedIndex
from envdoctor.cli.main import main
from envdoctor.model.environment import InstalledEnvironment
from envdoctor.model.target import Target
from song_maker import EXAMPLE, RECORDED

NOTE = "takes the place of"


@pytest.fixture
def arguments(tmp_path: Path) -> list[str]:
    project = Path(shutil.copytree(EXAMPLE, tmp_path / "songs"))
    file = project / "requirements.txt"
    lines = "--index-url https://one.index.example/simple\n--index-url https://two.index.example/simple\n"
    file.write_text(lines + file.read_text(encoding="utf-8"), encoding="utf-8")
    return [str(project), "--profile", "diffrhythm2-directml", "--recorded-index", str(project / "recorded-index")]


@pytest.mark.parametrize("verb", ["check", "lock", "explain"])
def test_notes_of_the_index_are_said_once_on_stderr(
    capsys: pytest.CaptureFixture[str], arguments: list[str], verb: str
) -> None:
    main([verb, *arguments])
    said = capsys.readouterr()
    assert NOTE not in said.out
    (line,) = (line for line in said.err.splitlines() if NOTE in line)
    assert line.startswith("note: index two.index.example/simple of requirements.txt:2 takes the place of one.")


def test_a_document_on_stdout_stays_alone(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    main(["check", *arguments, "--format", "json"])
    said = capsys.readouterr()
    json.loads(said.out)
    assert said.err.count(NOTE) == 1


@pytest.mark.parametrize("verb", ["check", "lock", "explain"])
def test_quiet_says_no_note(capsys: pytest.CaptureFixture[str], arguments: list[str], verb: str) -> None:
    main([verb, *arguments, "--quiet"])
    assert capsys.readouterr().err == ""


def test_a_listing_that_does_not_tell_its_python_has_an_assumed_one_in_the_headline(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "installed.txt"
    file.write_text("six==1.16.0\n", encoding="utf-8")
    main(["check", "--installed", str(file), "--offline"])
    assert " assumed, no GPU backend named" in capsys.readouterr().out
    main(["check", "--installed", str(file), "--offline", "--target-python", "3.12"])
    assert "Python 3.12, no GPU backend named" in capsys.readouterr().out


def test_notes_of_the_index_that_a_listing_is_looked_up_in_are_said(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def with_a_note(environment: InstalledEnvironment, index: RecordedIndex, _target: Target) -> InstalledEnvironment:
        index.notes = ("one index is another",)
        return environment

    monkeypatch.setattr("envdoctor.verbs.listing_requirements.with_requirements", with_a_note)
    file = tmp_path / "installed.txt"
    file.write_text("six==1.16.0\n", encoding="utf-8")
    recorded = ["--recorded-index", RECORDED]
    main(["check", "--installed", str(file), *recorded])
    assert capsys.readouterr().err.count("note: one index is another") == 1
    main(["check", "--installed", str(file), *recorded, "--quiet"])
    assert "one index" not in capsys.readouterr().err


def test_a_card_that_a_named_profile_is_not_for_is_said(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("six==1.16.0\n", encoding="utf-8")
    recorded = ["--recorded-index", RECORDED]
    main(["check", str(tmp_path), "--profile", "xtts-zluda", "--gpu", "RTX 4070", *recorded])
    assert "note: profile `xtts-zluda` is for zluda, and the card is RTX 4070\n" in capsys.readouterr().err
    main(["check", str(tmp_path), "--profile", "xtts-zluda", "--gpu", "RX 7900 XTX", *recorded])
    assert "is for zluda" not in capsys.readouterr().err
