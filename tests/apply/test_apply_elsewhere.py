"""`fix --dry-run` for another machine: all that is done there is shown here, and nothing is changed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from apply_archives import Served, as_index, serve
from apply_commands import STACK, Fix
from apply_world import tree_state

pytestmark = pytest.mark.usefixtures("quiet_machine")
_ELSEWHERE = ("--target-os", "macos", "--target-arch", "arm64")


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with serve(as_index(*STACK)) as it:
        yield it


def test_the_plan_of_another_machine_is_shown_with_its_patches(
    fix: Fix, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fix(*_ELSEWHERE, "--dry-run", "--format", "json") == 0
    out, err = capsys.readouterr()
    assert "note: the target is macos arm64, and this machine is" in err
    steps = json.loads(out)["steps"]
    assert {step["path"]: step["patches"] for step in steps if step["kind"] == "patch-file"} == {
        "app.py": ["calm"],
        "gamma.py": ["inner"],
    }
    assert "install-from-lock" in {step["kind"] for step in steps}
    (made,) = [step for step in steps if step["kind"] == "create-environment"]
    assert made["interpreter"] == ""
    assert fix(*_ELSEWHERE, "--dry-run") == 0
    assert "(that machine's own, uv)" in " ".join(capsys.readouterr().out.split())
    before = {name: value for name, value in tree_state(project).items() if name != "small.toml"}
    assert fix(*_ELSEWHERE, "--yes") == 1
    assert "`fix` does not" in capsys.readouterr().err
    assert {name: value for name, value in tree_state(project).items() if name != "small.toml"} == before


def test_a_patch_that_does_not_fit_is_refused_there_too(
    fix: Fix, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "app.py").write_text("print('changed')\n", "utf-8")
    assert fix(*_ELSEWHERE, "--dry-run") == 1
    assert "patch `calm`" in capsys.readouterr().out


def test_patches_are_shown_where_nothing_can_be_locked(
    fix: Fix, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "requirements.txt").write_text("epsilon\ngamma\nthere-is-no-such-thing\n", "utf-8")
    before = {name: value for name, value in tree_state(project).items() if name != "small.toml"}
    for options in (_ELSEWHERE, ()):
        assert fix(*options, "--dry-run") == 1
        out, err = capsys.readouterr()
        assert "there-is-no-such-thing" in err
        assert "patch `app.py` (calm)" in out
        assert "+    import deepspeed" in out
        assert "gamma.py" not in out
    assert {name: value for name, value in tree_state(project).items() if name != "small.toml"} == before
