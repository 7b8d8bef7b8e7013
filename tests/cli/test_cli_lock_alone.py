"""A project of which only what `envdoctor lock` wrote is left."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from envdoctor.cli.main import main
from song_maker import RECORDED

OPTIONS = ("--recorded-index", RECORDED, "--target-os", "windows", "--target-python", "3.11")


def test_a_lock_that_is_read_is_not_held_against_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    image = tmp_path / "Dockerfile"
    image.write_text("FROM python\nRUN pip install requests idna==2.0\n", encoding="utf-8")
    assert main(["lock", str(tmp_path), *OPTIONS]) == 0
    capsys.readouterr()

    assert main(["check", str(tmp_path), *OPTIONS, "--format", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [one["path"] for one in report["scope"]["read"]] == ["Dockerfile"]
    assert len(report["conflicts"]) == 1

    image.unlink()
    assert main(["check", str(tmp_path), *OPTIONS, "--format", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [one["path"] for one in report["scope"]["read"]] == ["pylock.toml"]
    assert report["repairs"] == []


def test_a_folder_of_scripts_above_is_no_project(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "tidy.sh").write_text("rm -rf old\n", encoding="utf-8")
    (tmp_path / "empty").mkdir()
    assert main(["check", str(tmp_path / "empty"), "--offline"]) == 2
    said = capsys.readouterr().err
    assert "nothing here describes requirements" in said
    assert "taking the project above" not in said


PYPROJECT = (
    '[project]\nname = "mine"\nversion = "1"\ndependencies = ["requests"]\n'
    '[project.optional-dependencies]\n"Fast.IO" = ["pyyaml"]\n[dependency-groups]\ndocs = ["tqdm"]\n'
)


@pytest.mark.parametrize(
    ("words", "name", "locked"),
    [
        (("--extra", "Fast.IO"), "extra-fast-io", {"pyyaml", "requests"}),
        (("--group", "docs"), "group-docs", {"tqdm", "requests"}),
        (("--only-group", "docs"), "only-docs", {"tqdm"}),
        (("--all-groups",), "all-groups", {"tqdm", "requests"}),
    ],
)
def test_what_is_asked_for_beside_the_main_list_has_a_lock_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], name: str, locked: set[str]
) -> None:
    (tmp_path / "pyproject.toml").write_text(PYPROJECT, encoding="utf-8")
    assert main(["lock", str(tmp_path), *OPTIONS]) == 0
    main_lock = (tmp_path / "pylock.toml").read_bytes()
    assert main(["lock", str(tmp_path), *OPTIONS, *words, "--check"]) == 1
    assert main(["lock", str(tmp_path), *OPTIONS, *words]) == 0
    assert f"pylock.{name}.toml" in capsys.readouterr().err
    assert (tmp_path / "pylock.toml").read_bytes() == main_lock
    text = (tmp_path / f"pylock.{name}.toml").read_text(encoding="utf-8")
    assert {each for each in ("pyyaml", "requests", "tqdm") if f'name = "{each}"' in text} == locked
    for typed in ((), words):
        assert main(["lock", str(tmp_path), *OPTIONS, *typed, "--check"]) == 0
    assert main(["check", str(tmp_path), *OPTIONS, *words]) == 0
