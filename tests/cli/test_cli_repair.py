"""`repair`: a repair as a diff of the files that people wrote, written and taken back. No network."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from cli_running import run
from packaging.specifiers import SpecifierSet

from envdoctor.model.override import Override
from envdoctor.model.project import Project
from envdoctor.model.repair import Repair
from envdoctor.model.report import Report, Setting
from envdoctor.verbs.project_inputs import read
from envdoctor.verbs.project_repair import changes_of_repairs, project_repair, write_repair
from envdoctor.verbs.scope import scope_of_project
from envdoctor.verbs.settings import Settings
from song_maker import ON_ITS_INDEX

ROOT = Path(__file__).parents[2]


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_the_repair_in_use_is_a_diff_that_git_takes(capsys: pytest.CaptureFixture[str], example: Path) -> None:
    before = content(example)
    code, out, err = run(capsys, "repair", str(example), *ON_ITS_INDEX)
    assert code == 0
    assert content(example) == before
    assert "-torch==2.7\n" in out
    assert "+torch==2.4.1\n" in out
    assert "+torchaudio==2.4.1\n" in out
    assert "nothing is changed yet; --write changes `requirements.txt`" in err
    # Out of the checkout that holds this test, git takes a folder without a repository.
    patched = subprocess.run(
        ["git", "apply", "-"], input=out, text=True, cwd=example, env={**os.environ, "GIT_CEILING_DIRECTORIES": "/"}
    )
    assert patched.returncode == 0
    assert "torch==2.4.1" in (example / "requirements.txt").read_text(encoding="utf-8")


def test_a_diff_in_a_pipe_has_the_letters_and_line_ends_of_the_file(tmp_path: Path) -> None:
    # A pipe on Windows would make two of one carriage return, and has the letters of one code page.
    (tmp_path / "requirements.txt").write_bytes("# ä 中 \x0c ─\r\ntorch==2.7\r\ntorchaudio==2.7\r\n".encode())
    done = subprocess.run(
        [sys.executable, "-m", "envdoctor", "repair", str(tmp_path), *ON_ITS_INDEX], capture_output=True, check=True,
        env={**os.environ, "PYTHONIOENCODING": "cp1252"},
    )  # fmt: skip
    assert done.stdout.decode() == (
        "--- a/requirements.txt\n+++ b/requirements.txt\n@@ -1,3 +1,3 @@\n # ä 中 \x0c ─\r\n"
        "-torch==2.7\r\n-torchaudio==2.7\r\n+torch==2.4.1\r\n+torchaudio==2.4.1\r\n"
    )


def test_what_is_written_resolves_and_undo_takes_it_back(capsys: pytest.CaptureFixture[str], example: Path) -> None:
    before = content(example)
    assert run(capsys, "check", str(example), *ON_ITS_INDEX, "-q")[0] == 1
    code, _, err = run(capsys, "repair", "1", str(example), "--write", *ON_ITS_INDEX)
    assert code == 0
    assert f"`envdoctor undo --project {example}` takes it back" in err
    report = json.loads(run(capsys, "check", str(example), *ON_ITS_INDEX, "--format", "json")[1])
    assert report["conflicts"] == []
    assert report["repairs"] == []
    assert {item["name"]: item["version"] for item in report["resolution"]["packages"]}["torch"] == "2.4.1"
    code, out, err = run(capsys, "repair", str(example), *ON_ITS_INDEX)
    assert (code, out) == (0, "")
    assert "nothing is to be repaired" in err
    beside = ("--output-dir", str(example.parent), *ON_ITS_INDEX)
    assert run(capsys, "lock", str(example), *beside)[0] == 0
    assert run(capsys, "lock", str(example), "--check", *beside)[0] == 0
    out = run(capsys, "explain", str(example), "torch", *ON_ITS_INDEX)[1]
    assert "requirements.txt:2: torch==2.4.1" in out.partition("how it gets here")[0]
    assert "set aside" not in out
    listed = run(capsys, "undo", "--project", str(example), "--list")[1]
    assert "repair R1: change requirements.txt" in listed
    assert run(capsys, "undo", "--project", str(example))[0] == 0
    assert content(example) == before
    assert not (example / ".envdoctor").exists()
    assert run(capsys, "undo", "--project", str(example))[0] == 2


def test_what_was_changed_since_is_put_aside(capsys: pytest.CaptureFixture[str], example: Path) -> None:
    before = content(example)
    assert run(capsys, "repair", str(example), "--write", *ON_ITS_INDEX)[0] == 0
    path = example / "requirements.txt"
    path.write_text(path.read_text(encoding="utf-8") + "mine\n", encoding="utf-8")
    assert run(capsys, "undo", "--project", str(example))[0] == 0
    assert path.read_bytes() == before["requirements.txt"]
    assert "mine\n" in (example / "requirements.txt.after-fix").read_text(encoding="utf-8")


def test_json_says_what_would_change(capsys: pytest.CaptureFixture[str], example: Path) -> None:
    code, out, _ = run(capsys, "repair", "R1", str(example), *ON_ITS_INDEX, "--format", "json")
    document = json.loads(out)
    assert code == 0
    assert (document["schema"], document["repair"], document["written"]) == ("envdoctor.repair/1", "R1", False)
    assert [file["path"] for file in document["files"]] == ["requirements.txt"]


PYTORCH = "https://index.example/whl"
WITHOUT = "`torch==2.7.1` is without `+cu128`: the project's files name no index with that build"


def with_label(folder: Path, text: str, index: str, known: tuple[Setting, ...] = ()) -> tuple[Project, Report]:
    """Return a project of one line with the report of a repair that takes a labelled torch of an index."""
    (folder / "requirements.txt").write_text(text, encoding="utf-8")
    project = read(folder, None, Settings())
    (asked,) = project.requirements
    override = Override(replace(asked, specifier=SpecifierSet("==2.7.1+cu128")), (asked,), index=index)
    scope = scope_of_project(project, None, known, (), ())
    return project, Report("check", repairs=(Repair("R1", (override,), ()),), scope=scope)


@pytest.mark.parametrize(
    ("text", "index", "line", "said"),
    [
        pytest.param("torch==2.0.1\n", "cu128", "torch==2.7.1\n", (WITHOUT,), id="no index"),
        pytest.param(
            f"--extra-index-url {PYTORCH}/cpu\ntorch>=2,<2.1\n", "cu128", "torch==2.7.1\n", (WITHOUT,), id="another"
        ),
        pytest.param(
            f"--extra-index-url {PYTORCH}/cu128\ntorch==2.0.1\n",
            "cu128 of requirements.txt:1",
            "torch==2.7.1+cu128\n",
            (),
            id="its index",
        ),
        pytest.param(
            "--index-url https://index.example/all\ntorch==2.0.1\n",
            "index.example/all of requirements.txt:1",
            "torch==2.7.1+cu128\n",
            (),
            id="index of many builds",
        ),
        pytest.param(
            f"-f {PYTORCH}/torch_stable.html\ntorch==2.0.1+cu118\n",
            "index.example/whl/torch_stable.html of requirements.txt:1",
            "torch==2.7.1+cu128\n",
            (),
            id="page of many builds",
        ),
        pytest.param("torch==2.0.1+cu128\n", "cu128", "torch==2.7.1+cu128\n", (), id="written before"),
    ],
)
def test_a_line_has_the_label_of_a_build_where_the_files_name_its_index(
    text: str, index: str, line: str, said: tuple[str, ...], tmp_path: Path
) -> None:
    project, report = with_label(tmp_path, text, index)
    made = project_repair(tmp_path, report.repairs[0], report.scope)
    (change,) = made.changes
    assert change.after.splitlines(keepends=True)[-1] == line
    assert made.repair.cautions == said
    # What is read afterwards is what the repair wants, or nothing would be written.
    write_repair(tmp_path, made, project, lambda: read(tmp_path, None, Settings()), print)
    assert (tmp_path / "requirements.txt").read_text(encoding="utf-8") == change.after


def test_where_the_build_is_is_said_as_far_as_it_is_known(tmp_path: Path) -> None:
    known = (Setting("cu128", f"{PYTORCH}/multi", "profile ours"),)
    _, report = with_label(tmp_path, "torch==2.0.1\n", "cu128", known)
    (caution,) = project_repair(tmp_path, report.repairs[0], report.scope).repair.cautions
    assert caution.endswith(f"; it is on {PYTORCH}/multi")
    # SARIF and HTML carry the same change.
    assert changes_of_repairs(report)["R1"][0].after == "torch==2.7.1\n"


def test_a_number_that_is_none_is_a_fault_of_use(capsys: pytest.CaptureFixture[str], example: Path) -> None:
    assert run(capsys, "repair", "7", str(example), *ON_ITS_INDEX)[0] == 2
    assert run(capsys, "repair", "seven", str(example), *ON_ITS_INDEX)[0] == 2


def test_a_file_that_is_no_utf8_is_left_to_hands(capsys: pytest.CaptureFixture[str], example: Path) -> None:
    path = example / "requirements.txt"
    path.write_bytes(path.read_text(encoding="utf-8").encode("utf-16"))
    before = content(example)
    code, out, err = run(capsys, "repair", str(example), "--write", *ON_ITS_INDEX)
    assert (code, out) == (1, "")
    assert "by hand: `requirements.txt` is no UTF-8; make `torch==2.7` `==2.4.1`" in err
    assert content(example) == before


def test_undo_of_a_project_names_it(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, _, err = run(capsys, "undo", "--project", str(tmp_path / "nowhere"))
    assert (code, "nowhere`: there is no such file or directory" in err) == (2, True)
    code, _, err = run(capsys, "undo", "--project", str(tmp_path))
    assert (code, str(tmp_path) in err) == (2, True)
