"""How pages come into the cache's compact form, whose layout ``page_codec`` tells."""

from __future__ import annotations

import json
import struct
import sys
import zlib
from array import array
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from packaging.version import Version

from envdoctor.adapters.index.page_codec import (
    DIGEST,
    FOLDER,
    FORMAT,
    SIDE_BARE,
    SIDE_HASHED,
    SIDE_NONE,
    SIDE_ODD,
    Pairs,
    version_of,
)
from envdoctor.adapters.index.page_listing import FileRow, Listing
from envdoctor.model.file_table import Kind, tags_of

__all__ = ["LONGEST_TIME", "Columns", "encode_columns", "encode_page", "parted", "shared_start"]

LONGEST_TIME = 32
"""Characters of a time of upload that has a place in a column."""
_NO_DIGEST = bytes(DIGEST)
_UNWRITABLE = ("\n", "\0")


class Columns(NamedTuple):
    """The files of a page by column, what is rare by row."""

    names: list[str]
    stems: list[str]
    """Of each name what stands before its tags; the whole name where it has none."""
    kinds: list[Kind]
    """Tags and Requires-Python."""
    versions: Mapping[str, str]
    """By stem, normalised; two spellings of one version may be there."""
    urls: list[str]
    shared: str
    """What all URLs begin with."""
    sizes: list[int | None]
    times: list[str | None]
    digests: bytes
    """SHA-256, 32 bytes a file; zeros where there is none."""
    marks: bytes
    """What sidecar a file has."""
    sides: bytes
    """SHA-256 of the sidecars, 32 bytes a file, or nothing where no sidecar has one."""
    yanked: Mapping[int, str]
    odd_hashes: Mapping[int, Pairs]
    odd_sides: Mapping[int, Pairs]
    odd_times: Mapping[int, str]
    """Times that have no place in the column."""
    skipped: Sequence[str]


def shared_start(texts: Sequence[str]) -> str:
    """Return what all texts begin with: what the first and the last of them in order share."""
    first, last = min(texts, default=""), max(texts, default="")
    return next((first[:place] for place, sign in enumerate(first) if sign != last[place : place + 1]), first)


def encode_page(listing: Listing) -> bytes:
    """Return the compact form of a listing. A file whose name or URL holds a line break is left out."""
    rows = _writable(listing.rows)
    urls = [row.url for row in rows]
    told = [parted(row.filename) for row in rows]
    stems = [stem for stem, _ in told]
    digests = [_sha256(row.hashes) for row in rows]
    sides = [_sha256(row.sidecar_hashes) if row.sidecar_hashes else None for row in rows]
    marks = bytes([_side_mark(row, side) for row, side in zip(rows, sides, strict=True)])
    odd_times = {n: row.upload_time for n, row in enumerate(rows) if row.upload_time and _is_odd(row.upload_time)}
    return encode_columns(
        Columns(
            names=[row.filename for row in rows],
            stems=stems,
            kinds=[(tags, row.requires_python) for row, (_, tags) in zip(rows, told, strict=True)],
            versions={stem: row.version for row, stem in zip(rows, stems, strict=True)},
            urls=urls,
            shared=shared_start(urls),
            sizes=[row.size for row in rows],
            times=[None if number in odd_times else row.upload_time for number, row in enumerate(rows)],
            digests=b"".join([digest or _NO_DIGEST for digest in digests]),
            marks=marks,
            sides=b"".join([side or _NO_DIGEST for side in sides]) if SIDE_HASHED in marks else b"",
            yanked={number: row.yanked for number, row in enumerate(rows) if row.yanked is not None},
            odd_hashes={number: rows[number].hashes for number, digest in enumerate(digests) if digest is None},
            odd_sides={number: rows[number].sidecar_hashes for number, mark in enumerate(marks) if mark == SIDE_ODD},
            odd_times=odd_times,
            skipped=listing.skipped,
        )
    )


