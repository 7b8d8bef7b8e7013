"""What the offline verbs say when neither cache nor lock tells: enough to go on, and nothing that is not known."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from envdoctor.cli.main import main
from envdoctor.verbs.scope import place_in_repository

NAMES = ("alpha", "beta", "gamma", "delta", "epsilon")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for variable in ("ENVDOCTOR_INDEX_RECORDED", "ENVDOCTOR_INDEX_RECORD"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("ENVDOCTOR_INDEX_URL", "https://index.example/simple/")
    monkeypatch.setenv("ENVDOCTOR_CACHE_DIR", str(tmp_path / "cache"))
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "requirements.txt").write_text("".join(f"{name}==1.0\n" for name in NAMES), encoding="utf-8")
    (folder / "main.py").write_text("".join(f"import {name}\n" for name in NAMES), encoding="utf-8")
    return folder


def test_hooks_check_that_cannot_know_says_so_once_and_names_the_command_that_helps(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", str(project), "--offline", "--quiet"]) == 3
    said = capsys.readouterr().out
    assert said.count("offline and not in the cache") == 1
    assert all(name in said for name in NAMES)
    assert f"next: envdoctor check {project}\n" in said


def test_hooks_check_calls_nothing_undeclared_that_may_only_be_unread(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["check", str(project), "--offline", "--quiet", "--format", "json"])
    report = json.loads(capsys.readouterr().out)
    assert report["complete"] is False
    assert {finding["rule"] for finding in report["findings"]} == {"RES107"}


@pytest.mark.parametrize("option", [[], ["--check"]])
def test_hooks_lock_refuses_what_could_not_be_read(
    project: Path, option: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(project.iterdir())
    assert main(["lock", str(project), "--offline", "--quiet", *option]) == 3
    said = capsys.readouterr().err
    assert "cannot be locked" in said
    assert "without `--offline`" in said
    assert sorted(project.iterdir()) == before


def test_hooks_a_project_in_a_folder_is_named_from_the_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("GITHUB_WORKSPACE", "CI_PROJECT_DIR"):
        monkeypatch.delenv(variable, raising=False)
    inner = tmp_path / "services" / "voice"
    inner.mkdir(parents=True)
    assert place_in_repository(inner) is None
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    assert place_in_repository(inner) == "services/voice"
    (tmp_path / "services" / ".git").mkdir()
    assert place_in_repository(inner) == "voice"
    assert place_in_repository(inner / "requirements.txt") == "voice"
    assert place_in_repository(tmp_path / "services") is None
