"""What choosing among a project's files needs of them, by column: thousands of files, a handful of distinct answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from typing import Protocol, TypeVar, overload

from packaging.version import Version

from envdoctor.model.dataclass import dataclass

__all__ = ["FileTable", "Kind", "TabledFiles", "table_of", "tags_of"]


class Listed(Protocol):
    """What the columns of a page are made of; a DistributionFile is one."""

    @property
    def version(self) -> Version:
        """The file's version."""
        ...

    @property
    def filename(self) -> str:
        """The file's name, without folders."""
        ...

    @property
    def requires_python(self) -> str | None:
        """``Requires-Python`` as the index gives it."""
        ...

    @property
    def yanked(self) -> str | None:
        """The reason where the file is yanked, else None."""
        ...


FileT = TypeVar("FileT")

Kind = tuple[str | None, str | None]
"""Wheel tags as its file name has them (``cp311-cp311-win_amd64``; empty where it has no three), None for an sdist;
and Requires-Python."""


@dataclass(frozen=True, slots=True)
class FileTable:
    """The columns of a page that decide which of its files a target can use; a row is an index into the files."""

    versions: tuple[Version, ...]
    """Distinct versions, oldest first."""
    kinds: tuple[Kind, ...]
    """Distinct pairs."""
    version_of: Sequence[int]
    """Per row, an index into ``versions``."""
    kind_of: Sequence[int]
    """Per row, an index into ``kinds``."""
    only_pinned: frozenset[int] = frozenset()
    """Rows that a version must be pinned for: yanked files, and stand-ins for builds of which nobody knows."""
    _rows: dict[int, list[int]] = field(default_factory=dict, compare=False, repr=False)

    def rows_of(self, version: Version) -> Sequence[int]:
        """Return the rows of one version."""
        if not self._rows:
            for row, number in enumerate(self.version_of):
                self._rows.setdefault(number, []).append(row)
        for number in reversed(range(len(self.versions))):
            if self.versions[number] == version:
                return self._rows.get(number, ())
        return ()


class TabledFiles(Sequence[FileT]):
    """The files of a page, each made when it is first looked at."""

    __slots__ = ("_made", "_make", "table")

    def __init__(self, table: FileTable, make: Callable[[int], FileT]) -> None:
        self.table = table
        self._make = make
        self._made: dict[int, FileT] = {}

    def __len__(self) -> int:
        return len(self.table.version_of)

    @overload
    def __getitem__(self, row: int) -> FileT: ...

    @overload
    def __getitem__(self, row: slice) -> tuple[FileT, ...]: ...

    def __getitem__(self, row: int | slice) -> FileT | tuple[FileT, ...]:
        if isinstance(row, slice):
            return tuple(self[number] for number in range(*row.indices(len(self))))
        made = self._made.get(row)
        if made is None:
            number = range(len(self))[row]
            made = self._made.get(number) or self._made.setdefault(number, self._make(number))
        return made

    def __iter__(self) -> Iterator[FileT]:
        return (self[row] for row in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(mine == theirs for mine, theirs in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"<{len(self)} files>"


def table_of(files: Sequence[Listed]) -> FileTable:
    """Return the columns of a page's files."""
    if isinstance(files, TabledFiles):
        return files.table
    versions = tuple(sorted({file.version for file in files}))
    numbers = {version: number for number, version in enumerate(versions)}
    kinds: dict[Kind, int] = {}
    return FileTable(
        versions=versions,
        version_of=[numbers[file.version] for file in files],
        kind_of=[kinds.setdefault((tags_of(file.filename), file.requires_python), len(kinds)) for file in files],
        kinds=tuple(kinds),
        only_pinned=frozenset(row for row, file in enumerate(files) if file.yanked is not None),
    )


def tags_of(filename: str) -> str | None:
    """Return a wheel's tags as its file name has them, an empty text where it has no three, None for an sdist."""
    if not filename.endswith(".whl"):
        return None
    third = filename.rfind("-", 0, filename.rfind("-", 0, filename.rfind("-")))
    return filename[third + 1 : -len(".whl")] if third > 0 else ""
