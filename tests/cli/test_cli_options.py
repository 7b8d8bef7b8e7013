"""Options that offer a choice take it as people write it: `--target-os Windows`, `--format JSON`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from envdoctor.cli.group import app
from envdoctor.cli.main import main
from song_maker import EXAMPLE, RECORDED

OFFERED = {"--target-os", "--target-arch", "--target-backend", "--format", "--fail-on", "--installer", "--os", "--arch"}


def _choices(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    for option in command.params:
        if hasattr(option.type, "choices"):
            yield " ".join((*words, option.opts[0])), option
    names = command.list_commands(None) if hasattr(command, "list_commands") else ()
    for name in names:
        yield from _choices(command.get_command(None, name), (*words, name))


CHOICES = list(_choices(typer.main.get_command(app)))


def test_the_choices_of_all_verbs_are_looked_at() -> None:
    assert {name.split()[-1] for name, _ in CHOICES} >= OFFERED


@pytest.mark.parametrize(("name", "option"), CHOICES, ids=[name for name, _ in CHOICES])
def test_a_choice_is_taken_in_any_case(name: str, option: Any) -> None:
    for text in option.type.choices:
        written = str(getattr(text, "value", text))
        as_it_is = option.type_cast_value(None, written)
        assert option.type_cast_value(None, written.upper()) == as_it_is
        assert option.type_cast_value(None, written.capitalize()) == as_it_is


def test_a_target_as_people_write_it_is_that_target(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--target-os", "Windows", "--target-arch", "AMD64", "--target-backend", "CUDA", "--target-python", "3.11")
    formats = ("--format", "JSON", "--fail-on", "Never")
    recorded = ("--recorded-index", RECORDED)
    assert main(["check", str(EXAMPLE), *words, *formats, *recorded, "--quiet"]) in (0, 3)
    target = json.loads(capsys.readouterr().out)["target"]
    assert (target["os"], target["arch"], target["backend"]) == ("windows", "x86_64", "cuda")


@pytest.mark.parametrize("backend", ["CPU", "Cpu-As:ZLUDA"])
def test_the_backend_of_smoke_is_taken_in_any_case(capsys: pytest.CaptureFixture[str], backend: str) -> None:
    assert main(["smoke", "--backend", backend, "--env", "nowhere"]) == 2
    assert "nowhere" in capsys.readouterr().err, "the backend is no fault any more"


PYPROJECT = (
    '[project]\nname = "x"\nversion = "1"\nrequires-python = ">=3.8"\ndependencies = []\n'
    '[project.optional-dependencies]\ncli = ["click"]\ncpu = ["a"]\ncu = ["b"]\n'
    '[dependency-groups]\ntest = ["pytest"]\n'
    '[tool.uv]\nconflicts = [[{ extra = "cpu" }, { extra = "cu" }]]\n'
)


@pytest.mark.parametrize(
    ("words", "decides"),
    [
        ((), set()),
        (("--extra", "cli"), {"cli"}),
        (("--group", "test", "--extra", "cli"), {"cli", "test"}),
        (("--all-groups",), {"test"}),
        (("--only-group", "test"), {"test"}),
    ],
)
def test_what_is_asked_for_decides(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], decides: set[str]
) -> None:
    (tmp_path / "pyproject.toml").write_text(PYPROJECT)
    offline = ("--offline", "--cache-dir", str(tmp_path / "cache"), "--format", "json", "--quiet")
    main(["check", str(tmp_path), *words, *offline])
    scope = json.loads(capsys.readouterr().out)["scope"]
    assert {one["name"] for one in (*scope["groups"], *scope["extras"]) if one["decides"]} == decides
    assert scope["read"] == [{"path": "pyproject.toml", "as": "pyproject"}]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--extra", "none"), "there is no extra `none`; there are: `cli`, `cpu`, `cu`"),
        (("--group", "cli"), "there is no group `cli`; there are: `test`"),
        (("--extra", "cpu", "--extra", "cu"), "extra `cpu` and extra `cu` exclude each other here"),
        (("--only-group", "test", "--extra", "cli"), "`--only-group` leaves the main list out"),
    ],
)
def test_what_cannot_be_asked_for_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    (tmp_path / "pyproject.toml").write_text(PYPROJECT)
    assert main(["check", str(tmp_path), *words, "--offline", "--quiet"]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("folder", ["src", "src/deep"])
def test_a_call_from_a_subfolder_finds_the_project_above(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], folder: str
) -> None:
    (tmp_path / "pyproject.toml").write_text(PYPROJECT)
    (tmp_path / ".git").mkdir()
    (tmp_path / folder).mkdir(parents=True)
    offline = ("--offline", "--cache-dir", str(tmp_path / "cache"), "--format", "json")
    main(["check", str(tmp_path / folder), *offline])
    said = capsys.readouterr()
    assert json.loads(said.out)["scope"]["read"] == [{"path": "pyproject.toml", "as": "pyproject"}]
    assert "taking the project above" in said.err


def test_no_project_above_a_checkout_is_taken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pyproject.toml").write_text(PYPROJECT)
    (tmp_path / "clone" / ".git").mkdir(parents=True)
    assert main(["check", str(tmp_path / "clone"), "--offline"]) == 2
    assert "nothing here describes requirements" in capsys.readouterr().err


def test_outside_a_checkout_no_project_above_is_taken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pyproject.toml").write_text(PYPROJECT)
    (tmp_path / "notes").mkdir()
    assert main(["check", str(tmp_path / "notes"), "--offline"]) == 2
    assert "nothing here describes requirements" in capsys.readouterr().err


def test_a_list_that_cannot_be_read_is_not_hidden_by_the_project_above(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pyproject.toml").write_text(PYPROJECT)
    (tmp_path / ".git").mkdir()
    (tmp_path / "part" / "requirements.txt").mkdir(parents=True)
    assert main(["check", str(tmp_path / "part"), "--offline"]) == 3
    assert "what it asks for is not known" in " ".join(capsys.readouterr().out.split())
