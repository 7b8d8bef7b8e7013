"""Worlds and a server for the tests of treatments."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from apply_archives import Served, serve
from apply_world import EVERYTHING, World, copy_world, make_world


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with serve(dict(EVERYTHING)) as it:
        yield it


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> World:
    return make_world(tmp_path_factory.mktemp("treatment") / "pristine")


@pytest.fixture
def world(pristine: World, tmp_path: Path) -> World:
    return copy_world(pristine, tmp_path / "world")
