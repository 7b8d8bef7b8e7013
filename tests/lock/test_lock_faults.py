"""What goes wrong around `lock` and `check`: a server that dies, portals, full disks, clocks, signals at every step.

Each outcome is clear (an exit code and one message), comes in bounded time, and loses nothing that was there.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from lock_index import LoopbackIndex

from envdoctor.adapters.index import cache as cache_module
from envdoctor.cli.main import main

BOUND = 60
"""Seconds within which a command ends, whatever happens; a machine at work takes its time."""


class Failing(LoopbackIndex):
    """An index that calls ``before`` with the number of each request; what that returns is the answer, if anything."""

    def __init__(self) -> None:
        super().__init__()
        self.requests = 0
        self.before: Callable[[int, str], tuple[int, str, bytes] | None] = lambda _number, _path: None
        for name, requires in (("alpha", ("beta>=1",)), ("beta", ("gamma",)), ("gamma", ())):
            for version in ("1.0", "2.0"):
                self.wheel(name, version, requires)

    def _answer(self, path: str) -> tuple[int, str, bytes]:
        self.requests += 1
        said = self.before(self.requests, path)
        return super()._answer(path) if said is None else said


@pytest.fixture
def failing(index: LoopbackIndex, monkeypatch: pytest.MonkeyPatch) -> Failing:
    made = Failing()
    monkeypatch.setenv("ENVDOCTOR_INDEX_URL", made.url)
    monkeypatch.setenv("ENVDOCTOR_INDEX_TIMEOUT", "5")
    return made


def _whole(project: Path) -> bool:
    """Whether the files of a lock are all there, or none of them."""
    return len({(project / name).exists() for name in ("pylock.toml", "constraints.project.txt")}) == 1


PORTAL = (200, "text/html", b"<!DOCTYPE html><html><body><form action=/login>Please sign in</form></body></html>")


@pytest.mark.parametrize("verb", ["check", "lock"])
@pytest.mark.parametrize("dies_at", range(1, 8))
@pytest.mark.parametrize("how", ["refuses", "portal"])
def test_a_server_that_dies_at_any_request_is_one_message(
    failing: Failing,
    project: Path,
    verb: str,
    dies_at: int,
    how: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    failing.before = lambda number, _path: (
        None if number < dies_at else PORTAL if how == "portal" else (403, "text/plain", b"")
    )
    begun = time.monotonic()
    code = main([verb, str(project), "-q"])
    said = capsys.readouterr()
    assert time.monotonic() - begun < BOUND
    assert code in (0, 3), said
    if failing.requests >= dies_at:
        assert code == 3, said
        assert "Traceback" not in said.err
        assert not (project / "pylock.toml").exists()
        assert said.out + said.err
    failing.before = lambda _number, _path: None
    failing.requests = 0
    assert main([verb, str(project), "-q"]) == 0, "nothing of the fault is kept"


@pytest.mark.parametrize("verb", ["check", "lock"])
def test_a_cache_on_a_full_disk_costs_time_and_nothing_else(
    failing: Failing, project: Path, verb: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    connect = cache_module._connect

    def full(path: Path) -> sqlite3.Connection:
        connection = connect(path)
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count={pages}")
        return connection

    monkeypatch.setattr(cache_module, "_connect", full)
    failing.wheel("alpha", "3.0", ("beta>=1", *(f"x{number}; extra == 'x'" for number in range(3000))))
    assert main([verb, str(project)]) == 0
    said = capsys.readouterr().err
    assert said.count("working without a cache") == 1
    assert "full" in said
    assert verb == "check" or (project / "pylock.toml").exists()


@pytest.mark.skipif(sys.platform == "win32" or not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write")
def test_a_cache_that_may_only_be_read_is_said_once(
    failing: Failing, project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "cache").mkdir(exist_ok=True)
    (tmp_path / "cache").chmod(0o500)
    try:
        assert main(["lock", str(project)]) == 0
    finally:
        (tmp_path / "cache").chmod(0o700)
    assert capsys.readouterr().err.count("working without a cache") == 1


@pytest.mark.parametrize("jump", [-20 * 365 * 86400, -3600, 3600, 20 * 365 * 86400])
def test_a_clock_that_jumps_changes_no_verdict(
    failing: Failing, project: Path, jump: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = time.time
    assert main(["lock", str(project), "-q"]) == 0
    lock = (project / "pylock.toml").read_bytes()
    monkeypatch.setattr(time, "time", lambda: clock() + jump)
    before = failing.requests
    assert main(["lock", str(project), "-q"]) == 0
    assert (project / "pylock.toml").read_bytes() == lock
    assert failing.requests > before, "an answer of another time is asked for again"
    monkeypatch.setattr(time, "time", clock)
    failing.wheel("alpha", "3.0", ("beta>=1",))
    # What was written while the clock was ahead does not hold until that time comes.
    assert main(["lock", str(project), "-q", "--upgrade"]) == 0
    assert b'version = "3.0"' in (project / "pylock.toml").read_bytes()
    capsys.readouterr()


def _run(arguments: list[str], failing: Failing, at: int, number: signal.Signals) -> tuple[int, str]:
    """Run a command that gets a signal while its request of a number is under way."""
    started: list[subprocess.Popen[str]] = []

    def strike(request: int, _path: str) -> None:
        if request == at:
            started[0].send_signal(number)
            time.sleep(0.2)

    failing.before, failing.requests = strike, 0
    started.append(
        subprocess.Popen(
            [sys.executable, "-m", "envdoctor", *arguments],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
    )
    try:
        _, said = started[0].communicate(timeout=BOUND)
    finally:
        started[0].kill()
    return started[0].returncode, said


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signals that a process can be sent")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL], ids=lambda s: s.name)
@pytest.mark.parametrize("verb", ["check", "lock"])
def test_a_signal_at_any_request_leaves_what_was_there(
    failing: Failing, project: Path, verb: str, number: signal.Signals, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = project / "constraints.project.txt"
    for at in (1, 3, 5):
        (project / "requirements.txt").write_text("alpha\n")
        code, said = _run([verb, str(project), "-q"], failing, at, number)
        assert "Traceback" not in said
        assert code in ({0, 130} if number is signal.SIGINT else {0, -number, 128 + number}), said
        assert _whole(project)
        if code:
            assert not kept.exists()
            leftovers = [path.name for path in project.iterdir() if path.name != "requirements.txt"]
            assert leftovers == []
        for name in ("pylock.toml", "constraints.project.txt", "overrides.project.txt"):
            (project / name).unlink(missing_ok=True)
    failing.before = lambda _number, _path: None
    assert main([verb, str(project), "-q"]) == 0, "the cache is still good for work"
    capsys.readouterr()
