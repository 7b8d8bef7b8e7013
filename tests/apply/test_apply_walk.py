"""Power cuts: the process is killed at points all over a treatment, and a whole state comes back.

Every ``STRIDE``-th point by default; ``ENVDOCTOR_FULL_WALK=1`` takes all of them.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from apply_archives import Served
from apply_world import World, copy_world, make_world

WINDOWS = os.name == "nt"
KILLED = int(signal.SIGTERM) if WINDOWS else -int(getattr(signal, "SIGKILL", 9))
"""On Windows what ``TerminateProcess`` was given; there the installer dies with its job, whoever is killed."""
INTERRUPTED = 0xC000013A if WINDOWS else -int(signal.SIGINT)
STRIDE = 1 if os.environ.get("ENVDOCTOR_FULL_WALK") else 37
_DRIVER = Path(__file__).with_name("apply_driver.py")


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> World:
    return make_world(tmp_path_factory.mktemp("bare") / "pristine", environment=False)


def drive(
    verb: str, world: World, served: Served, *, created: bool = False, **faults: str
) -> tuple[int, dict[str, object]]:
    """Run the driver in a process group of its own."""
    path = os.pathsep.join([str(_DRIVER.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, str(_DRIVER), verb, str(world.root), served.url, "created" if created else "there"],
        env={**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", **faults},
        capture_output=True,
        check=False,
        start_new_session=True,
        timeout=600,
    )
    last = done.stdout.decode().strip().splitlines()[-1:] or ["{}"]
    if done.returncode not in (0, 1, KILLED, INTERRUPTED):
        raise AssertionError(done.stderr.decode())
    if done.returncode == 1 and not last[0].startswith("{"):
        raise AssertionError(done.stderr.decode())
    return done.returncode, json.loads(last[0]) if last[0].startswith("{") else {}


def points(world: World, served: Served, tmp_path: Path, *, created: bool = False) -> int:
    code, answer = drive("apply", copy_world(world, tmp_path / "count"), served, created=created)
    assert (code, answer["failure"]) == (0, None)
    return int(str(answer["points"]))


def finished(world: World) -> bool:
    """Return whether the journal had its last word before the cut."""
    journals = list((world.environment / ".envdoctor/journal").glob("*/events.jsonl"))
    return any('"event":"end"' in path.read_text() for path in journals)


def differences(before: dict[str, tuple[object, ...]], after: dict[str, tuple[object, ...]]) -> list[object]:
    return [(name, before.get(name), after.get(name)) for name in sorted({*before, *after})
            if before.get(name) != after.get(name)]  # fmt: skip


@pytest.mark.parametrize("group", ["", "1"], ids=["process", "process-and-installer"])
def test_walk_over_an_existing_environment(pristine: World, served: Served, tmp_path: Path, group: str) -> None:
    before = pristine.state()
    killed = 0
    for number in range(1, points(pristine, served, tmp_path) + 1, STRIDE):
        world = copy_world(pristine, tmp_path / f"w{number}")
        code, _ = drive("apply", world, served, ENVDOCTOR_CRASH_AT=str(number), ENVDOCTOR_CRASH_GROUP=group)
        killed += code == KILLED
        code, answer = drive("recover", world, served)
        assert (code, answer.get("problems")) == (0, []), number
        # A point after the journal's last word belongs to a fix that is done.
        assert finished(world) or not differences(before, world.state()), number
    assert killed > 0


def test_walk_over_a_new_environment(bare: World, served: Served, tmp_path: Path) -> None:
    before = bare.state()
    for number in range(1, points(bare, served, tmp_path, created=True) + 1, STRIDE):
        world = copy_world(bare, tmp_path / f"w{number}")
        drive("apply", world, served, created=True, ENVDOCTOR_CRASH_AT=str(number))
        code, _ = drive("recover", world, served, created=True)
        assert code == 0
        assert finished(world) or not differences(before, world.state()), number
        assert finished(world) or not world.environment.exists(), number


@pytest.mark.parametrize("created", [False, True], ids=["existing", "new"])
def test_ctrl_c_at_any_point_leaves_what_was_there(
    pristine: World, bare: World, served: Served, tmp_path: Path, created: bool
) -> None:
    given = bare if created else pristine
    before = given.state()
    every = points(given, served, tmp_path, created=created)
    # The first points are those of the journal, which must be whole before anything can be taken back.
    for number in sorted({1, 2, 3, *range(4, every + 1, STRIDE)}):
        world = copy_world(given, tmp_path / f"c{number}")
        code, _ = drive("apply", world, served, created=created, ENVDOCTOR_INTERRUPT_AT=str(number))
        assert code == INTERRUPTED or finished(world), number
        if not finished(world):
            assert not differences(before, world.state()), number
            assert not created or not world.environment.exists(), number
        code, answer = drive("recover", world, served, created=created)
        assert (code, answer.get("problems")) == (0, []), number


def test_a_cut_while_taking_back_is_brought_back_too(pristine: World, served: Served, tmp_path: Path) -> None:
    before = pristine.state()
    at = points(pristine, served, tmp_path) - 4
    probe = copy_world(pristine, tmp_path / "probe")
    drive("apply", probe, served, ENVDOCTOR_CRASH_AT=str(at))
    _, answer = drive("recover", probe, served)
    for number in range(1, int(str(answer["points"])) + 1, max(1, STRIDE // 3)):
        world = copy_world(pristine, tmp_path / f"r{number}")
        drive("apply", world, served, ENVDOCTOR_CRASH_AT=str(at))
        code, _ = drive("recover", world, served, ENVDOCTOR_CRASH_AT=str(number))
        assert code == KILLED
        code, answer = drive("recover", world, served)
        assert (code, answer.get("problems")) == (0, [])
        assert not differences(before, world.state()), number


def test_a_full_disk_at_any_point(pristine: World, served: Served, tmp_path: Path) -> None:
    before = pristine.state()
    for number in range(1, points(pristine, served, tmp_path) + 1, STRIDE):
        world = copy_world(pristine, tmp_path / f"f{number}")
        code, answer = drive("apply", world, served, ENVDOCTOR_FULL_AT=str(number))
        if code == 0:
            continue  # Nothing is written at that point.
        assert "No space left" in str(answer["failure"])
        assert not differences(before, world.state()), number
