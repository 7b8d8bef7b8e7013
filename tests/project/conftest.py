"""A project in a temporary folder, written and read in one call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from envdoctor.adapters.project import read_project
from envdoctor.model.project import GroupChoice, Project

ReadFiles = Callable[..., Project]


@pytest.fixture
def read_files(tmp_path: Path) -> ReadFiles:
    """Write files, given by path and text or bytes, then read the folder (or ``at`` one of them)."""

    def read(contents: Mapping[str, str | bytes], *, at: str = "", **options: Any) -> Project:
        for name, content in contents.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        options.setdefault("variables", {})
        if "groups" in options:
            options["choice"] = GroupChoice(either=tuple(options.pop("groups")))
        return read_project(tmp_path / at if at else tmp_path, **options)

    return read
