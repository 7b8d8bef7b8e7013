"""Pages in the cache's compact form.

What choosing among files needs (versions, tags, ``requires-python``, yanked) is stored in columns of small numbers
that point into short lists, versions already in order: a page of thousands of files is at hand after a few
microseconds. Names, URLs, sizes and times come in blocks that are unpacked when a file of the block is looked at.

Layout: the format's byte; CRC-32 of what follows it, lengths of the packed head and of the blocks (4 bytes each, little
endian); the packed head; the blocks; then 32 bytes of SHA-256 a file. The head is JSON, NUL, and one number per file
for each of the two columns. A block is texts separated by line breaks, its four columns by NUL.
"""

from __future__ import annotations

import json
import os.path
import struct
import sys
import zlib
from array import array
from dataclasses import replace
from typing import Any

from packaging.utils import NormalizedName
from packaging.version import Version

from envdoctor.adapters.index.page_listing import FileRow, Listing
from envdoctor.model.candidate import DistributionFile, FileKind, ProjectPage
from envdoctor.model.file_table import FileTable, TabledFiles, tags_of

__all__ = ["NOT_A_PAGE", "decode_page", "encode_page"]

NOT_A_PAGE = (ValueError, KeyError, TypeError, IndexError, zlib.error, struct.error)
"""What reading damaged bytes may raise."""

_Pairs = tuple[tuple[str, str], ...]
_FORMAT = 2
_START = struct.Struct("<BIII")
_CHECKED = 5
"""Where what the checksum covers begins."""
_BLOCK = 128
"""Files in a block."""
_RARE = ("y", "m", "x", "w", "o")
"""Keys of the head that say something of few files, by row: yanked, sidecars, hashes, URL, spelling of the version."""
_NO_DIGEST = bytes(32)
_UNWRITABLE = ("\n", "\0")
_VERSIONS: dict[str, Version] = {}


def encode_page(listing: Listing) -> bytes:
    """Return the compact form of a listing. A file whose name or URL holds a line break is left out."""
    rows = [row for row in listing.rows if not any(mark in row.filename + row.url for mark in _UNWRITABLE)]
    prefix = os.path.commonprefix([row.url for row in rows]).rpartition("/")[0]  # noqa: RUF071 - of texts
    spelled: dict[Version, str] = {}
    for row in rows:
        spelled.setdefault(_version(row.version), row.version)
    versions = sorted(spelled)
    numbers = {version: number for number, version in enumerate(versions)}
    kinds: dict[tuple[str | None, str | None], int] = {}
    kind_of = [kinds.setdefault((tags_of(row.filename), row.requires_python), len(kinds)) for row in rows]
    blocks = [_packed_block(rows[at : at + _BLOCK], prefix) for at in range(0, len(rows), _BLOCK)]
    digests = [_sha256(row.hashes) for row in rows]
    head: dict[str, Any] = {
        "n": len(rows),
        "s": listing.skipped,
        "u": prefix,
        "v": [spelled[version] for version in versions],
        "k": list(kinds),
        "b": [len(block) for block in blocks],
        "y": {number: row.yanked for number, row in enumerate(rows) if row.yanked is not None},
        "m": {number: row.sidecar_hashes for number, row in enumerate(rows) if row.sidecar},
        "x": {number: row.hashes for number, row in enumerate(rows) if digests[number] is None},
        "w": {number: row.url for number, row in enumerate(rows) if not row.url.endswith(row.filename)},
        "o": {
            number: row.version
            for number, row in enumerate(rows)
            if row.version != spelled[_version(row.version)]
        },
    }  # fmt: skip
    columns = _packed_numbers([numbers[_version(row.version)] for row in rows]) + _packed_numbers(kind_of)
    text = json.dumps(head, separators=(",", ":")).encode()
    packed = zlib.compress(text + b"\0" + columns, 1)
    body = b"".join(blocks)
    rest = struct.pack("<II", len(packed), len(body)) + packed + body + b"".join(d or _NO_DIGEST for d in digests)
    return struct.pack("<BI", _FORMAT, zlib.crc32(rest)) + rest


