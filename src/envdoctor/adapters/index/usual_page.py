"""A JSON page of the usual shape, read by column: most pages are, and some list ten thousand files.

What is checked of every file elsewhere is checked here of all of them together; where anything is unusual, nothing is
returned, and the page is read file by file (``page_listing``), which knows every case.
"""

from __future__ import annotations

import json
from itertools import compress
from operator import itemgetter
from typing import Any, NamedTuple

from packaging.utils import NormalizedName

from envdoctor.adapters.index.page_codec import SIDE_BARE, SIDE_HASHED, SIDE_NONE
from envdoctor.adapters.index.page_encoding import LONGEST_TIME, Columns, encode_columns, parted, shared_start
from envdoctor.adapters.index.page_listing import LARGEST, MOMENT, is_distribution, version_in

__all__ = ["encode_usual"]

_ON_NETWORK = ("https://", "http://")
_HEX = 64
_DASHES = 2
"""In the tags of a wheel."""
_PRINTABLE = bytes(range(0x20, 0x7F))
_DIGITS = bytes.maketrans(b"123456789", b"0" * 9)
_NO_SIDE = {"sha256": "0" * _HEX}
_UNUSUAL = (TypeError, KeyError, ValueError, AttributeError, RecursionError)
"""What comes of values of another kind than the usual."""


class _Unusual(Exception):
    pass


def encode_usual(content: bytes, project: NormalizedName) -> bytes | None:
    """Return the compact form of a page, None for one that is to be read file by file."""
    try:
        page = json.loads(content)
        if not page["meta"]["api-version"].startswith("1."):
            return None
        return encode_columns(_columns(page["files"], project))
    except (*_UNUSUAL, _Unusual):
        return None


def _columns(entries: list[dict[str, Any]], project: NormalizedName) -> Columns:
    _expect(isinstance(entries, list))  # An empty text or table would read as a list of no files.
    _expect(_plain("".join(_column(entries, "filename")), "/"))
    told = _told_by_names(entries, project)
    files = told.files
    urls = _column(files, "url")
    shared = shared_start(urls)
    _expect(_plain("".join(urls), "#[\\"), not urls or shared.startswith(_ON_NETWORK))
    sizes = _column(files, "size")
    known = [size for size in sizes if size is not None]
    _expect({*map(type, known)} <= {int}, min(known, default=0) >= 0, max(known, default=0) < LARGEST)
    marks, sides = _sidecars(files)
    return Columns(
        names=told.names,
        stems=told.stems,
        kinds=list(zip(told.tags, _pythons(files), strict=True)),
        versions=told.versions,
        urls=urls,
        shared=shared,
        sizes=sizes,
        times=_times(files),
        digests=_sha256(_column(files, "hashes")),
        marks=marks,
        sides=sides,
        yanked=_yanked(_column(files, "yanked")),
        odd_hashes={},
        odd_sides={},
        odd_times={},
        skipped=told.skipped,
    )


class _Told(NamedTuple):
    """What names say of a project's files."""

    files: list[dict[str, Any]]
    names: list[str]
    stems: list[str]
    tags: list[str | None]
    versions: dict[str, str]
    """By stem."""
    skipped: list[str]
    """Names that are not understood."""


def _told_by_names(entries: list[dict[str, Any]], project: NormalizedName) -> _Told:
    """Return the project's distribution files; what stands before the tags is the same for all wheels of a version."""
    names: list[str] = _column(entries, "filename")
    cuts = [name.find("-", name.find("-") + 1) for name in names]
    stems = [name[:cut] for name, cut in zip(names, cuts, strict=True)]
    tails = [name[cut + 1 :] for name, cut in zip(names, cuts, strict=True)]
    usual = {tail: tail[:-4] for tail in {*tails} if tail.endswith(".whl") and tail.count("-") == _DASHES}
    tags = list(map(usual.get, tails))
    others = [row for row, tag in enumerate(tags) if tag is None]
    for row in others:
        stems[row], tags[row] = parted(names[row])
    _expect({stems[row] for row in others if not tags[row]}.isdisjoint(compress(stems, tags)))
    known: dict[str, str | None] = {}
    own: dict[str, bool] = {}
    named = dict(zip(stems, names, strict=True))
    found = {stem: version_in(name, project, known, own) for stem, name in named.items() if is_distribution(name)}
    versions = {stem: version for stem, version in found.items() if version is not None}
    if len(versions) == len(named):
        return _Told(entries, names, stems, tags, versions, [])
    kept = [stem in versions for stem in stems]
    skipped = [name for name, stem in zip(names, stems, strict=True) if stem in found and stem not in versions]
    return _Told(
        list(compress(entries, kept)),
        list(compress(names, kept)),
        list(compress(stems, kept)),
        list(compress(tags, kept)),
        versions,
        skipped,
    )


def _column(files: list[dict[str, Any]], key: str) -> list[Any]:
    try:
        return list(map(itemgetter(key), files))
    except KeyError:
        return [entry.get(key) for entry in files]


def _expect(*usual: bool) -> None:
    if not all(usual):
        raise _Unusual


def _plain(text: str, refused: str) -> bool:
    """Return whether a text is printable ASCII without what is refused."""
    return text.isascii() and not text.encode("ascii").translate(None, _PRINTABLE.translate(None, refused.encode()))


def _pythons(files: list[dict[str, Any]]) -> list[str | None]:
    pythons = _column(files, "requires-python")
    meant = {python: python if python and python.strip() else None for python in set(pythons)}
    return [meant[python] for python in pythons]


def _times(files: list[dict[str, Any]]) -> list[str | None]:
    times = _column(files, "upload-time")
    there = list(filter(None, times))
    text = "".join(there)
    _expect(_plain(text, " "), max(map(len, there), default=0) <= LONGEST_TIME)
    # All of one length and form are looked at together.
    form, first = text.encode().translate(_DIGITS), there[0] if there else ""
    if form != form[: len(first)] * len(there):
        first = ""
    _expect(bool(MOMENT.match(first)) or all(map(MOMENT.match, there)))
    return times


def _yanked(flags: list[Any]) -> dict[int, str]:
    """Return the reasons by row; an empty one, given as a text, is a reason too."""
    _expect({*map(type, flags)} <= {bool, str, type(None)})
    if not any(flags) and "" not in flags:
        return {}
    reasons = ((row, "" if flag is True else flag) for row, flag in enumerate(flags))
    return {row: reason for row, reason in reasons if isinstance(reason, str)}


def _sidecars(files: list[dict[str, Any]]) -> tuple[bytes, bytes]:
    sides = _column(files, "core-metadata")
    if None in sides:
        sides = [entry.get("core-metadata", entry.get("dist-info-metadata")) for entry in files]
    marks = bytes([SIDE_HASHED if isinstance(s, dict) and s else SIDE_BARE if s else SIDE_NONE for s in sides])
    if SIDE_HASHED not in marks:
        return marks, b""
    return marks, _sha256([side if mark == SIDE_HASHED else _NO_SIDE for side, mark in zip(sides, marks, strict=True)])


def _sha256(hashes: list[dict[str, str]]) -> bytes:
    """Return the digests of all files as bytes; there may be no other hashes."""
    digests = list(map(itemgetter("sha256"), hashes))
    _expect({*map(len, hashes)} <= {1}, {*map(len, digests)} <= {_HEX})
    found = bytes.fromhex("".join(digests))
    # White space would be read over.
    _expect(len(found) == _HEX // 2 * len(digests))
    return found
