"""The real index, whatever pip's configuration says it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from envdoctor.adapters.index import AnyIndex, IndexSettings, open_index

pytestmark = pytest.mark.online


@pytest.fixture
def index(tmp_path: Path) -> Iterator[AnyIndex]:
    with open_index(IndexSettings(cache_dir=tmp_path / "cache")) as made:
        yield made


def test_omegaconf_2_0_6_is_mended(index: AnyIndex) -> None:
    (file,) = [f for f in index.page("omegaconf").files if f.filename == "omegaconf-2.0.6-py3-none-any.whl"]
    metadata = index.metadata(file)
    assert "PyYAML>=5.1" in metadata.requires_dist
    assert metadata.mended == ("PyYAML (>=5.1.*)",)


def test_build_of_a_torch_wheel_is_read_by_range(index: AnyIndex) -> None:
    (file,) = [f for f in index.page("torch").files if f.filename == "torch-2.1.1-cp311-cp311-win_amd64.whl"]
    content = index.read(file, "torch/version.py")
    assert content is not None
    assert b"2.1.1+cpu" in content
