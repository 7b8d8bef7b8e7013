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


def test_a_lock_that_does_not_meet_what_is_asked_for_now_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = tmp_path / "requirements.txt"
    asked.write_text("requests\nidna<4\n", encoding="utf-8")
    assert main(["lock", str(tmp_path), *OPTIONS]) == 0
    assert _found(tmp_path, capsys) == []

    asked.write_text("requests\nidna<3\ncharset-normalizer<4\n", encoding="utf-8")
    (finding,) = _found(tmp_path, capsys)
    assert finding["severity"] == "warning"
    assert finding["message"] == (
        "`pylock.toml` is older than what is asked for now, and does not have `idna<3` (requirements.txt:2)"
    )
    assert "envdoctor lock" in str(finding["remedy"])


UV_LOCK = """version = 1
requires-python = ">=3.8"
[[package]]
name = "mine"
version = "1"
source = { virtual = "." }
dependencies = [{ name = "idna" }]
[[package]]
name = "idna"
version = "3.20"
source = { registry = "https://index.example/simple" }
"""


@pytest.mark.parametrize(
    ("asked", "lacks"),
    [
        ("'idna'", ""),
        ("'idna', 'requests'", "`requests` (pyproject.toml:4)"),
        ("'idna', 'requests; sys_platform == \"darwin\"'", ""),
        ("'idna', 'mine[more]'", "`tqdm` (pyproject.toml:6)"),
    ],
)
def test_a_lock_of_another_tool_that_does_not_name_what_is_asked_for_now_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], asked: str, lacks: str
) -> None:
    head = f"[project]\nname = 'mine'\nversion = '1'\ndependencies = [{asked}]\n"
    (tmp_path / "pyproject.toml").write_text(head + "[project.optional-dependencies]\nmore = ['tqdm']\n")
    (tmp_path / "requirements.txt").write_text("charset-normalizer\n")
    (tmp_path / "uv.lock").write_text(UV_LOCK)
    found = _found(tmp_path, capsys)
    said = f"`uv.lock` is older than what is asked for now, and does not have {lacks}"
    assert [finding["message"] for finding in found] == ([said] if lacks else [])
    assert ["uv lock" in str(finding["remedy"]) for finding in found] == [True] * bool(lacks)


def test_a_lock_lacks_nothing_for_a_python_that_it_is_not_made_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    head = "[project]\nname = 'mine'\nversion = '1'\nrequires-python = '>=3.10'\n"
    (tmp_path / "pyproject.toml").write_text(head + "dependencies = ['idna', 'tomli; python_version < \"3.10\"']\n")
    (tmp_path / "uv.lock").write_text(UV_LOCK)
    assert main(["check", str(tmp_path), *OPTIONS[:-1], "3.9"]) == 1
    said = capsys.readouterr().out
    assert ("RES011" in said, "RES016" in said) == (True, False)


def _found(project: Path, capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    capsys.readouterr()
    main(["check", str(project), *OPTIONS, "--format", "json"])
    report = json.loads(capsys.readouterr().out)
    return [finding for finding in report["findings"] if finding["rule"] == "RES016"]
