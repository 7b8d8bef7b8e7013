"""What a command may import: start-up is paid on every call, and a hook pays it on every commit."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.version import Version

from song_maker import EXAMPLE, ON_ITS_INDEX

PROBE = """
import json, sys
from envdoctor.cli.main import main
code = main(sys.argv[1:])
print("\\n" + json.dumps([code, sorted(sys.modules)]))
"""
"""Runs a command in a fresh interpreter and prints what it has imported on a last line."""

START_UP = {
    "elftools",
    "httpx",
    "jsonschema",
    "libcst",
    "macholib",
    "nab_resolver",
    "packaging.tags",
    "pefile",
    "pip_api",
    "pydantic",
    "resolvelib",
    "rich",
    "ssl",
    "torch",
    "yaml",
}
if Version(version("packaging")) < Version("26.4"):
    START_UP.remove("packaging.tags")  # Its own module of specifiers asked for it before.
DIAGNOSIS = {"elftools", "httpx", "libcst", "macholib", "pefile", "pip_api", "pydantic", "rich", "torch", "yaml"}


def imported(*arguments: str) -> tuple[int, set[str]]:
    result = subprocess.run(
        [sys.executable, "-c", PROBE, *arguments], capture_output=True, encoding="utf-8", check=True, timeout=120
    )
    code, names = json.loads(result.stdout.splitlines()[-1])
    return code, set(names)


@pytest.mark.parametrize("arguments", [("--version",), ("--help",), ("check", "--help")], ids=" ".join)
def test_starting_up_imports_nothing_heavy(arguments: tuple[str, ...]) -> None:
    code, names = imported(*arguments)
    assert code == 0
    assert not names & START_UP


def test_a_diagnosis_imports_only_what_it_uses(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    code, names = imported(
        "check",
        str(EXAMPLE),
        *ON_ITS_INDEX,
        "--format",
        "json",
        "--output",
        str(report),
    )
    assert code == 1
    assert report.is_file()
    assert "nab_resolver" in names
    assert not names & DIAGNOSIS


@pytest.mark.parametrize(
    "arguments", [("rule",), ("rule", "RES001"), ("profiles", "list"), ("host", "--format", "json")], ids=" ".join
)
def test_what_goes_to_a_pipe_or_a_program_is_not_drawn(arguments: tuple[str, ...]) -> None:
    code, names = imported(*arguments)
    assert code == 0
    assert not names & {"rich", "yaml", "torch"}


def test_a_hook_without_conflicts_draws_nothing_and_asks_nobody(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("")
    code, names = imported("check", str(tmp_path), "--offline", "--quiet")
    assert code == 3
    assert not names & (DIAGNOSIS | {"hashlib", "packaging.pylock", "socket", "tempfile"})
