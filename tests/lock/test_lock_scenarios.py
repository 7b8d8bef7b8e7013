"""Scenarios of our own through the command itself: an index on a port, `check`, `lock` and `lock --check`."""

from __future__ import annotations

from pathlib import Path

import pytest
from scenario_index import judge
from scenarios import SCENARIOS


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenario(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    judge(SCENARIOS[name].document(), tmp_path, monkeypatch, capsys)
