"""Which fixes an undo with a project takes back."""

from __future__ import annotations

from pathlib import Path

import pytest

from envdoctor.adapters.apply.journal import Journal
from envdoctor.cli.main import main


def fix(environment: Path, project: Path | None) -> str:
    journal = Journal.create(environment, {"project": str(project or ""), "created": False, "summary": ["a step"]})
    journal.write("end")
    journal.close()
    return journal.id


def listed(capsys: pytest.CaptureFixture[str], *options: str) -> list[str]:
    assert main(["undo", "--list", *options]) == 0
    return [line.split()[0] for line in capsys.readouterr().out.splitlines() if "in force" in line]


def test_what_was_done_here_for_another_project_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    here, project = tmp_path / "here", tmp_path / "p"
    here.mkdir()
    project.mkdir()
    monkeypatch.chdir(here)
    other, mine = fix(here / ".venv", here), fix(project / ".venv", project)
    assert listed(capsys, "--project", str(project)) == [mine]
    assert main(["undo", "--project", str(project)]) == 0
    assert main(["undo", "--project", str(project)]) == 2
    assert "there is no fix and no written repair to take back here" in capsys.readouterr().err
    assert listed(capsys) == [other]


def test_where_no_environment_is_the_project_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["undo", "--project", str(tmp_path)]) == 2
    assert f"error: `{tmp_path}`: there is no fix and no written repair" in capsys.readouterr().err
    (tmp_path / ".venv").mkdir()
    assert main(["undo", "--project", str(tmp_path)]) == 2
    assert f"error: `{tmp_path / '.venv'}`: there is no fix" in capsys.readouterr().err


@pytest.mark.parametrize("later", [False, True])
def test_of_an_environment_here_the_last_fixes_of_the_project_go(
    later: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    here, project = tmp_path / "here", tmp_path / "p"
    here.mkdir()
    project.mkdir()
    monkeypatch.chdir(here)
    fix(here / ".venv", None)
    fix(here / ".venv", project)
    other, mine = fix(here / ".venv", here), fix(here / ".venv", project)
    last = fix(here / ".venv", here) if later else ""
    assert listed(capsys, "--project", "../p") == ([] if later else [mine])
    codes = [main(["undo", "--project", "../p"]) for _ in range(2)]
    assert codes == ([2, 2] if later else [0, 2])
    capsys.readouterr()
    assert listed(capsys)[-1] == (last or other)


@pytest.mark.parametrize(("inside", "option"), [("", "--project"), ("pyvenv.cfg", "--env")])
@pytest.mark.parametrize("options", [[], ["--list"]])
def test_a_folder_in_place_of_an_id_is_told_with_the_option_for_it(
    inside: str,
    option: str,
    options: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "it").mkdir()
    if inside:
        (tmp_path / "it" / inside).write_text("", encoding="utf-8")
    assert main(["undo", "it", *options]) == 2
    assert f"`envdoctor undo {option} it` takes back what was done there" in capsys.readouterr().err


def test_an_id_is_one_where_a_folder_is_called_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    mine = fix(tmp_path / ".venv", tmp_path)
    (tmp_path / mine).mkdir()
    assert main(["undo", mine]) == 0
