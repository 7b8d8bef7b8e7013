"""The text files of a project checkout, for the rules that look at sources."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path

from envdoctor.adapters.project.decoding import NotText, decode, impostor
from envdoctor.model.project import SourceFile

__all__ = ["CheckoutSources", "is_left_alone", "open_sources"]

_SKIPPED = frozenset(
    {".git", ".hg", ".svn", "site-packages", "dist-packages", "node_modules", "build", "dist", "__pycache__", ".tox",
     ".nox", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".eggs", ".venv", "venv", "env", ".envdoctor",
     ".ipynb_checkpoints"}
)  # fmt: skip
_ENVIRONMENT_MARKS = ("pyvenv.cfg", "conda-meta")
_LARGEST = 1024 * 1024
_LARGEST_NOTEBOOK = 8 * 1024 * 1024
_MOST_FILES = 20_000
_DEEPEST = 40


class CheckoutSources:
    """Reads files below one directory and nothing else; links that leave it are not followed."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()
        self._files: dict[str, bool] | None = None

    def python_files(self) -> Iterator[SourceFile]:
        """Yield the project's Python files in the order of their paths; environments and caches are left out."""
        for path, plain in self._listed().items():
            if path.endswith((".py", ".pyw")):
                # A plain file below folders that are no links lies inside, without a look at each folder again.
                source = self._source(path, self._root / path) if plain else self.read(path)
                if source is not None:
                    yield source

    def read(self, path: str) -> SourceFile | None:
        """Return one file by its path relative to the root, None where it is not there, too large or not text."""
        try:
            inside = (self._root / path.replace("\\", "/")).resolve()
            if not inside.is_relative_to(self._root):
                return None
        except (OSError, RuntimeError, ValueError):
            return None
        return self._source(Path(path.replace("\\", "/")).as_posix(), inside)

    def _source(self, name: str, file: Path) -> SourceFile | None:
        try:
            status = file.stat()
            if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST:
                return None
            data = file.read_bytes()
            if impostor(data, json_refused=False) is not None:
                return None
            return SourceFile(name, decode(data).text)
        except (OSError, ValueError, NotText):
            return None

    def glob(self, pattern: str) -> Iterator[str]:
        """Yield relative paths that match: ``*`` within a folder, ``**`` across folders."""
        wanted = pattern.replace("\\", "/").strip("/").split("/")
        # Most patterns end in a name: few paths end so, too.
        end = "" if re.search(r"[*?\[]", wanted[-1]) else wanted[-1].lower()
        for path in self._listed():
            if path.lower().endswith(end) and _matches(path.split("/"), wanted):
                yield path

    def _listed(self) -> Mapping[str, bool]:
        """Return the paths of all files, in their order, each with whether it is known to be no link."""
        if self._files is None:
            self._files = dict(sorted(self._walk()))
        return self._files

    def _walk(self) -> Iterator[tuple[str, bool]]:
        count = 0
        for directory, folders, names in os.walk(self._root):
            here = Path(directory)
            relative = here.relative_to(self._root)
            folders[:] = sorted(folder for folder in folders if self._enters(here / folder, len(relative.parts)))
            start = f"{relative.as_posix()}/" if relative.parts else ""
            for name in sorted(names):
                count += 1
                if count > _MOST_FILES:
                    return
                # Elsewhere a folder can be a junction, which nothing here tells from a folder.
                yield start + name, os.name == "posix" and not os.path.islink(here / name)  # noqa: PTH114

    def _enters(self, folder: Path, depth: int) -> bool:
        # os.walk does not descend into links to folders.
        return depth < _DEEPEST and not is_left_alone(folder)


def is_left_alone(folder: Path) -> bool:
    """Return whether a folder holds no sources of the project: an environment, a cache, what a build left."""
    if folder.name in _SKIPPED or folder.name.endswith(".egg-info"):
        return True
    # A folder that may not be looked into is entered and yields nothing; `exists` raises there.
    return any(os.path.exists(folder / mark) for mark in _ENVIRONMENT_MARKS)


def _matches(parts: list[str], wanted: list[str]) -> bool:
    if not wanted:
        return not parts
    if wanted[0] == "**":
        return any(_matches(parts[at:], wanted[1:]) for at in range(len(parts) + 1))
    return bool(parts) and fnmatch(parts[0], wanted[0]) and _matches(parts[1:], wanted[1:])


def open_sources(root: Path) -> CheckoutSources | NotebookSources:
    """Open a checkout's text files, or the cells of a notebook; nothing is read before it is asked for."""
    return NotebookSources(root) if root.suffix.lower() == ".ipynb" else CheckoutSources(root)


class NotebookSources:
    """The cells of one notebook as a Python file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def python_files(self) -> Iterator[SourceFile]:
        """Yield the cells, one file by the notebook's name."""
        found = self.read(self._path.name)
        if found is not None:
            yield found

    def read(self, path: str) -> SourceFile | None:
        """Return the cells, None for any other path or where they cannot be read."""
        from envdoctor.adapters.project.notebook import python_of

        if path != self._path.name:
            return None
        try:
            if self._path.stat().st_size > _LARGEST_NOTEBOOK:
                return None
            text = python_of(decode(self._path.read_bytes()).text)
        except (OSError, NotText):
            return None
        return SourceFile(path, text) if text is not None else None

    def glob(self, pattern: str) -> Iterator[str]:
        """Yield the notebook's name where it matches."""
        if _matches([self._path.name], pattern.replace("\\", "/").strip("/").split("/")):
            yield self._path.name
