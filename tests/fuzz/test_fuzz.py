"""The fuzzer: what it found stays mended, a short run finds nothing new, and it would see what is wrong."""

from __future__ import annotations

import contextlib
import os
import random
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FINDINGS = sorted(path for path in (ROOT / "fuzz" / "findings").rglob("*") if path.is_file())


def fuzz(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "fuzz", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)


def test_a_short_run_over_every_reader_finds_nothing(tmp_path: Path) -> None:
    """All inputs that were written, all that were found before, and as many new ones as 20 seconds allow."""
    done = fuzz("--inputs", "60", "--seconds", "20", "--keep", str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    last = done.stdout.splitlines()[-1]
    readers, inputs = (int(number) for number in re.findall(r"(\d+) (?:readers|inputs)", last))
    assert readers >= 60
    assert inputs > readers + len(FINDINGS)


def test_every_finding_belongs_to_a_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    from fuzz.readers import all_readers

    readers = list(all_readers())
    assert len({reader.name for reader in readers}) == len(readers)
    assert all(reader.seeds for reader in readers)
    named = {path.parent.name for path in FINDINGS}
    assert named <= {reader.name.replace(" ", "-") for reader in readers}


def test_what_a_reader_does_not_announce_is_a_finding_and_what_it_announces_is_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    from fuzz import running

    def read(data: bytes) -> None:
        if not data.isascii():
            raise ValueError
        int(data.split()[-1])

    monkeypatch.setattr(running, "SLOW", 0.2)
    seeds = (b"one 1\n", b"two 22\n")
    careless = running.attack(running.Reader("demo", read, seeds), random.Random(1), 300, float("inf"))
    assert careless.inputs == 300
    assert {item.what for item in careless.findings.values()} == {"ValueError in ?", "IndexError in ?"}
    announced = (ValueError, IndexError)
    careful = running.attack(running.Reader("demo", read, seeds, announced), random.Random(1), 300, float("inf"))
    assert careful.findings == {}
    assert 0 < careful.refused < 300

    def dawdle(_data: bytes) -> None:
        until = time.process_time() + 0.3
        while time.process_time() < until:
            pass

    slow = running.attack(running.Reader("slow", dawdle, seeds[:1]), random.Random(1), 1, float("inf"))
    assert [item.what for item in slow.findings.values()] == ["takes more than 0.2 s"]


def test_universes_are_solved_as_by_trying_everything_also_by_the_command() -> None:
    command = [sys.executable, "-m", "fuzz.universes", "--count", "300", "--commands", "12"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "300 universes, 60 with conditions" in done.stdout
    assert " through the command" in done.stdout


def test_a_reader_leaves_the_variables_of_its_process_as_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    from fuzz.readers import all_readers

    before = dict(os.environ)
    for reader in all_readers():
        with contextlib.suppress(*reader.announced):
            reader.read(reader.seeds[0])
        assert dict(os.environ) == before, reader.name
