"""A program that is no interpreter is refused in one message; one that is called Python and fails is broken."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from envdoctor.cli.main import main
from envdoctor.model.kernel import KernelResult, KernelStatus
from envdoctor.model.report import Report
from envdoctor.render.wording import headline

pytestmark = pytest.mark.skipif(os.name == "nt", reason="CreateProcess starts no shell script")


def _program(folder: Path, name: str) -> Path:
    path = folder / name
    path.write_text("#!/bin/sh\necho usage: no such option >&2\nexit 2\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("name", ["ls", "grep", "pip"])
def test_a_program_that_is_no_interpreter_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    path = _program(tmp_path, name)
    assert main(["check", "--python", str(path)]) == 2
    assert capsys.readouterr().err.strip() == f"error: `{path}` is not a Python interpreter"


@pytest.mark.parametrize("name", ["python", "python3.11", "pypy3"])
def test_an_interpreter_that_fails_is_a_finding(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert main(["check", "--python", str(_program(tmp_path, name)), "--format", "json"]) in (1, 3)
    assert "ENV010" in capsys.readouterr().out


def test_a_link_by_another_name_is_followed(tmp_path: Path) -> None:
    link = tmp_path / "interpreter"
    link.symlink_to(os.path.realpath(sys.executable))
    assert main(["check", "--python", str(link), "--no-imports", "--format", "json"]) != 2


def test_smoke_without_torch_says_so_in_its_headline() -> None:
    missing = KernelResult("import-torch", "none", KernelStatus.UNSUPPORTED)
    assert headline(Report(command="smoke", kernels=(missing,))) == "torch is not there"
