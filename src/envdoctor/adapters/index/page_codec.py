"""Pages in the cache's compact form.

What a page repeats (versions, ``requires-python``, the common start of URLs) is stored once, so that a page of
thousands of files is read back in milliseconds without parsing a file name again.
"""

from __future__ import annotations

import json
import os.path
import zlib
from urllib.parse import quote

from packaging.utils import NormalizedName
from packaging.version import Version

from envdoctor.adapters.index.listing import FileRow, Listing
from envdoctor.model.candidate import DistributionFile, FileKind, ProjectPage

__all__ = ["decode_page", "encode_page"]

_Pairs = tuple[tuple[str, str], ...]


def encode_page(listing: Listing) -> bytes:
    """Return the compact form of a listing."""
    versions: dict[str, int] = {}
    pythons: dict[str | None, int] = {None: 0}
    prefix = os.path.commonprefix([row.url for row in listing.rows]).rpartition("/")[0]  # noqa: RUF071 - of texts
    prefix = prefix + "/" if prefix else ""
    files = []
    for row in listing.rows:
        tail = row.url[len(prefix) :]
        name = quote(row.filename)
        folder = tail[: -len(name)] if tail.endswith(name) else [tail]
        files.append(
            [
                row.filename,
                versions.setdefault(row.version, len(versions)),
                folder,
                _pack(row.hashes),
                row.size,
                pythons.setdefault(row.requires_python, len(pythons)),
                row.yanked,
                row.upload_time,
                (_pack(row.sidecar_hashes) or 1) if row.sidecar else 0,
            ]
        )
    table = {"u": prefix, "v": list(versions), "p": list(pythons), "f": files, "s": listing.skipped}
    return zlib.compress(json.dumps(table, separators=(",", ":")).encode(), 1)


def decode_page(body: bytes, project: NormalizedName, index: str) -> ProjectPage:
    """Return the page. Raises ValueError, zlib.error, KeyError or TypeError where the bytes are not one."""
    table = json.loads(zlib.decompress(body))
    prefix: str = table["u"]
    versions = [_version(text) for text in table["v"]]
    pythons: list[str | None] = table["p"]
    wheel, sdist = FileKind.WHEEL, FileKind.SDIST
    files = []
    for name, version, folder, hashes, size, python, yanked, uploaded, side in table["f"]:
        files.append(
            DistributionFile(
                project,
                versions[version],
                name,
                wheel if name.endswith(".whl") else sdist,
                prefix + (folder + quote(name) if isinstance(folder, str) else folder[0]),
                index,
                _unpack(hashes),
                size,
                pythons[python],
                yanked,
                uploaded,
                bool(side),
                False,
                _unpack(side) if isinstance(side, (str, list)) else (),
            )
        )
    return ProjectPage(project, tuple(files), index, tuple(table["s"]))


_VERSIONS: dict[str, Version] = {}


def _version(text: str) -> Version:
    version = _VERSIONS.get(text)
    if version is None:
        version = _VERSIONS[text] = Version(text)
    return version


def _pack(pairs: _Pairs) -> str | list[list[str]]:
    if len(pairs) == 1 and pairs[0][0] == "sha256":
        return pairs[0][1]
    return [list(pair) for pair in pairs]


def _unpack(packed: str | list[list[str]]) -> _Pairs:
    if isinstance(packed, str):
        return (("sha256", packed),)
    return tuple((name, digest) for name, digest in packed)


def page_of(listing: Listing, project: NormalizedName, index: str) -> ProjectPage:
    """Return a listing as a page, by the same way that a cached one takes."""
    return decode_page(encode_page(listing), project, index)


def rows_of(page: ProjectPage) -> tuple[FileRow, ...]:
    """Return a page's files as rows."""
    return tuple(
        FileRow(f.filename, f.url, f.hashes, f.size, f.requires_python, f.yanked, f.upload_time, f.sidecar,
                f.sidecar_hashes, str(f.version))
        for f in page.files
    )  # fmt: skip
