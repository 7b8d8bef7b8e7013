"""A peer's resolver scenarios through the command itself: an index on a port, `check` and `lock`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from scenario_index import judge

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SCENARIOS = sorted((Path(__file__).parents[3] / "shared" / "packse").glob("*.toml"))
if not SCENARIOS:
    pytest.skip("the scenarios are not beside this checkout", allow_module_level=True)


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_scenario(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario = tomllib.loads(path.read_text(encoding="utf-8"))
    judge(scenario, tmp_path, monkeypatch, capsys)
