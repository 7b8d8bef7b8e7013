"""A project's page of an index, JSON or HTML, as a listing of its files; which project and version a file's name tells.

Sources: the binary distribution format and PEP 625; older names (``foo-bar-1.0-1.tar.gz``) as pip reads them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import unquote, urljoin, urlsplit

from packaging.utils import NormalizedName, canonicalize_name

from envdoctor.adapters.index.page_codec import version_of
from envdoctor.model.index_url import bare_url, url_fault

__all__ = [
    "ACCEPT",
    "LARGEST",
    "MOMENT",
    "FileRow",
    "Listing",
    "NotAListing",
    "is_distribution",
    "read_links",
    "read_listing",
    "version_in",
]

_SDIST_ENDINGS = (".tar.gz", ".zip", ".tgz", ".tar.bz2", ".tar.xz")
_ENDINGS = (".whl", *_SDIST_ENDINGS)
_ON_NETWORK = ("https://", "http://")


def is_distribution(filename: str) -> bool:
    """Return True for a wheel or a source archive; False for eggs, installers, signatures."""
    return filename.endswith(_ENDINGS)


def version_in(
    filename: str, project: NormalizedName, known: dict[str, str | None], own: dict[str, bool] | None = None
) -> str | None:
    """Return the normalised version of a file, None where the name is not this project's or is not PEP 440.

    ``known`` remembers versions already normalised, ``own`` which stems are the project's; a page repeats each of them
    many times.
    """
    if filename.endswith(".whl"):
        parts = filename[:-4].split("-")
        if len(parts) not in (5, 6) or not _is_own(parts[0], project, {} if own is None else own):
            return None
        text = parts[1]
        return known[text] if text in known else _normalised(text, known, text.replace("_", "-"))
    stem = next((filename[: -len(end)] for end in _SDIST_ENDINGS if filename.endswith(end)), None)
    if stem is None:
        return None
    cut = stem.find("-")
    while cut > 0:
        if _is_own(stem[:cut], project, {} if own is None else own):
            return _normalised(stem[cut + 1 :], known)
        cut = stem.find("-", cut + 1)
    return None


def _is_own(stem: str, project: NormalizedName, own: dict[str, bool]) -> bool:
    found = own.get(stem)
    if found is None:
        found = own[stem] = canonicalize_name(stem) == project
    return found


def _normalised(text: str, known: dict[str, str | None], read: str | None = None) -> str | None:
    if text not in known:
        try:
            known[text] = str(version_of(text if read is None else read))
        except ValueError:
            known[text] = None
    return known[text]


ACCEPT = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1"
_ODD = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
LARGEST = 2**53
"""Bytes of a file beyond which its size is a mistake; JSON numbers above are not exact either."""
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")
_ALGORITHMS = frozenset({"sha256", "sha384", "sha512", "sha3_256", "blake2b", "blake2s", "sha224", "sha1", "md5"})


class NotAListing(Exception):
    """The answer is not a page of a simple index; the text is the reason."""


class FileRow(NamedTuple):
    """One file as listed."""

    filename: str
    url: str
    hashes: tuple[tuple[str, str], ...] = ()
    size: int | None = None
    requires_python: str | None = None
    yanked: str | None = None
    upload_time: str | None = None
    sidecar: bool = False
    sidecar_hashes: tuple[tuple[str, str], ...] = ()
    version: str = ""


class Listing(NamedTuple):
    """The files of one project, and the names that could not be read."""

    rows: tuple[FileRow, ...]
    skipped: tuple[str, ...]


def read_listing(content: bytes, content_type: str, url: str, project: NormalizedName) -> Listing:
    """Read a project's page. Raises NotAListing."""
    return read_links(list(_rows(content, content_type, url)), project, url)


def read_links(rows: list[FileRow], project: NormalizedName, url: str) -> Listing:
    """Keep the rows that are this project's, with their versions; relative and foreign URLs settled."""
    known: dict[str, str | None] = {}
    own: dict[str, bool] = {}
    local = url.startswith("file:")
    simple = _all_simple(rows)
    kept: list[FileRow] = []
    skipped: list[str] = []
    nowhere: str | None = None
    for row in rows:
        filename, address = row[0], row[1]
        if not filename.endswith(_ENDINGS):
            continue
        version = version_in(filename, project, known, own)
        if version is None:
            target = ""
        else:
            target = address if simple and address.startswith(_ON_NETWORK) else _target(address, url)
        # A page on the network must not make us read files of this machine.
        if version is None or not (target.startswith(_ON_NETWORK) or (local and target[:5] == "file:")):
            skipped.append(filename)
            nowhere = nowhere or (address if version is not None else None)
            continue
        kept.append(FileRow(filename, target, *row[2:9], version))
    if nowhere is not None and not kept:
        raise NotAListing(f"it lists files at addresses that cannot be asked (`{bare_url(nowhere)[:80]}`)")
    return Listing(tuple(kept), tuple(skipped))


def _all_simple(rows: list[FileRow]) -> bool:
    """Return whether no address has what may be wrong in one: pages have thousands of addresses, told together."""
    text = "".join([row[1] for row in rows])
    return text.isascii() and text.isprintable() and "[" not in text and "\\" not in text


def _target(address: str, base: str) -> str:
    """Return the URL that an address of a page means, an empty text where it means none."""
    if not _plain(address):
        return ""
    if address.startswith(_ON_NETWORK):
        # Only what can be wrong is looked at closer: pages have thousands of addresses.
        return address if "[" not in address and "\\" not in address else _parsed(address)
    try:
        return urljoin(base, address)
    except ValueError:
        return ""


