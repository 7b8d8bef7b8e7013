"""Pages in the cache's compact form.

What choosing among files needs (versions, tags, ``requires-python``, yanked) is stored in columns of small numbers
that point into short lists, versions already in order: a page of thousands of files is at hand after a few
microseconds. Names, URLs, sizes and times come in blocks that are unpacked when a file of the block is looked at.

Layout: the format's byte; CRC-32 of what follows it, lengths of the packed head and of the blocks (4 bytes each, little
endian); the packed head; the blocks; then 32 bytes of SHA-256 a file, and where any sidecar has one, 32 bytes a file
for those. The head is JSON, NUL, one number per file for each of the two columns, and a byte per file that says what
sidecar it has. A block is texts separated by line breaks, its four columns by NUL.
"""

from __future__ import annotations

import json
import os.path
import struct
import sys
import zlib
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from packaging.utils import NormalizedName
from packaging.version import Version

from envdoctor.adapters.index.page_listing import FileRow, Listing
from envdoctor.model.candidate import DistributionFile, FileKind, ProjectPage
from envdoctor.model.file_table import FileTable, TabledFiles, tags_of

__all__ = [
    "NOT_A_PAGE",
    "SIDE_BARE",
    "SIDE_HASHED",
    "SIDE_NONE",
    "Columns",
    "decode_page",
    "encode_columns",
    "encode_page",
]

NOT_A_PAGE = (ValueError, KeyError, TypeError, IndexError, zlib.error, struct.error)
"""What reading damaged bytes may raise."""

_Pairs = tuple[tuple[str, str], ...]
_FORMAT = 3
_START = struct.Struct("<BIII")
_CHECKED = 5
"""Where what the checksum covers begins."""
_BLOCK = 128
"""Files in a block."""
_RARE = ("y", "m", "x", "w", "o")
"""Keys of the head that say something of few files, by row: yanked, hashes of sidecar and file, URL, spelling."""
_NO_DIGEST = bytes(32)
SIDE_NONE, SIDE_BARE, SIDE_HASHED, _SIDE_ODD = range(4)
"""What is known of a file's sidecar: there is none, or one without a hash, with a SHA-256, with other hashes."""
_UNWRITABLE = ("\n", "\0")
_VERSIONS: dict[str, Version] = {}


class Columns(NamedTuple):
    """The files of a page by column, what is rare by row."""

    names: list[str]
    urls: list[str]
    versions: list[str]
    """Normalised; two spellings of one version may be there."""
    kinds: list[tuple[str | None, str | None]]
    """Tags and Requires-Python."""
    sizes: list[int | None]
    times: list[str | None]
    digests: bytes
    """SHA-256, 32 bytes a file; zeros where there is none."""
    marks: bytes
    """What sidecar a file has."""
    sides: bytes
    """SHA-256 of the sidecars, 32 bytes a file, or nothing where no sidecar has one."""
    yanked: Mapping[int, str]
    odd_hashes: Mapping[int, _Pairs]
    odd_sides: Mapping[int, _Pairs]
    skipped: Sequence[str]


def encode_page(listing: Listing) -> bytes:
    """Return the compact form of a listing. A file whose name or URL holds a line break is left out."""
    rows = _writable(listing.rows)
    digests = [_sha256(row.hashes) for row in rows]
    sides = [_sha256(row.sidecar_hashes) if row.sidecar_hashes else None for row in rows]
    marks = bytes([_side_mark(row, side) for row, side in zip(rows, sides, strict=True)])
    times = [row.upload_time for row in rows]
    return encode_columns(
        Columns(
            names=[row.filename for row in rows],
            urls=[row.url for row in rows],
            versions=[row.version for row in rows],
            kinds=[(tags_of(row.filename), row.requires_python) for row in rows],
            sizes=[row.size for row in rows],
            times=[time and time.replace("\n", "").replace("\0", "") for time in times],
            digests=b"".join([digest or _NO_DIGEST for digest in digests]),
            marks=marks,
            sides=b"".join([side or _NO_DIGEST for side in sides]) if SIDE_HASHED in marks else b"",
            yanked={number: row.yanked for number, row in enumerate(rows) if row.yanked is not None},
            odd_hashes={number: rows[number].hashes for number, digest in enumerate(digests) if digest is None},
            odd_sides={number: rows[number].sidecar_hashes for number, mark in enumerate(marks) if mark == _SIDE_ODD},
            skipped=listing.skipped,
        )
    )


