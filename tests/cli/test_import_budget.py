"""What a command may import: start-up is paid on every call, and a hook pays it on every commit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "song-maker"

PROBE = """
import json, sys
from envdoctor.cli.main import main
code = main(sys.argv[1:])
print("\\n" + json.dumps([code, sorted(name for name in sys.modules if "." not in name)]))
"""
"""Runs a command in a fresh interpreter and prints what it has imported on a last line."""

START_UP = {
    "elftools",
    "httpx",
    "jsonschema",
    "libcst",
    "macholib",
    "nab_resolver",
    "pefile",
    "pip_api",
    "pydantic",
    "resolvelib",
    "rich",
    "ssl",
    "torch",
}
DIAGNOSIS = {"elftools", "httpx", "libcst", "macholib", "pefile", "pip_api", "pydantic", "resolvelib", "rich", "torch"}


def imported(*arguments: str) -> tuple[int, set[str]]:
    result = subprocess.run(
        [sys.executable, "-c", PROBE, *arguments], capture_output=True, encoding="utf-8", check=True, timeout=120
    )
    code, names = json.loads(result.stdout.splitlines()[-1])
    return code, set(names)


REMEMBERED = START_UP | {
    "collections",
    "dataclasses",
    "hashlib",
    "inspect",
    "json",
    "packaging",
    "pathlib",
    "re",
    "typer",
}
"""What an answer that is given again does without; each takes longer to load than all that it needs."""

WITHOUT_LOADING = """
import sys
from envdoctor.cli.main import main
code = main(sys.argv[1:])
sys.stdout.write("\\n" + " ".join([str(code), *(name for name in sys.modules if "." not in name)]))
"""


@pytest.mark.skipif(os.name != "posix", reason="answers are kept where folders have trustworthy times")
def test_an_answer_that_is_given_again_loads_next_to_nothing(tmp_path: Path) -> None:
    (tmp_path / "site-packages" / "lib-1.0.dist-info").mkdir(parents=True)
    (tmp_path / "site-packages" / "lib-1.0.dist-info" / "METADATA").write_text("Name: lib\nVersion: 1.0\n", "utf-8")
    command = [sys.executable, "-S", "-c", WITHOUT_LOADING, "check", "--env", str(tmp_path / "site-packages")]
    # `site` of some environments loads much by itself.
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path[1:])}
    for _ in range(2):
        time.sleep(2.1)
        done = subprocess.run(command, capture_output=True, encoding="utf-8", env=variables, check=True, timeout=60)
    code, *names = done.stdout.splitlines()[-1].split()
    assert code == "0"
    assert "envdoctor" in names
    assert not set(names) & REMEMBERED


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
        "--profile",
        "diffrhythm2-directml",
        "--recorded-index",
        str(EXAMPLE / "recorded-index"),
        "--format",
        "json",
        "--output",
        str(report),
    )
    assert code == 1
    assert report.is_file()
    assert "nab_resolver" in names
    assert not names & DIAGNOSIS
