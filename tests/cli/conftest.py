"""A copy of the example to write into."""

import shutil
from pathlib import Path

import pytest

from song_maker import EXAMPLE


@pytest.fixture
def example(tmp_path: Path) -> Path:
    return Path(shutil.copytree(EXAMPLE, tmp_path / "song-maker", ignore=shutil.ignore_patterns("recorded-index")))
