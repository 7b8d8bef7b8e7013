from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from lock_index import LoopbackIndex


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackIndex]:
    """An index with alpha (which asks for beta) and pip, taken for the default one; nothing is cached between tests."""
    for variable in ("ENVDOCTOR_INDEX_RECORDED", "ENVDOCTOR_INDEX_RECORD"):
        monkeypatch.delenv(variable, raising=False)
    made = LoopbackIndex()
    monkeypatch.setenv("ENVDOCTOR_INDEX_URL", made.url)
    monkeypatch.setenv("ENVDOCTOR_CACHE_DIR", str(tmp_path / "cache"))
    for name, version, requires in (
        ("alpha", "1.0", ("beta>=1",)),
        ("alpha", "2.0", ("beta>=1",)),
        ("beta", "1.0", ()),
        ("beta", "2.0", ()),
        ("pip", "25.0", ()),
    ):
        made.wheel(name, version, requires)
    yield made
    made.close()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "requirements.txt").write_text("alpha\n", encoding="utf-8")
    return folder
