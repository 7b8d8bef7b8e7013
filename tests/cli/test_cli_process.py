"""The process: what it leaves with, and what is done before."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from envdoctor.adapters.apply.durable import deferred
from envdoctor.cli.streams import stopped_like_ctrl_c


def process(before: str, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the command after some lines of Python in the same process."""
    code = f"{before}\nfrom envdoctor.__main__ import run\nrun()"
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, encoding="utf-8", check=False)


def test_what_was_registered_for_the_end_is_done_and_what_it_says_is_said(tmp_path: Path) -> None:
    done = process("import atexit; atexit.register(print, 'at the end')", "--version", folder=tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith("envdoctor ")
    assert done.stdout.endswith("at the end\n")


@pytest.mark.parametrize(
    ("arguments", "code"), [(["rule", "RES001"], 0), (["check", "not-there"], 2), (["no-such-verb"], 2)]
)
def test_it_leaves_with_the_code_of_the_verb_and_all_that_it_said(
    tmp_path: Path, arguments: list[str], code: int
) -> None:
    done = process("", *arguments, folder=tmp_path)
    assert done.returncode == code
    assert (done.stdout if code == 0 else done.stderr).endswith("\n")


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGBREAK"])
def test_being_told_to_end_is_answered_like_ctrl_c_and_not_in_the_middle_of_a_step(name: str) -> None:
    if (number := getattr(signal, name, None)) is None:
        pytest.skip(f"this system has no {name}")
    before = signal.signal(number, signal.SIG_DFL)
    finished = False
    try:
        with pytest.raises(KeyboardInterrupt), stopped_like_ctrl_c(), deferred():
            signal.raise_signal(number)
            finished = True
    finally:
        signal.signal(number, before)
    assert finished


@pytest.mark.parametrize(
    ("stream", "arguments", "code"), [("stderr", ["check", "nowhere"], 2), ("stdout", ["rule"], 0)]
)
def test_the_exit_code_stays_where_nobody_reads(tmp_path: Path, stream: str, arguments: list[str], code: int) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    ends = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, stream: writer}
    try:
        done = subprocess.run([sys.executable, "-m", "envdoctor", *arguments], cwd=tmp_path, **ends)
    finally:
        os.close(writer)
    assert (done.returncode, done.stdout or b"", done.stderr or b"") == (code, b"", b"")


STOPPED_AT_AN_IMPORT = """
import signal, sys

class Finder:
    left = {number}

    def find_spec(self, name, path=None, target=None):
        if "envdoctor.__main__" in sys.modules and self in sys.meta_path:
            self.left -= 1
            if self.left < 0:
                sys.meta_path.remove(self)
                signal.raise_signal(signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Finder())
sys.argv[0] = "{called}"
"""


@pytest.mark.parametrize("called", ["envdoctor", "-c"])
@pytest.mark.parametrize("number", [0, 1, 4, 12, 40, 120])
@pytest.mark.parametrize("verb", ["check", "explain", "host"])
def test_ctrl_c_at_any_import_is_answered_in_one_line(tmp_path: Path, verb: str, number: int, called: str) -> None:
    before = STOPPED_AT_AN_IMPORT.format(number=number, called=called)
    done = process(before, verb, *(["C1"] if verb == "explain" else []), folder=tmp_path)
    assert (done.returncode, done.stderr) == (130, "interrupted; nothing half-done is left behind\n")