def encode_columns(files: Columns) -> bytes:
    """Return the compact form of a page."""
    names, urls, texts = files.names, files.urls, files.versions
    prefix = os.path.commonprefix(urls).rpartition("/")[0]  # noqa: RUF071 - of texts
    spelled: dict[Version, str] = {}
    for text in dict.fromkeys(texts):
        spelled.setdefault(_version(text), text)
    versions = sorted(spelled)
    numbers = {version: number for number, version in enumerate(versions)}
    number_of = {text: numbers[_version(text)] for text in set(texts)}
    unusual = {text for text in number_of if text != spelled[_version(text)]}
    kinds: dict[tuple[str | None, str | None], int] = {}
    kind_of = [kinds.setdefault(kind, len(kinds)) for kind in files.kinds]
    start = len(prefix)
    folders = [url[start : -len(name)] if url.endswith(name) else "" for name, url in zip(names, urls, strict=True)]
    sizes = ["" if size is None else str(size) for size in files.sizes]
    columns = (names, folders, sizes, [time or "" for time in files.times])
    blocks = [_packed_block(columns, at) for at in range(0, len(names), _BLOCK)]
    head: dict[str, Any] = {
        "n": len(names),
        "s": files.skipped,
        "u": prefix,
        "v": [spelled[version] for version in versions],
        "k": list(kinds),
        "b": [len(block) for block in blocks],
        "y": files.yanked,
        "m": files.odd_sides,
        "x": files.odd_hashes,
        "w": {number: urls[number] for number, folder in enumerate(folders) if not folder},
        "o": {number: text for number, text in enumerate(texts) if text in unusual} if unusual else {},
    }
    lists = _packed_numbers([number_of[text] for text in texts]) + _packed_numbers(kind_of) + files.marks
    packed = zlib.compress(json.dumps(head, separators=(",", ":")).encode() + b"\0" + lists, 1)
    lengths = struct.pack("<II", len(packed), sum(map(len, blocks)))
    rest = b"".join((lengths, packed, *blocks, files.digests, files.sides))
    return struct.pack("<BI", _FORMAT, zlib.crc32(rest)) + rest


def _writable(rows: tuple[FileRow, ...]) -> tuple[FileRow, ...]:
    """Leave out files whose name or URL cannot stand in a block; all of a page are looked at together."""
    whole = "".join([row.filename + row.url for row in rows])
    if not any(mark in whole for mark in _UNWRITABLE):
        return rows
    return tuple(row for row in rows if not any(mark in row.filename + row.url for mark in _UNWRITABLE))


def _side_mark(row: FileRow, digest: bytes | None) -> int:
    if not row.sidecar:
        return SIDE_NONE
    return SIDE_HASHED if digest else (_SIDE_ODD if row.sidecar_hashes else SIDE_BARE)


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
    marks = columns[count * 8 :]
    digests = 2 if SIDE_HASHED in marks else 1
    if len(marks) != count or sum(head["b"]) != rest or len(body) != start + rest + 32 * count * digests:
        raise ValueError("a page of another length")
    table = FileTable(
        versions=tuple(map(_version, head["v"])),
        kinds=tuple((tags, python) for tags, python in head["k"]),
        version_of=_numbers(columns[: count * 4]),
        kind_of=_numbers(columns[count * 4 : count * 8]),
        only_pinned=frozenset(map(int, head["y"])),
    )
    reader = _FileReader(body, start, head, marks, table, project, index)
    return ProjectPage(project, TabledFiles(table, reader.file), index, tuple(head["s"]))


class _FileReader:
    """Makes the files of one page."""

    __slots__ = (
        "_blocks", "_body", "_digests", "_head", "_index", "_marks", "_odd", "_prefix", "_project", "_starts", "_table",
    )  # fmt: skip

    def __init__(
        self,
        body: bytes,
        start: int,
        head: dict[str, Any],
        marks: bytes,
        table: FileTable,
        project: NormalizedName,
        index: str,
    ) -> None:
        self._body = body
        self._head = head
        self._marks = marks
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
        mark = self._marks[row]
        side = digest + 32 * len(self._marks)
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
            sidecar=mark != SIDE_NONE,
            sidecar_hashes=(("sha256", self._body[side : side + 32].hex()),) if mark == SIDE_HASHED else (),
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
            sidecar_hashes=_pairs(head["m"][row]) if row in head["m"] else file.sidecar_hashes,
        )

    def _unpacked(self, number: int) -> list[list[str]]:
        data = zlib.decompress(self._body[self._starts[number] : self._starts[number + 1]])
        columns = [column.split("\n") for column in data.decode("utf-8", "surrogatepass").split("\0")]
        self._blocks[number] = columns
        return columns


def _packed_block(columns: Iterable[list[str]], at: int) -> bytes:
    text = "\0".join(["\n".join(column[at : at + _BLOCK]) for column in columns])
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