def _parsed(address: str) -> str:
    return "" if url_fault(address) else address


def _plain(text: str) -> bool:
    """Return True for a text that can be sent and stored: no lone surrogates, no control characters."""
    return (text.isascii() and text.isprintable()) or not (_ODD.search(text))


def _rows(content: bytes, content_type: str, url: str) -> Iterator[FileRow]:
    kind = content_type.partition(";")[0].strip().lower()
    if kind.endswith("json") or (not kind and content.lstrip()[:1] == b"{"):
        return _json_rows(content)
    if not kind or kind in ("text/html", "application/vnd.pypi.simple.v1+html", "application/xhtml+xml"):
        return iter(html_rows(content, url))
    raise NotAListing(f"it answered with content type `{kind}`, which is not a package listing")


def _json_rows(content: bytes) -> Iterator[FileRow]:
    try:
        page = json.loads(content)
    except ValueError:
        raise NotAListing("its answer is not valid JSON (cut short?)") from None
    except RecursionError:
        raise NotAListing("its JSON answer is nested too deep for a package listing") from None
    if not isinstance(page, dict) or not isinstance(page.get("files"), list):
        raise NotAListing("its JSON answer has no list of files")
    meta = page.get("meta")
    api = str(meta.get("api-version", "1.0")) if isinstance(meta, dict) else "1.0"
    if api.partition(".")[0] != "1":
        raise NotAListing(f"it speaks version {api[:20]} of the simple API, which is not known here")
    for number, entry in enumerate(page["files"]):
        yield _json_row(entry, number)


def _json_row(entry: object, number: int) -> FileRow:
    """Read one file. What its identity rests on must be of the right kind; the rest is left out where it is not."""
    if not isinstance(entry, dict):
        raise NotAListing(f"`files[{number}]` of its JSON answer is not a table")
    get = entry.get
    filename, url = get("filename"), get("url")
    if not (isinstance(filename, str) and isinstance(url, str)):
        part = "url" if isinstance(filename, str) else "filename"
        raise NotAListing(f"`files[{number}].{part}` of its JSON answer is not a text")
    size, yanked, python, uploaded = get("size"), get("yanked"), get("requires-python"), get("upload-time")
    side = get("core-metadata", get("dist-info-metadata"))
    # By position: pages have thousands of files.
    return FileRow(
        filename.rpartition("/")[2],
        url.partition("#")[0],
        _digests(get("hashes"), number, "hashes"),
        size if isinstance(size, int) and not isinstance(size, bool) and 0 <= size < LARGEST else None,
        python if isinstance(python, str) and python.strip() else None,
        yanked if isinstance(yanked, str) else ("" if yanked else None),
        uploaded if isinstance(uploaded, str) and MOMENT.match(uploaded) else None,
        bool(side),
        _digests(side, number, "core-metadata") if isinstance(side, dict) else (),
    )


def _digests(table: object, number: int, part: str) -> tuple[tuple[str, str], ...]:
    """Return the hashes of a table; without them nothing could be checked, so a broken one is no detail."""
    if table is None:
        return ()
    if not isinstance(table, dict) or not {*map(type, table.values())} <= {str}:
        raise NotAListing(f"`files[{number}].{part}` of its JSON answer is not a table of texts")
    return tuple([(name.lower(), digest.lower()) for name, digest in table.items() if name in _ALGORITHMS])


def html_rows(content: bytes, url: str) -> list[FileRow]:
    """Read the links of an HTML listing. Raises NotAListing for a page that is something else."""
    from envdoctor.adapters.index.html_links import Links  # most indexes answer JSON

    parser = Links()
    try:
        parser.feed(content.decode("utf-8", "replace"))
        parser.close()
        base = urljoin(url, parser.base) if parser.base else url
    except (AssertionError, ValueError):
        # The parser gives up at a declaration that it does not know; a base may be no URL.
        raise NotAListing("its HTML page cannot be read as a package listing") from None
    rows = [row for row in (_html_row(attributes, base) for attributes in parser.links) if row is not None]
    title = " ".join(parser.title.split()).lower()
    empty = parser.marked or title.startswith(("links for", "index of", "simple index"))
    if not empty and not any(is_distribution(row.filename) for row in rows):
        raise NotAListing(
            f"it answered an HTML page that is not a package listing{f' ({title[:60]})' if title else ''}"
        )
    return rows


def _html_row(attributes: dict[str, str | None], base: str) -> FileRow | None:
    href = (attributes.get("href") or "").strip()
    if not href:
        return None
    try:
        address, _, fragment = urljoin(base, href).partition("#")
        filename = unquote(urlsplit(address).path.rpartition("/")[2])
    except ValueError:
        return None
    if not filename:
        return None
    side = attributes.get("data-core-metadata", attributes.get("data-dist-info-metadata"))
    offered = "data-core-metadata" in attributes or "data-dist-info-metadata" in attributes
    return FileRow(
        filename=filename,
        url=address,
        hashes=_fragment(fragment),
        requires_python=attributes.get("data-requires-python") or None,
        yanked=(attributes["data-yanked"] or "") if "data-yanked" in attributes else None,
        sidecar=offered and side != "false",
        sidecar_hashes=_fragment(side or ""),
    )


def _fragment(text: str) -> tuple[tuple[str, str], ...]:
    pairs = (part.partition("=") for part in text.split("&"))
    return tuple((name.lower(), digest.lower()) for name, _, digest in pairs if name in _ALGORITHMS and digest)
