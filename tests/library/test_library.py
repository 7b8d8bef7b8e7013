"""``import envdoctor``: what the command line says, as values and as exceptions."""

from __future__ import annotations

import inspect
import json
import logging
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import jsonschema
import pytest
import typer

import envdoctor
from envdoctor import library
from envdoctor.cli import check_command, lock_command, smoke_command
from envdoctor.cli.main import main
from envdoctor.cli.options import Format
from envdoctor.library import arguments, results
from envdoctor.model.target import OperatingSystem, TargetArch, TargetBackend
from song_maker import EXAMPLE, ON_ITS_INDEX

STACK: dict[str, Any] = {"profile": "diffrhythm2-directml", "recorded_index": EXAMPLE / "recorded-index"}
WORDS = [*ON_ITS_INDEX]


def without_times(document: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key != "timings"}


def test_the_import_alone_imports_nothing_else() -> None:
    code = "import sys; before = set(sys.modules); import envdoctor; print(sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    assert done.stdout.strip() == "['envdoctor']"


def test_verbs_are_called_by_their_names_before_and_after_their_folders_are_imported() -> None:
    code = """
import envdoctor
for _ in range(2):
    for verb in (envdoctor.diagnose, envdoctor.lock):
        try:
            verb("no-such-folder")
        except envdoctor.Error as error:
            print(error)
    import envdoctor.lock.joined, envdoctor.diagnose.rule
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    assert done.stdout.splitlines() == ["no-such-folder: there is no such file or directory"] * 4
    assert inspect.signature(envdoctor.diagnose) == inspect.signature(library.diagnose)


def test_names_that_are_offered_are_there_and_others_are_not() -> None:
    assert all(getattr(envdoctor, name) is not None for name in envdoctor.__all__)
    assert set(envdoctor.__all__) <= set(dir(envdoctor))
    with pytest.raises(AttributeError, match="no attribute `diagnosis`"):
        _ = envdoctor.diagnosis  # type: ignore[attr-defined]


def test_a_diagnosis_is_the_report_of_check(capsys: pytest.CaptureFixture[str]) -> None:
    report = envdoctor.diagnose(EXAMPLE, **STACK)
    code = main(["check", str(EXAMPLE), *WORDS, "--format", "json", "--quiet"])
    told = json.loads(capsys.readouterr().out)
    assert without_times(report.to_dict()) == without_times(told)
    assert report.exit_code() == code == 1
    assert report.exit_code("never") == 0
    assert [item.id for item in report.conflicts] == ["C1", "C2"]
    jsonschema.Draft202012Validator(envdoctor.schema()).validate(report.to_dict())


def test_a_report_is_written_in_every_format() -> None:
    report = envdoctor.diagnose(EXAMPLE, **STACK)
    assert report.text().startswith("check: ")
    assert json.loads(report.text("json"))["verdict"] == "broken"
    assert report.text("html").startswith("<!DOCTYPE html>")
    assert report._repr_html_().startswith("<iframe srcdoc=")
    assert len(report.text(width=60).splitlines()) > len(report.text(width=120).splitlines())


def test_a_lock_is_what_the_command_line_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project = tmp_path / "song-maker"
    shutil.copytree(EXAMPLE, project)
    only = envdoctor.lock(project, write=False, **STACK)
    assert set(only.files) == set(only.changed)
    assert not list(project.glob("pylock*"))
    assert main(["lock", str(project), *WORDS]) == 0
    capsys.readouterr()
    on_disk = {name: (project / name).read_text(encoding="utf-8") for name in only.files}
    assert envdoctor.lock(project, **STACK).changed == ()
    assert on_disk == dict(only.files)
    elsewhere = envdoctor.lock(project, output_dir=tmp_path / "made", **STACK)
    assert sorted(path.name for path in (tmp_path / "made").iterdir()) == sorted(elsewhere.changed)
    jsonschema.Draft202012Validator(envdoctor.schema()).validate(only.to_dict())


@pytest.mark.parametrize(
    ("options", "words", "code"),
    [
        ({"no_repair": True}, ["--no-repair"], 1),
        ({"repair": 77}, ["--repair", "77"], 2),
        ({"repair": 1, "no_repair": True}, ["--repair", "1", "--no-repair"], 2),
    ],
    ids=["conflict", "no such repair", "contradiction"],
)
def test_what_is_refused_says_what_the_command_line_says(
    options: dict[str, Any], words: list[str], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(envdoctor.Error) as refused:
        envdoctor.lock(EXAMPLE, write=False, **STACK, **options)
    assert main(["lock", str(EXAMPLE), *WORDS, *words, "--check", "--quiet"]) == refused.value.exit_code == code
    assert capsys.readouterr().err == "".join(f"error: {text}\n" for text in refused.value.messages)
    assert (refused.value.report is not None) == (options != {"repair": 1, "no_repair": True})


def test_wrong_arguments_are_errors_with_the_argument_named() -> None:
    with pytest.raises(
        envdoctor.Error, match="target_os: `solaris` is not one of `windows`, `linux`, `macos`"
    ) as wrong:
        envdoctor.diagnose(EXAMPLE, target_os="solaris")  # type: ignore[arg-type]
    assert wrong.value.exit_code == 2
    with pytest.raises(envdoctor.Error, match="no kernel `gemm-float33`; did you mean"):
        envdoctor.smoke(sys.prefix, kernels=["gemm-float33"])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"target_python": 3.11}, "target_python: `3.11` is not a string"),
        ({"glibc": 2.31}, "glibc: `2.31` is not a string"),
        ({"project": None}, "project: `None` is not a path"),
        ({"env": 7}, "env: `7` is not a path"),
        ({"extra": None}, "extra: `None` is not a list of strings"),
        ({"group": [1]}, "group: `[1]` is not a list of strings"),
    ],
)
def test_a_value_of_another_kind_is_an_error_that_names_the_argument(options: dict[str, Any], said: str) -> None:
    with pytest.raises(envdoctor.Error) as wrong:
        envdoctor.diagnose(**options)
    assert (wrong.value.messages, wrong.value.exit_code) == ((said,), 2)


def test_a_string_in_the_place_of_several_is_one_name() -> None:
    for argument in ("extra", "group", "only_group"):
        with pytest.raises(envdoctor.Error, match=f"there is no {argument.removeprefix('only_')} `fast`"):
            envdoctor.diagnose(EXAMPLE, recorded_index=EXAMPLE / "recorded-index", **{argument: "fast"})


def test_what_a_report_is_asked_for_in_vain_is_an_error() -> None:
    report = envdoctor.diagnose(EXAMPLE, profile="diffrhythm2-directml", recorded_index=EXAMPLE / "recorded-index")
    with pytest.raises(envdoctor.Error, match="no format `pdf`") as refused:
        report.text("pdf")
    assert refused.value.exit_code == 2
    with pytest.raises(envdoctor.Error, match="fail_on: `note` is not one of `error`, `warning`, `never`"):
        report.exit_code("note")


def test_an_environment_is_looked_at_as_check_does(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    listing = tmp_path / "freeze.txt"
    listing.write_text("torch==2.7.0\ntorchaudio==2.4.1\n", encoding="utf-8")
    report = envdoctor.inspect_environment(installed=listing, offline=True)
    main(["check", "--installed", str(listing), "--offline", "--format", "json", "--quiet"])
    assert without_times(report.to_dict()) == without_times(json.loads(capsys.readouterr().out))
    assert report.verdict.value == "broken"
    here = envdoctor.inspect_environment(sys.prefix, imports=False)
    assert here.scope.environments


def test_kernels_without_torch_are_a_finding_and_no_exception(tmp_path: Path) -> None:
    report = envdoctor.smoke(python=sys.executable, kernels=["gemm-float32"], backend="cpu")
    if report.kernels[0].kernel == "import-torch":
        assert report.findings[0].rule == "GPU006"
        assert report.exit_code() == 1
    jsonschema.Draft202012Validator(envdoctor.schema()).validate(report.to_dict())


def test_notes_go_to_the_log_and_nothing_to_the_streams(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "requirements.txt").write_text("torch==2.7\n", encoding="utf-8")
    with caplog.at_level(logging.INFO, "envdoctor"):
        envdoctor.diagnose(tmp_path, profile="diffrhythm2-rocm", gpu="RTX 5080", recorded_index=STACK["recorded_index"])
    assert any("profile `diffrhythm2-rocm`" in record.getMessage() for record in caplog.records)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("word", [(), (".",), ("src",), ("requirements.txt",)], ids=str)
def test_code_scanning_gets_repairs_as_edits_wherever_it_is_asked_and_from_the_library_too(
    word: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / ".git").mkdir()  # What describes a folder within a checkout may stand above it.
    shutil.copy(EXAMPLE / "requirements.txt", tmp_path)
    monkeypatch.chdir(tmp_path)
    main(["check", *word, "--format", "sarif", *WORDS])
    told = json.loads(capsys.readouterr().out)
    mine = json.loads(envdoctor.diagnose(*word, **STACK).text("sarif"))
    fixes = [fix for result in mine["runs"][0]["results"] for fix in result.get("fixes", ())]
    assert {change["artifactLocation"]["uri"] for fix in fixes for change in fix["artifactChanges"]} == {
        "requirements.txt"
    }
    assert mine == told


def test_a_page_of_the_library_leaves_personal_places_out_as_that_of_the_command_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(EXAMPLE / "requirements.txt", tmp_path)
    monkeypatch.chdir(tmp_path)
    page = envdoctor.diagnose(tmp_path, **STACK).text("html")
    assert f"<dt>project</dt><dd>{tmp_path.name}</dd>" in page
    assert str(tmp_path) not in page


NAMES = {"System": OperatingSystem, "Architecture": TargetArch, "BackendName": TargetBackend, "FormatName": Format}


@pytest.mark.parametrize("name", NAMES)
def test_the_words_that_types_know_are_those_of_the_options(name: str) -> None:
    assert set(get_args(getattr(results if name == "FormatName" else arguments, name))) == {
        item.value for item in NAMES[name]
    }


VERBS = [
    ("diagnose", check_command.app, {"format", "output", "color", "fail_on", "show_waived", "quiet", "verbose"}
     | {"python", "verify", "no_imports", "import_timeout"}, {"imports", "progress"}),
    ("lock", lock_command.app, {"format", "output", "color", "quiet", "verbose", "check", "join"},
     {"write", "progress"}),
    ("smoke", smoke_command.app, {"format", "output", "color", "fail_on", "quiet", "verbose", "no_bisect", "listed"},
     {"bisect", "progress"}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "app", "without", "more"), VERBS, ids=[verb[0] for verb in VERBS])
def test_arguments_are_the_options_of_the_verb(name: str, app: typer.Typer, without: set[str], more: set[str]) -> None:
    options = {str(item.name) for item in typer.main.get_command(app).params}
    assert set(inspect.signature(getattr(library, name)).parameters) == (options - without) | more
