"""Where a report is written: whole into files, and into devices and pipes as they are."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from envdoctor.cli.main import main

LISTING = "numpy==1.26.0\n"


@pytest.fixture
def listing(tmp_path: Path) -> Path:
    file = tmp_path / "freeze.txt"
    file.write_text(LISTING, encoding="utf-8")
    return file


def write(listing: Path, output: Path) -> int:
    return main(["check", "--installed", str(listing), "--format", "json", "--output", str(output)])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no mkfifo")
def test_hooks_output_into_a_pipe_leaves_it_a_pipe(listing: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert write(listing, pipe) == 0
        assert json.loads(os.read(reader, 1 << 16))["command"] == "check"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_hooks_output_replaces_a_file_whole(listing: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    report.write_text("of an earlier run\n" * 1000, encoding="utf-8")
    assert write(listing, report) == 0
    assert json.loads(report.read_text(encoding="utf-8"))["command"] == "check"
    assert not list(tmp_path.glob(".*partial"))


def test_hooks_output_into_a_folder_is_a_usage_fault(
    listing: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert write(listing, tmp_path) == 2
    assert f"cannot write `{tmp_path}`" in capsys.readouterr().err
