"""Projects inside a project: files of its folders that say what is needed."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from pathlib import Path

from envdoctor.adapters.project.discovery import is_list
from envdoctor.adapters.project.sources import is_left_alone

__all__ = ["nested_files"]

_NAMES = frozenset({"pyproject.toml", "pixi.toml", "pipfile", "environment.yml", "environment.yaml"})
_SAYS_WHAT_IS_NEEDED = ("[project]", "[tool.poetry", "[tool.pdm", "[tool.pixi", "[dependency-groups]")
_DEEPEST = 3
_MOST_FOLDERS = 2_000
_MOST_FILES = 40
_LONGEST = 64 * 1024


def nested_files(root: Path, read: Collection[Path]) -> tuple[Path, ...]:
    """Return the files of the folders below that say what is needed, but those that were read."""
    found: list[Path] = []
    for path in _listed(root):
        if path not in read and _describes(path):
            found.append(path)
        if len(found) >= _MOST_FILES:
            break
    return tuple(found)


def _listed(root: Path) -> Iterator[Path]:
    for folders_seen, (directory, folders, names) in enumerate(os.walk(root)):
        here = Path(directory)
        depth = len(here.relative_to(root).parts)
        if folders_seen >= _MOST_FOLDERS:
            return
        folders[:] = sorted(name for name in folders if depth < _DEEPEST and not _hidden(here / name))
        if depth and here != root / "requirements":
            yield from (here / name for name in sorted(names))


def _hidden(folder: Path) -> bool:
    return folder.name.startswith(".") or is_left_alone(folder)


def _describes(path: Path) -> bool:
    name = path.name.lower()
    if name == "pyproject.toml":
        try:
            with path.open(encoding="utf-8", errors="replace") as stream:
                start = stream.read(_LONGEST)
        except OSError:
            return False
        return any(mark in start for mark in _SAYS_WHAT_IS_NEEDED)
    return is_list(path) or name in _NAMES
