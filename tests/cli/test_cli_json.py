"""``--format json`` of every verb: one document on stdout that its schema describes."""

from __future__ import annotations

import json
import os
import shutil
import venv
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import typer

from envdoctor.cli.main import main
from envdoctor.cli.verb_list import VERBS
from envdoctor.render.json_document import report_schema
from song_maker import EXAMPLE, ON_ITS_INDEX

ROOT = Path(__file__).parents[2]
STACK = (*ON_ITS_INDEX, "--quiet")
LISTINGS = (str(ROOT / "docs/examples/works.txt"), str(ROOT / "docs/examples/freeze.txt"))

SCHEMA = json.loads(files("envdoctor.render").joinpath("documents.schema.json").read_text(encoding="utf-8"))
CASES = {
    "rules": ("rule",),
    "rule": ("rule", "res102"),
    "profiles": ("profiles", "list"),
    "profile": ("profiles", "show", "xtts-zluda"),
    "validation": ("profiles", "validate", str(ROOT / "profiles/xtts-zluda.toml"), "nowhere.toml"),
    "kernels": ("smoke", "--list"),
    "comparison": ("compare", *LISTINGS),
    "explanation": ("explain", str(EXAMPLE), "torchaudio", *STACK),
    "repair": ("repair", "1", str(EXAMPLE), *STACK),
}
DRAFT = ("profiles", "new", "my-stack", "--backend", "cpu")
REPORTS = {
    "check": ("check", str(EXAMPLE), *STACK),
    "explain": ("explain", str(EXAMPLE), "C1", *STACK),
    "host": ("host",),
}


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    main([*arguments, "--format", "json"])
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    document: dict[str, Any] = json.loads(captured.out)
    return document


def valid(kind: str, document: dict[str, Any]) -> None:
    assert document["schema"] == f"envdoctor.{kind}/1"
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    assert document.keys() <= SCHEMA["$defs"][kind]["properties"].keys() or kind in ("profile", "plan")


@pytest.mark.parametrize("kind", CASES)
def test_what_is_no_report_obeys_its_schema(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    document = told(capsys, *CASES[kind])
    valid(kind, document)
    assert all(item not in ([], {}) for key, item in document.items() if key in SCHEMA["$defs"][kind]["required"][:3])


def test_a_new_profile_is_told_as_it_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    document = told(capsys, *DRAFT)
    valid("draft", document)
    main([*DRAFT])
    assert f"{document['profile']}\n" == capsys.readouterr().out


def test_init_tells_what_it_wrote(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for names in (["pyproject.toml", ".pre-commit-config.yaml"], []):
        document = told(capsys, "init", str(tmp_path))
        valid("init", document)
        assert document["written"] == [str(tmp_path / name) for name in names]


def test_run_tells_how_it_would_start_a_command_and_starts_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    venv.create(tmp_path / "env", symlinks=os.name != "nt")
    monkeypatch.setenv("PYTHONPATH", "elsewhere")
    main(["run", "--env", str(tmp_path / "env"), "--format", "json", "--", "python", "-c", "print('started')"])
    document = json.loads(capsys.readouterr().out)
    valid("run", document)
    program, *arguments = document["command"]
    assert Path(program).is_relative_to(tmp_path / "env")
    assert arguments == ["-c", "print('started')"]
    assert document["variables"]["PYTHONPATH"] is None
    assert document["variables"]["VIRTUAL_ENV"] == str(tmp_path / "env")
    assert document["variables"].keys() <= {"PATH", "VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME", "__PYVENV_LAUNCHER__"}


@pytest.mark.parametrize("verb", REPORTS)
def test_a_report_obeys_its_schema(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    document = told(capsys, *REPORTS[verb])
    assert document["command"] == verb
    jsonschema.Draft202012Validator(report_schema()).validate(document)


def test_repairs_and_fixes_are_told_with_what_was_taken_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = Path(shutil.copytree(EXAMPLE, tmp_path / "p", ignore=shutil.ignore_patterns("recorded-index")))
    here = ("--project", str(project))
    assert told(capsys, "repair", str(project), "--write", *STACK)["written"] is True
    nothing = told(capsys, "repair", str(project), *STACK)
    valid("repair", nothing)
    assert (nothing["repair"], nothing["files"], nothing["by_hand"]) == (None, [], [])
    fixes = told(capsys, "undo", "--list", *here)
    valid("fixes", fixes)
    assert [fix["state"] for fix in fixes["fixes"]] == ["done"]
    back = told(capsys, "undo", *here)
    valid("undo", back)
    assert back["taken_back"] == [{"environment": str(project), "ids": [fixes["fixes"][0]["id"]], "whole": True}]


def test_an_explanation_has_what_the_text_says(capsys: pytest.CaptureFixture[str]) -> None:
    answer = told(capsys, *CASES["explanation"])["answers"][0]
    main(list(CASES["explanation"]))
    text = capsys.readouterr().out
    assert answer["package"]["version"] in text
    assert all(item["requirement"] in text for item in (*answer["wanted_by"], *answer["set_aside"]))
    assert all(item["reason"] in text for item in answer["newer"][:5])


def test_every_verb_that_says_something_has_json() -> None:
    import importlib

    without = set()
    for verb in VERBS:
        command: Any = typer.main.get_command(importlib.import_module(f"envdoctor.cli.{verb}_command").app)
        for name, each in getattr(command, "commands", {"": command}).items():
            formats = next((item.type.choices for item in each.params if item.name == "format"), ())
            if "json" not in [getattr(item, "value", item) for item in formats]:
                without.add(f"{verb} {name}".strip())
    assert without == set()
    assert set(SCHEMA["$defs"]) == {*CASES, "fixes", "undo", "plan", "outliers", "cases", "run", "init", "draft"}
