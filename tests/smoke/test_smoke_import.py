"""What the child says of a torch that is not there, not whole, or not torch: each told apart."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from envdoctor.adapters.smoke.bundle import write_bundle
from envdoctor.adapters.smoke.supervisor import Supervisor


def asked(folder: Path, body: str | None) -> dict[str, object]:
    """Return the outcome of importing a torch with that body; None for a folder without an ``__init__``."""
    torch = folder / "torch"
    torch.mkdir()
    if body is not None:
        (torch / "__init__.py").write_text(body, encoding="utf-8")
    run = Supervisor(Path(sys.executable), environment={"PYTHONPATH": os.fspath(folder)}).run([])
    return run.outcomes["import-torch"]


@pytest.mark.parametrize("body", ["", None], ids=["stub", "left by an uninstall"])
def test_an_empty_torch_is_not_torch(body: str | None, tmp_path: Path) -> None:
    outcome = asked(tmp_path, body)
    assert outcome["status"] == "crashed"
    assert "is not torch: a stub, or what an uninstall left behind" in str(outcome["note"])
    assert str(tmp_path / "torch") in str(outcome["note"])


def test_a_torch_without_what_it_imports_is_broken_and_not_absent(tmp_path: Path) -> None:
    outcome = asked(tmp_path, "import something_that_torch_needs\n")
    assert outcome["status"] == "crashed"
    assert "something_that_torch_needs" in str(outcome["note"])


@pytest.mark.parametrize("plan", ["{bad", "[]", "{}", '{"items": [{}]}', '{"items": [{"kernel": "gemm-float33"}]}', ""])
def test_a_plan_by_hand_that_is_none_gets_one_line(plan: str, tmp_path: Path) -> None:
    command = [sys.executable, str(write_bundle(tmp_path / "smoke.pyz")), "--plan", plan]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (answer.returncode, answer.stdout) == (2, "")
    assert len(answer.stderr.splitlines()) == 1
    assert "no JSON object" in answer.stderr or "no kernel called gemm-float33" in answer.stderr
