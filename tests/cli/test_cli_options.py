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

EXAMPLE = Path(__file__).parents[2] / "examples" / "song-maker"
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
    recorded = ("--recorded-index", str(EXAMPLE / "recorded-index"))
    assert main(["check", str(EXAMPLE), *words, *formats, *recorded, "--quiet"]) in (0, 3)
    target = json.loads(capsys.readouterr().out)["target"]
    assert (target["os"], target["arch"], target["backend"]) == ("windows", "x86_64", "cuda")


@pytest.mark.parametrize("backend", ["CPU", "Cpu-As:ZLUDA"])
def test_the_backend_of_smoke_is_taken_in_any_case(capsys: pytest.CaptureFixture[str], backend: str) -> None:
    assert main(["smoke", "--backend", backend, "--env", "nowhere"]) == 2
    assert "nowhere" in capsys.readouterr().err, "the backend is no fault any more"
