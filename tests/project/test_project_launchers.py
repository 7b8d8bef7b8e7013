"""Scripts that start a program and install on the way: seen, named, and not read."""

from __future__ import annotations

from pathlib import Path

import pytest

from envdoctor.adapters.project import read_project
from envdoctor.model.project import LeftOut

WINDOWS, LINUX = {"sys_platform": "win32"}, {"sys_platform": "linux"}
LAUNCH = """# pip install nothing
Write-Host "pip install nothing"
python -m pip install --upgrade pip
pip install -r requirements.txt
pip install torch==2.4.1 torch-directml
pip install -r "$PSScriptRoot\\models\\dr2\\requirements.txt"
python app.py
"""


def _launchers(root: Path, environment: dict[str, str]) -> list[tuple[str, str]]:
    (root / "requirements.txt").write_text("numpy\n", encoding="utf-8")
    left_out = read_project(root, target_environment=environment).left_out
    return [(one.path, one.detail) for one in left_out if one.reason is LeftOut.LAUNCHER]


def test_a_launcher_that_installs_more_is_named_with_the_first_such_line(tmp_path: Path) -> None:
    (tmp_path / "launch.ps1").write_text(LAUNCH, encoding="utf-8")
    (named,) = _launchers(tmp_path, WINDOWS)
    assert named == ("launch.ps1", "line 5: pip install torch==2.4.1 torch-directml")
    assert not _launchers(tmp_path, LINUX), "it does not run there"


def test_a_list_in_a_folder_below_the_script_is_not_taken_for_the_one_beside_it(tmp_path: Path) -> None:
    nested = tmp_path / "models" / "dr2"
    nested.mkdir(parents=True)
    (nested / "requirements.txt").write_text("torch==2.7\n", encoding="utf-8")
    (tmp_path / "requirements.txt").write_text("numpy\n", encoding="utf-8")
    (tmp_path / "launch.ps1").write_text(LAUNCH, encoding="utf-8")
    read = read_project(tmp_path / "launch.ps1", target_environment=WINDOWS)
    assert read.files == ("launch.ps1", "requirements.txt", "models/dr2/requirements.txt")
    assert {str(item) for item in read.requirements} >= {"torch==2.7", "numpy"}
    assert [str(item) for item in read.superseded] == ["torch==2.4.1"]


@pytest.mark.parametrize(
    "line",
    [
        'pip install -r "%~dp0models\\dr2\\requirements.txt"',
        "call venv\\Scripts\\pip install onnxruntime-gpu",
    ],
)
def test_a_list_that_was_not_read_is_more_too(tmp_path: Path, line: str) -> None:
    (tmp_path / "run.bat").write_text(f"@echo off\n{line}\n", encoding="utf-8")
    assert [path for path, _ in _launchers(tmp_path, WINDOWS)] == ["run.bat"]


@pytest.mark.parametrize(
    "line",
    [
        "pip install -r requirements.txt",
        'pip install -r "$HERE/requirements.txt"',
        "pip install -e .",
        "python -m pip install --upgrade pip setuptools wheel",
        "echo pip install torch",
        "# pip install torch",
        "python app.py",
    ],
)
def test_a_script_that_installs_nothing_more_is_not_named(tmp_path: Path, line: str) -> None:
    (tmp_path / "start.sh").write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
    assert not _launchers(tmp_path, LINUX)


def test_a_script_that_is_no_text_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "start.sh").write_bytes(b"\x00\xff\xfe\x01pip install torch" * 20)
    assert not _launchers(tmp_path, LINUX)