def decode_page(body: bytes, project: NormalizedName, index: str) -> ProjectPage:
    """Return the page. Raises one of ``NOT_A_PAGE`` where the bytes are not one."""
    form, checksum, length, rest = _START.unpack_from(body)
    # Blocks are unpacked long after the page was taken for good, so damage must be seen now.
    if form != _FORMAT or checksum != zlib.crc32(memoryview(body)[_CHECKED:]):
        raise ValueError("a page of another form, or damaged")
    start = _START.size + length
    text, _, columns = zlib.decompress(body[_START.size : start]).partition(b"\0")
    head = json.loads(text)
    count: int = head["n"]
    if count == 0:
        return ProjectPage(project, (), index, tuple(head["s"]))
    if len(columns) != count * 8 or sum(head["b"]) != rest or len(body) != start + rest + 32 * count:
        raise ValueError("a page of another length")
    table = FileTable(
        versions=tuple(map(_version, head["v"])),
        kinds=tuple((tags, python) for tags, python in head["k"]),
        version_of=_numbers(columns[: count * 4]),
        kind_of=_numbers(columns[count * 4 :]),
        only_pinned=frozenset(map(int, head["y"])),
    )
    reader = _FileReader(body, start, head, table, project, index)
    return ProjectPage(project, TabledFiles(table, reader.file), index, tuple(head["s"]))


class _FileReader:
    """Makes the files of one page."""

    __slots__ = ("_blocks", "_body", "_digests", "_head", "_index", "_odd", "_prefix", "_project", "_starts", "_table")

    def __init__(
        self, body: bytes, start: int, head: dict[str, Any], table: FileTable, project: NormalizedName, index: str
    ) -> None:
        self._body = body
        self._head = head
        self._table = table
        self._project = project
        self._index = index
        self._prefix: str = head["u"]
        self._odd = frozenset(int(row) for part in _RARE for row in head[part])
        self._starts = [start]
        for length in head["b"]:
            self._starts.append(self._starts[-1] + length)
        self._digests = self._starts[-1]
        self._blocks: dict[int, list[list[str]]] = {}

    def file(self, row: int) -> DistributionFile:
        """Return the file of a row."""
        number, place = divmod(row, _BLOCK)
        names, folders, sizes, times = self._blocks.get(number) or self._unpacked(number)
        name, size = names[place], sizes[place]
        digest = self._digests + 32 * row
        tags, python = self._table.kinds[self._table.kind_of[row]]
        file = DistributionFile(
            project=self._project,
            version=self._table.versions[self._table.version_of[row]],
            filename=name,
            kind=FileKind.SDIST if tags is None else FileKind.WHEEL,
            url=self._prefix + folders[place] + name,
            index=self._index,
            hashes=(("sha256", self._body[digest : digest + 32].hex()),),
            size=int(size) if size else None,
            requires_python=python,
            upload_time=times[place] or None,
        )
        return file if row not in self._odd else self._with_rare(file, str(row))

    def _with_rare(self, file: DistributionFile, row: str) -> DistributionFile:
        """Return the file with what few files have."""
        head = self._head
        return replace(
            file,
            version=_version(head["o"][row]) if row in head["o"] else file.version,
            url=head["w"].get(row) or file.url,
            hashes=_pairs(head["x"][row]) if row in head["x"] else file.hashes,
            yanked=head["y"].get(row),
            sidecar=row in head["m"],
            sidecar_hashes=_pairs(head["m"].get(row, ())),
        )

    def _unpacked(self, number: int) -> list[list[str]]:
        data = zlib.decompress(self._body[self._starts[number] : self._starts[number + 1]])
        columns = [column.split("\n") for column in data.decode("utf-8", "surrogatepass").split("\0")]
        self._blocks[number] = columns
        return columns


def _packed_block(rows: list[FileRow] | tuple[FileRow, ...], prefix: str) -> bytes:
    columns = [
        [row.filename for row in rows],
        [row.url[len(prefix) : -len(row.filename)] if row.url.endswith(row.filename) else "" for row in rows],
        ["" if row.size is None else str(row.size) for row in rows],
        [(row.upload_time or "").replace("\n", "").replace("\0", "") for row in rows],
    ]
    text = "\0".join("\n".join(column) for column in columns)
    return zlib.compress(text.encode("utf-8", "surrogatepass"), 1)


def _packed_numbers(numbers: list[int]) -> bytes:
    column = array("I", numbers)
    if sys.byteorder == "big":
        column.byteswap()
    return column.tobytes()


def _numbers(data: bytes) -> list[int]:
    column = array("I", data)
    if sys.byteorder == "big":
        column.byteswap()
    return column.tolist()


def _version(text: str) -> Version:
    version = _VERSIONS.get(text)
    if version is None:
        version = _VERSIONS[text] = Version(text)
    return version


def _sha256(hashes: _Pairs) -> bytes | None:
    """Return the digest where SHA-256 is the only hash."""
    if len(hashes) != 1 or hashes[0][0] != "sha256" or len(hashes[0][1]) != 64:
        return None
    try:
        return bytes.fromhex(hashes[0][1])
    except ValueError:
        return None


def _pairs(stored: list[list[str]]) -> _Pairs:
    return tuple((name, digest) for name, digest in stored)
