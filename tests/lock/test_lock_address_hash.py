"""The hash in an address (``name @ ...whl#sha256=...``): checked where the whole file is at hand, else that is said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from lock_index import LoopbackIndex

from envdoctor.cli.main import main

WRONG = "0" * 64


def checked(project: Path, capsys: pytest.CaptureFixture[str], line: str) -> tuple[int, dict[str, Any]]:
    (project / "requirements.txt").write_text(f"{line}\n", encoding="utf-8")
    code = main(["check", str(project), "--format", "json", "--quiet"])
    return code, json.loads(capsys.readouterr().out)


def test_a_wheel_on_this_machine_is_the_one_that_its_line_names(
    index: LoopbackIndex, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    digest = index.wheel("alpha", "3.0")
    wheel = project / "alpha-3.0-py3-none-any.whl"
    wheel.write_bytes(index.files[wheel.name])
    for address in (wheel.as_uri(), f"./{wheel.name}"):
        code, report = checked(project, capsys, f"alpha @ {address}#sha256={digest}")
        assert (code, report["verdict"], report["findings"]) == (0, "healthy", [])
        code, report = checked(project, capsys, f"alpha @ {address}#sha256={WRONG}")
        assert (code, report["verdict"]) == (3, "unknown")
        assert "its hash is not the one that its address names" in report["findings"][0]["message"]


def test_a_wheel_on_a_server_is_left_to_the_installer_and_that_is_said(
    index: LoopbackIndex, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    digest = index.wheel("alpha", "3.0")
    address = f"{index.root}/files/alpha-3.0-py3-none-any.whl"
    for line in (f"alpha @ {address}#sha256={digest}", f"alpha @ {address} --hash=sha256:{digest}"):
        code, report = checked(project, capsys, line)
        (finding,) = report["findings"]
        assert (code, finding["rule"], finding["severity"]) == (0, "RES013", "info")
        assert finding["message"] == "the hash of `alpha` is left to the installer: of its wheel only parts are read"
    code, report = checked(project, capsys, f"alpha @ {address}")
    assert (code, report["findings"]) == (0, [])


def test_what_came_whole_is_compared(index: LoopbackIndex, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    index.wheel("alpha", "3.0")
    code, report = checked(project, capsys, f"alpha @ {index.root}/files/alpha-3.0-py3-none-any.whl#sha256={WRONG}")
    assert (code, report["verdict"]) == (3, "unknown")
    assert "its hash is not the one that its address names" in report["findings"][0]["message"]


def test_no_hash_at_all_is_an_error(index: LoopbackIndex, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    index.wheel("alpha", "3.0")
    code, report = checked(project, capsys, f"alpha @ {index.root}/files/alpha-3.0-py3-none-any.whl#sha256=12")
    assert code == 1
    assert "`#sha256=12` of `alpha` is no hash that installers take" in report["findings"][0]["message"]
