"""Pages in the cache's compact form, and how they are read; ``page_encoding`` writes it.

What choosing among files needs (versions, tags, ``requires-python``, yanked) is stored in columns of small numbers
that point into short lists, versions already in order: a page of thousands of files is at hand after a few
microseconds. The rest is read of one file at a time, at its place. Nothing is packed: what is long in a page are
digests, which no packing makes shorter.

Layout, numbers little endian: the format's byte; CRC-32 of what follows it and the length of the head (4 bytes each);
the head, which is JSON; then a column after the other: numbers of stem and kind (4 bytes a file each), marks of
sidecars (1), sizes (8), SHA-256 (32), folders (their 32 bytes where they are made of a digest, else a number of 4),
times as text (of one length), SHA-256 of sidecars (32, where any has one). A stem is a file's name without its tags.
"""

from __future__ import annotations

import json
import struct
import sys
import zlib
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from packaging.utils import NormalizedName
from packaging.version import Version

from envdoctor.model.candidate import DistributionFile, FileKind, ProjectPage
from envdoctor.model.file_table import FileTable, TabledFiles

__all__ = [
    "DIGEST",
    "FOLDER",
    "FORMAT",
    "NOT_A_PAGE",
    "SIDE_BARE",
    "SIDE_HASHED",
    "SIDE_NONE",
    "SIDE_ODD",
    "Pairs",
    "decode_page",
    "pairs_of",
    "version_of",
]

NOT_A_PAGE = (ValueError, KeyError, TypeError, IndexError, zlib.error, struct.error)
"""What reading damaged bytes may raise."""
Pairs = tuple[tuple[str, str], ...]
FORMAT = 4
_START = struct.Struct("<BII")
_CHECKED = 5
"""Where what the checksum covers begins."""
_SIZE = struct.Struct("<q")
_NUMBER = struct.Struct("<I")
DIGEST = 32
FOLDER = 68
"""Characters of a folder that is a digest: ``/ab/cd/``, the other 60 digits, ``/``."""
_RARE = ("y", "m", "x", "w", "z")
"""Keys of the head that say something of few files, by row: yanked, hashes of sidecar and file, URL, time."""
SIDE_NONE, SIDE_BARE, SIDE_HASHED, SIDE_ODD = range(4)
"""What is known of a file's sidecar: there is none, or one without a hash, with a SHA-256, with other hashes."""
_VERSIONS: dict[str, Version] = {}


def decode_page(body: bytes, project: NormalizedName, index: str) -> ProjectPage:
    """Return the page. Raises one of ``NOT_A_PAGE`` where the bytes are not one."""
    form, checksum, length = _START.unpack_from(body)
    # Files are read long after the page was taken for good, so damage must be seen now.
    if form != FORMAT or checksum != zlib.crc32(memoryview(body)[_CHECKED:]):
        raise ValueError("a page of another form, or damaged")
    start = _START.size + length
    head = json.loads(body[_START.size : start])
    count: int = head["n"]
    if count == 0:
        return ProjectPage(project, (), index, tuple(head["s"]))
    numbers = head["q"]
    stem_of = _numbers(body[start : start + 4 * count])
    table = FileTable(
        versions=tuple(map(version_of, head["v"])),
        kinds=tuple((tags, python) for tags, python in head["k"]),
        version_of=[numbers[stem] for stem in stem_of],
        kind_of=_numbers(body[start + 4 * count : start + 8 * count]),
        only_pinned=frozenset(map(int, head["y"])),
    )
    reader = _FileReader(body, start + 8 * count, head, stem_of, table, project, index)
    return ProjectPage(project, TabledFiles(table, reader.file), index, tuple(head["s"]))


class _FileReader:
    """Makes the files of one page."""

    __slots__ = (
        "_body", "_digests", "_folders", "_head", "_index", "_marks", "_odd", "_project", "_sides", "_sizes", "_stems",
        "_table", "_times",
    )  # fmt: skip

    def __init__(
        self,
        body: bytes,
        marks: int,
        head: dict[str, Any],
        stem_of: list[int],
        table: FileTable,
        project: NormalizedName,
        index: str,
    ) -> None:
        count = len(stem_of)
        self._body = body
        self._head = head
        self._stems = stem_of
        self._table = table
        self._project = project
        self._index = index
        self._odd = frozenset(int(row) for part in _RARE for row in head[part])
        self._marks = marks
        self._sizes = marks + count
        self._digests = self._sizes + _SIZE.size * count
        self._folders = self._digests + DIGEST * count
        self._times = self._folders + (_NUMBER.size if head["f"] else DIGEST) * count
        self._sides = self._times + head["t"] * count
        hashed = SIDE_HASHED in body[marks : self._sizes]
        if len(body) != self._sides + (DIGEST * count if hashed else 0):
            raise ValueError("a page of another length")

    def file(self, row: int) -> DistributionFile:
        """Return the file of a row."""
        body, head, width = self._body, self._head, self._head["t"]
        tags, python = self._table.kinds[self._table.kind_of[row]]
        stem = head["p"][self._stems[row]]
        name = f"{stem}-{tags}.whl" if tags else stem
        size = _SIZE.unpack_from(body, self._sizes + _SIZE.size * row)[0]
        time = self._times + width * row
        mark = body[self._marks + row]
        file = DistributionFile(
            project=self._project,
            version=self._table.versions[self._table.version_of[row]],
            filename=name,
            kind=FileKind.SDIST if tags is None else FileKind.WHEEL,
            url=head["u"] + self._folder(row) + name,
            index=self._index,
            hashes=(("sha256", self._digest(self._digests, row)),),
            size=None if size < 0 else size,
            requires_python=python,
            upload_time=body[time : time + width].decode("ascii").rstrip() or None,
            sidecar=mark != SIDE_NONE,
            sidecar_hashes=(("sha256", self._digest(self._sides, row)),) if mark == SIDE_HASHED else (),
        )
        spelled = head["o"].get(str(self._stems[row])) if head["o"] else None
        if spelled is not None:
            file = replace(file, version=version_of(spelled))
        return file if row not in self._odd else self._with_rare(file, str(row))

    def _digest(self, start: int, row: int) -> str:
        return self._body[start + DIGEST * row : start + DIGEST * (row + 1)].hex()

    def _folder(self, row: int) -> str:
        known = self._head["f"]
        if known:
            return str(known[_NUMBER.unpack_from(self._body, self._folders + _NUMBER.size * row)[0]])
        digits = self._digest(self._folders, row)
        return f"/{digits[:2]}/{digits[2:4]}/{digits[4:]}/"

    def _with_rare(self, file: DistributionFile, row: str) -> DistributionFile:
        """Return the file with what few files have."""
        head = self._head
        return replace(
            file,
            url=head["w"].get(row) or file.url,
            hashes=pairs_of(head["x"][row]) if row in head["x"] else file.hashes,
            upload_time=head["z"].get(row, file.upload_time),
            yanked=head["y"].get(row),
            sidecar_hashes=pairs_of(head["m"][row]) if row in head["m"] else file.sidecar_hashes,
        )


def _numbers(data: bytes) -> list[int]:
    column = array("I", data)
    if sys.byteorder == "big":
        column.byteswap()
    return column.tolist()


def version_of(text: str) -> Version:
    """Return the version that a text means; pages share most of theirs. Raises ValueError."""
    version = _VERSIONS.get(text)
    if version is None:
        version = _VERSIONS[text] = Version(text)
    return version


def pairs_of(stored: Iterable[Sequence[str]]) -> Pairs:
    """Return hashes, which JSON keeps as lists, as the pairs that they are."""
    return tuple((name, digest) for name, digest in stored)
