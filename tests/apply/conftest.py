"""Worlds and a server for the tests of treatments."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from apply_archives import Served, serve
from apply_commands import Fix, profile
from apply_world import BASE, EVERYTHING, UV, World, copy_world, make_world

from envdoctor.cli.main import main


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


@pytest.fixture
def quiet_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing that this machine has configured."""
    monkeypatch.setenv("UV", UV)
    monkeypatch.setenv("ENVDOCTOR_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.delenv("ENVDOCTOR_INDEX_URL", raising=False)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "requirements.txt").write_text("epsilon\ngamma\n", encoding="utf-8")
    (folder / "app.py").write_text("import deepspeed\n", encoding="utf-8")
    return folder


@pytest.fixture
def fix(project: Path, served: Served) -> Fix:
    def call(*arguments: str, more: str = "", index: str | None = None) -> int:
        return main(
            ["fix", str(project), "--profile", profile(project, more), "--index-url", index or f"{served.url}simple/",
             "--python", BASE, *arguments]
        )  # fmt: skip

    return call
