"""Where patches find their files: a folder, the wheels that are about to be installed, or one before the other."""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from envdoctor.adapters.apply.paths import PathEscape, fault_of_relative, inside, resolve_inside
from envdoctor.model.candidate import DistributionFile
from envdoctor.ports import ArchiveReader, IndexUnavailable, MetadataUnavailable

__all__ = ["FolderTree", "LayeredTree", "Tree", "WheelTree", "matches"]

_LEFT_OUT = frozenset({".git", ".hg", ".envdoctor", "__pycache__", "node_modules", "site-packages"})
_WILD = re.compile(r"[*?\[]")


class Tree(Protocol):
    """Files by relative path."""

    def match(self, pattern: str) -> list[str]:
        """Return the files that a glob names, sorted. Raises PathEscape."""
        ...

    def read(self, path: str) -> bytes:
        """Return a file's bytes. Raises PathEscape or OSError."""
        ...

    def owner(self, path: str) -> str:
        """Return the distribution that the file belongs to, empty where that is not known."""
        ...


class FolderTree:
    """A folder of this machine; environments and caches inside it are left out of globs."""

    def __init__(self, root: Path, owners: Mapping[str, str] | None = None) -> None:
        self.root = root
        self.owners = owners or {}

    def match(self, pattern: str) -> list[str]:
        """Return the files that a glob names, sorted. Raises PathEscape where one leads out."""
        fault = fault_of_relative(pattern)
        if fault:
            raise PathEscape(f"`{pattern}` {fault}")
        if not _WILD.search(pattern):
            return [self._own_name(pattern)] if resolve_inside(self.root, pattern).is_file() else []
        expression = _expression(pattern)
        found = []
        for folder, names, files in os.walk(self.root):
            here = Path(folder)
            names[:] = [name for name in names if name not in _LEFT_OUT and not (here / name / "pyvenv.cfg").is_file()]
            for name in files:
                relative = (here / name).relative_to(self.root).as_posix()
                if expression.fullmatch(relative):
                    if not inside(here / name, self.root):
                        raise PathEscape(f"`{relative}` is a link that leads out of `{self.root}`")
                    found.append(self._own_name(relative))
        return sorted(set(found))

    def _own_name(self, relative: str) -> str:
        """Return the file's own name in the folder, by which one file is one whatever leads to it."""
        return resolve_inside(self.root, relative).relative_to(os.path.realpath(self.root)).as_posix()

    def read(self, path: str) -> bytes:
        """Return a file's bytes."""
        return resolve_inside(self.root, path).read_bytes()

    def owner(self, path: str) -> str:
        """Return the distribution that lists the file."""
        return self.owners.get(path, "")


class WheelTree:
    """What wheels of an index will put into site-packages, read out of them by range."""

    def __init__(self, files: Sequence[DistributionFile], archives: ArchiveReader) -> None:
        self.files = files
        self.archives = archives
        self._members: dict[str, tuple[DistributionFile, str]] = {}
        self._read: set[str] = set()

    def match(self, pattern: str) -> list[str]:
        """Return the files that a glob names."""
        self._load(pattern)
        expression = _expression(pattern)
        return sorted(path for path in self._members if expression.fullmatch(path))

    def read(self, path: str) -> bytes:
        """Return a file's bytes."""
        file, member = self._members[path]
        try:
            data = self.archives.read(file, member)
        except (MetadataUnavailable, IndexUnavailable) as error:
            unknown = error.unknown
            raise OSError(f"{unknown.file or file.filename}: {unknown.cause or unknown.kind.value}") from None
        if data is None:
            raise OSError(f"`{member}` is not in {file.filename}")
        return data

    def owner(self, path: str) -> str:
        """Return the distribution that brings the file."""
        return str(self._members[path][0].project) if path in self._members else ""

    def _load(self, pattern: str) -> None:
        """Look into the wheels whose name the pattern's first folder suggests, then into the rest."""
        top = pattern.partition("/")[0].lower().replace("_", "-")
        for file in sorted(self.files, key=lambda item: item.project != top):
            if file.filename in self._read:
                continue
            self._read.add(file.filename)
            try:
                names = self.archives.names(file)
            except (MetadataUnavailable, IndexUnavailable):
                continue
            for member in names:
                path = _installed_path(member)
                if path is not None:
                    self._members.setdefault(path, (file, member))
            if any(_expression(pattern).fullmatch(path) for path in self._members) and not _WILD.search(top):
                return


class LayeredTree:
    """Several trees, the first that has a file gives it."""

    def __init__(self, trees: Iterable[Tree]) -> None:
        self.trees = tuple(trees)

    def match(self, pattern: str) -> list[str]:
        """Return the files that a glob names in any of them."""
        return sorted({path for tree in self.trees for path in tree.match(pattern)})

    def read(self, path: str) -> bytes:
        """Return a file's bytes."""
        return self._first(path).read(path)

    def owner(self, path: str) -> str:
        """Return the distribution that the file belongs to."""
        return self._first(path).owner(path)

    def _first(self, path: str) -> Tree:
        return next((tree for tree in self.trees if path in tree.match(path)), self.trees[-1])


def _installed_path(member: str) -> str | None:
    """Return where a wheel's member ends up in site-packages, None for what goes elsewhere."""
    top, _, rest = member.partition("/")
    if top.endswith(".data"):
        scheme, _, inner = rest.partition("/")
        return inner if scheme in ("purelib", "platlib") and inner else None
    return member if member and not member.endswith("/") else None


def matches(pattern: str, path: str) -> bool:
    """Return whether a glob names a path; both relative, with forward slashes."""
    return _expression(pattern).fullmatch(path) is not None


def _expression(pattern: str) -> re.Pattern[str]:
    """Return a glob as an expression: ``**`` is any number of folders, ``*`` stays within one."""
    parts = []
    for part in pattern.split("/"):
        if part == "**":
            parts.append("(?:[^/]+/)*")
        else:
            body = fnmatch.translate(part)
            inner = re.sub(r"^\(\?s:(.*)\)\\[zZ]$", r"\1", body).replace(".*", "[^/]*")
            parts.append(inner + "/")
    text = "".join(parts)
    return re.compile(text.removesuffix("/") if not pattern.endswith("**") else text + "[^/]+")
