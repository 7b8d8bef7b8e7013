"""`undo` that is stopped: by a power cut, by a full disk, by Ctrl-C, at points all over it.

Whatever stopped it, another `undo` ends the work, and what was there before the fix is there again.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from apply_archives import Served
from apply_world import World, make_world, site_of
from test_apply_walk import KILLED, STRIDE, WINDOWS, differences, drive

WAYS = {
    "power cut": ("ENVDOCTOR_CRASH_AT", KILLED),
    "full disk": ("ENVDOCTOR_FULL_AT", 1),
}
"""By what stops it: the variable that plants it, and the exit code."""


@pytest.fixture
def fixed(served: Served, tmp_path: Path) -> Fixed:
    world = make_world(tmp_path / "world")
    before = world.state()
    code, answer = drive("apply", world, served)
    assert (code, answer["failure"]) == (0, None)
    shutil.copytree(world.root, tmp_path / "kept", symlinks=True)
    return Fixed(world, tmp_path / "kept", before)


class Fixed(NamedTuple):
    """A world after a fix, a copy of it, and how it was before the fix."""

    world: World
    kept: Path
    before: dict[str, tuple[object, ...]]

    def again(self) -> None:
        """Bring the fixed state back, to where it was: a journal names whole paths."""
        shutil.rmtree(self.world.root)
        shutil.copytree(self.kept, self.world.root, symlinks=True)


def undo(world: World, **faults: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "envdoctor", "undo", "--env", str(world.environment)]
    return subprocess.run(
        [*command, "--project", str(world.project)],
        env={**os.environ, **faults},
        capture_output=True,
        text=True,
        timeout=600,
        # A shell that starts in the background ignores Ctrl-C, and so would its children.
        preexec_fn=None if WINDOWS else lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


@pytest.mark.parametrize("number", [1, 2, 3, 40, 80])
def test_ctrl_c_waits_for_the_end_of_an_undo(fixed: Fixed, number: int) -> None:
    """Half taken back would be neither the one state nor the other; it takes a moment."""
    done = undo(fixed.world, ENVDOCTOR_INTERRUPT_AT=str(number))
    assert (done.returncode, done.stderr.startswith("took back")) == (0, True), done.stderr
    assert not differences(fixed.before, fixed.world.state())


@pytest.mark.parametrize("way", WAYS)
def test_an_undo_that_is_stopped_anywhere_is_ended_by_the_next(fixed: Fixed, way: str) -> None:
    variable, code = WAYS[way]
    stopped = 0
    for number in (1, 2, 3, *range(4, 400, STRIDE)):
        fixed.again()
        first = undo(fixed.world, **{variable: str(number)})
        assert "Traceback" not in first.stderr, number
        if first.returncode == 0:
            assert not differences(fixed.before, fixed.world.state()), number
            if way != "full disk":
                break  # It has fewer points than that.
            continue  # Nothing is written at that point.
        stopped += 1
        assert first.returncode == code, (number, first.stderr)
        assert way == "power cut" or first.stderr.strip(), number
        second = undo(fixed.world)
        assert second.returncode == 0, (number, second.stderr)
        assert not differences(fixed.before, fixed.world.state()), number
    assert stopped > 0


def test_what_a_stopped_undo_of_a_new_environment_put_aside_is_named_by_the_next(
    served: Served, tmp_path: Path
) -> None:
    world = make_world(tmp_path / "world", environment=False)
    code, answer = drive("apply", world, served, created=True)
    assert (code, answer["failure"]) == (0, None)
    (site_of(world.environment) / "mine.py").write_text("A = 1\n")
    shutil.copytree(world.root, tmp_path / "kept", symlinks=True)
    fixed = Fixed(world, tmp_path / "kept", {})
    for number in range(1, 12, 2):
        fixed.again()
        if undo(world, ENVDOCTOR_CRASH_AT=str(number)).returncode == 0:
            assert number > 5, "it has fewer points than are tried"
            break
        second = undo(world)
        assert second.returncode == 0, (number, second.stderr)
        assert not world.environment.exists(), number
        (mine,) = world.root.glob("**/mine.py")
        assert f"is kept in `{world.environment}-kept-" in second.stderr, number
        assert mine.is_relative_to(next(world.root.glob("*-kept-*"))), number
