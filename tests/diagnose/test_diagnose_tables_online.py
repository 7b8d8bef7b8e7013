"""The shipped tables against the real index: this fails when the world has moved."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from envdoctor.adapters.index import IndexSettings, open_index

SCRIPT = Path(__file__).parents[2] / "scripts" / "tables.py"


@pytest.mark.online
def test_tables_and_index_agree() -> None:
    spec = importlib.util.spec_from_file_location("tables", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    with open_index(IndexSettings()) as index:
        assert list(script.differences(index)) == []
