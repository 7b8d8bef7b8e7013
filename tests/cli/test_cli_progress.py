"""Progress: bars on a terminal that leave nothing behind."""

from __future__ import annotations

import io
import sys

import pytest

from envdoctor.cli import progress as module
from envdoctor.cli.progress import StderrProgress, open_progress
from envdoctor.ports import SilentProgress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def show_to(monkeypatch: pytest.MonkeyPatch, stream: io.StringIO) -> None:
    """Put a stream in stderr's place; in a fixture, pytest would take it back before the test begins."""
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)


def test_long_work_is_drawn_and_wiped(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    show_to(monkeypatch, terminal)
    monkeypatch.setattr(module, "_QUIET_FOR_S", 0)
    bars = open_progress(quiet=False)
    assert isinstance(bars, StderrProgress)
    bars.start("metadata", 10)
    bars.advance("metadata", 3, "[red]torch\x1b[2J")
    bars.advance("search")
    sys.stderr.write("note: one line\n")
    bars.finish("search")
    bars.close()
    assert sys.stderr is terminal
    said = terminal.getvalue()
    assert "3/10 [red]torch[2J" in said
    assert "note: one line" in said
    assert "\x1b[2J" not in said
    assert said.count("\x1b[?25l") == said.count("\x1b[?25h") == 1
    bars.close()
    assert terminal.getvalue() == said


def test_quick_work_leaves_no_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    show_to(monkeypatch, terminal)
    bars = open_progress(quiet=False)
    assert isinstance(bars, StderrProgress)
    bars.start("metadata", 10)
    bars.advance("metadata")
    bars.close()
    assert terminal.getvalue() == ""


@pytest.mark.parametrize("why", ["quiet", "dumb", "pipe"])
def test_nothing_is_drawn_where_nobody_sees_it(monkeypatch: pytest.MonkeyPatch, why: str) -> None:
    show_to(monkeypatch, io.StringIO() if why == "pipe" else Terminal())
    if why == "dumb":
        monkeypatch.setenv("TERM", "dumb")
    assert isinstance(open_progress(quiet=why == "quiet"), SilentProgress)