def encode_columns(files: Columns) -> bytes:
    """Return the compact form of a page."""
    names, urls = files.names, files.urls
    stems, stem_of = _numbered(files.stems)
    kinds, kind_of = _numbered(files.kinds)
    spelled: dict[Version, str] = {}
    for stem in stems:
        spelled.setdefault(version_of(files.versions[stem]), files.versions[stem])
    versions = sorted(spelled)
    numbers = {version: number for number, version in enumerate(versions)}
    prefix = files.shared.rpartition("/")[0]
    folder_digests = _folder_digests(names, urls, len(prefix))
    folders = [] if folder_digests is not None else _folders(names, urls, len(prefix))
    distinct, folder_of = _numbered(folders)
    width = max(map(len, filter(None, files.times)), default=0)
    head: dict[str, Any] = {
        "n": len(names),
        "s": files.skipped,
        "v": [spelled[version] for version in versions],
        "k": kinds,
        "p": stems,
        "q": [numbers[version_of(files.versions[stem])] for stem in stems],
        "o": {
            number: text
            for number, stem in enumerate(stems)
            for text in (files.versions[stem],)
            if text != spelled[version_of(text)]
        },
        "u": prefix,
        "f": distinct,
        "t": width,
        "y": files.yanked,
        "m": files.odd_sides,
        "x": files.odd_hashes,
        "w": {number: urls[number] for number, folder in enumerate(folders) if not folder},
        "z": files.odd_times,
    }
    text = json.dumps(head, separators=(",", ":")).encode()
    rest = b"".join(
        (
            struct.pack("<I", len(text)),
            text,
            _packed("I", stem_of),
            _packed("I", kind_of),
            files.marks,
            _packed("q", [-1 if size is None else size for size in files.sizes]),
            files.digests,
            _packed("I", folder_of) if folder_digests is None else folder_digests,
            "".join([(time or "").ljust(width) for time in files.times]).encode("ascii"),
            files.sides,
        )
    )
    return struct.pack("<BI", FORMAT, zlib.crc32(rest)) + rest


def _numbered(values: list[Any]) -> tuple[list[Any], list[int]]:
    """Return the distinct values in the order in which they come, and for each value which of them it is."""
    numbers = {value: number for number, value in enumerate(dict.fromkeys(values))}
    return list(numbers), [numbers[value] for value in values]


def parted(name: str) -> tuple[str, str | None]:
    """Return the stem of a file's name and its tags."""
    tags = tags_of(name)
    return (name[: -len(tags) - len("-.whl")] if tags else name), tags


def _folders(names: list[str], urls: list[str], start: int) -> list[str]:
    """Return what stands between the shared start of the URLs and the names; nothing where a URL ends otherwise."""
    return [url[start : -len(name)] if url.endswith(name) else "" for name, url in zip(names, urls, strict=True)]


def _folder_digests(names: list[str], urls: list[str], start: int) -> bytes | None:
    """Return the digests that the folders are made of, None where one of them is something else."""
    count, text = len(urls), "".join([url[start : start + FOLDER] for url in urls])
    if any(text[at::FOLDER] != "/" * count for at in (0, 3, 6, FOLDER - 1)):
        return None
    digits = text.replace("/", "")
    try:
        found = bytes.fromhex(digits)
    except ValueError:
        return None
    whole = found.hex() == digits and len(found) == DIGEST * count
    return found if whole and [url[start + FOLDER :] for url in urls] == names else None


def _writable(rows: tuple[FileRow, ...]) -> tuple[FileRow, ...]:
    """Leave out files whose name or URL would break a line; all of a page are looked at together."""
    whole = "".join([row.filename + row.url for row in rows])
    if not any(mark in whole for mark in _UNWRITABLE):
        return rows
    return tuple(row for row in rows if not any(mark in row.filename + row.url for mark in _UNWRITABLE))


def _is_odd(time: str) -> bool:
    return len(time) > LONGEST_TIME or not time.isascii() or time.endswith(" ")


def _side_mark(row: FileRow, digest: bytes | None) -> int:
    if not row.sidecar:
        return SIDE_NONE
    return SIDE_HASHED if digest else (SIDE_ODD if row.sidecar_hashes else SIDE_BARE)


def _packed(kind: str, numbers: list[int]) -> bytes:
    column = array(kind, numbers)
    if sys.byteorder == "big":
        column.byteswap()
    return column.tobytes()


def _sha256(hashes: Pairs) -> bytes | None:
    """Return the digest where SHA-256 is the only hash."""
    if len(hashes) != 1 or hashes[0][0] != "sha256" or len(hashes[0][1]) != 2 * DIGEST:
        return None
    try:
        return bytes.fromhex(hashes[0][1])
    except ValueError:
        return None
