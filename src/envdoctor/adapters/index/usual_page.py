"""A JSON page of the usual shape, read by column: most pages are, and some list ten thousand files.

What is checked of every file elsewhere is checked here of all of them together; where anything is unusual, nothing is
returned, and the page is read file by file (``page_listing``), which knows every case.
"""

from __future__ import annotations

import json
from operator import itemgetter
from typing import Any

from packaging.utils import NormalizedName

from envdoctor.adapters.index.page_codec import SIDE_BARE, SIDE_HASHED, SIDE_NONE, Columns, encode_columns
from envdoctor.adapters.index.page_listing import LARGEST, MOMENT, is_distribution, version_in
from envdoctor.model.file_table import tags_of

__all__ = ["encode_usual"]

_ON_NETWORK = ("https://", "http://")
_HEX = 64
_NO_SIDE = {"sha256": "0" * _HEX}
_DASHES = 4
"""In the name of a wheel without a build number."""
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
    _expect("/" not in "".join(_column(entries, "filename")))
    files, versions, tags, skipped = _told_by_names(entries, project)
    names, urls = _column(files, "filename"), _column(files, "url")
    on_network = sum([url.startswith(_ON_NETWORK) for url in urls])
    _expect(_plain("".join(names), ""), _plain("".join(urls), "#[\\"), on_network == len(urls))
    sizes, times = _column(files, "size"), _column(files, "upload-time")
    known = [size for size in sizes if size is not None]
    _expect({*map(type, known)} <= {int}, min(known, default=0) >= 0, max(known, default=0) < LARGEST)
    _expect(all(map(MOMENT.match, filter(None, times))), _plain("".join(filter(None, times)), ""))
    marks, sides = _sidecars(files)
    hashes = _column(files, "hashes")
    return Columns(
        names=names,
        urls=urls,
        versions=versions,
        kinds=list(zip(tags, _pythons(files), strict=True)),
        sizes=sizes,
        times=times,
        digests=_sha256(hashes),
        marks=marks,
        sides=sides,
        yanked=_yanked(_column(files, "yanked")),
        odd_hashes={},
        odd_sides={},
        skipped=skipped,
    )


def _told_by_names(
    entries: list[dict[str, Any]], project: NormalizedName
) -> tuple[list[dict[str, Any]], list[str], list[str | None], list[str]]:
    """Return the project's distribution files, their versions and tags, and the names that are not understood."""
    known: dict[str, str | None] = {}
    own: dict[str, bool] = {}
    of_stem: dict[str, str | None] = {}
    files: list[dict[str, Any]] = []
    versions: list[str] = []
    tags: list[str | None] = []
    skipped: list[str] = []
    for entry in entries:
        name = entry["filename"]
        tag: str | None = None
        if name.endswith(".whl") and name.count("-") == _DASHES:
            # What stands before the tags is the same for all wheels of a version.
            stem, python, abi, platform = name[:-4].rsplit("-", 3)
            tag = f"{python}-{abi}-{platform}"
            version = (
                of_stem[stem] if stem in of_stem else of_stem.setdefault(stem, version_in(name, project, known, own))
            )
        elif is_distribution(name):
            tag = tags_of(name)
            version = version_in(name, project, known, own)
        else:
            continue
        if version is None:
            skipped.append(name)
            continue
        files.append(entry)
        versions.append(version)
        tags.append(tag)
    return files, versions, tags, skipped


def _column(files: list[dict[str, Any]], key: str) -> list[Any]:
    try:
        return list(map(itemgetter(key), files))
    except KeyError:
        return [entry.get(key) for entry in files]


def _expect(*usual: bool) -> None:
    if not all(usual):
        raise _Unusual


def _plain(text: str, refused: str) -> bool:
    return text.isascii() and text.isprintable() and not any(mark in text for mark in refused)


def _pythons(files: list[dict[str, Any]]) -> list[str | None]:
    pythons = _column(files, "requires-python")
    meant = {python: python if python and python.strip() else None for python in set(pythons)}
    return [meant[python] for python in pythons]


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
