"""One index: a project's page from the cache while it is fresh, else from the server or the disk."""

from __future__ import annotations

import json
import threading
import time
import zlib
from collections.abc import Callable
from dataclasses import field
from pathlib import Path
from urllib.parse import urlsplit

from packaging.utils import NormalizedName

from envdoctor.adapters.index.archive_bytes import local_path
from envdoctor.adapters.index.cache import Cache, CachedPage
from envdoctor.adapters.index.credentials import origin_of, without_credentials
from envdoctor.adapters.index.page_codec import NOT_A_PAGE, decode_page, pairs_of
from envdoctor.adapters.index.page_encoding import encode_page
from envdoctor.adapters.index.page_listing import (
    ACCEPT,
    FileRow,
    Listing,
    NotAListing,
    html_rows,
    read_links,
    read_listing,
)
from envdoctor.adapters.index.transport import PAGE_LIMIT, Reply, Transport, TransportError
from envdoctor.adapters.index.usual_page import encode_usual
from envdoctor.adapters.read_files import read_file
from envdoctor.model.candidate import ProjectPage
from envdoctor.model.dataclass import dataclass
from envdoctor.model.unknown import Subject, SubjectKind, Unknown, UnknownKind
from envdoctor.ports import IndexUnavailable, ProjectNotFound

__all__ = ["FlatSource", "PageSource", "Source"]

_REFUSED = (401, 403, 407)
"""Answers that say all by their number."""
_DEAD_FOR = 300.0
"""Seconds for which a host that did not answer is left alone, by later processes too."""


@dataclass(slots=True)
class PageSource:
    """A simple index. ``url`` carries no credentials and ends with a slash."""

    name: str
    url: str
    transport: Transport
    cache: Cache
    offline: bool = False
    patient: bool = True
    freshness: float = 600.0
    absence: float | None = None
    """Seconds for which it is believed that a project is not there; None: as long as a page is fresh."""
    fetched: Callable[[str], None] = lambda _name: None
    """Told of every page that took a request."""

    def key(self, name: NormalizedName) -> str:
        """Return the cache's key of a project's page."""
        return f"{self.url} {name}"

    def fresh(self, cached: CachedPage) -> bool:
        """Return True where a stored page is taken without a request."""
        limit = self.absence if cached.status == 404 and self.absence is not None else self.freshness
        return self.offline or 0 <= time.time() - cached.fetched < limit

    def load(self, name: NormalizedName, cached: CachedPage | None = None) -> ProjectPage:
        """Return a project's page. Raises ProjectNotFound or IndexUnavailable."""
        folder = local_path(self.url)
        if folder is not None:
            return self._local(name, folder)
        if cached is None:
            cached = self.cache.pages((self.key(name),)).get(self.key(name))
        if cached is not None and self.fresh(cached):
            page = self._decoded(name, cached)
            if page is not None:
                return page
            cached = None
        if self.offline:
            raise silent(self, UnknownKind.OFFLINE)
        return self._fetch(name, cached)

    def _decoded(self, name: NormalizedName, cached: CachedPage) -> ProjectPage | None:
        if cached.status == 404:
            raise ProjectNotFound(name, self.name)
        try:
            return decode_page(cached.body, name, self.name)
        except NOT_A_PAGE:
            return None

    def _fetch(self, name: NormalizedName, cached: CachedPage | None) -> ProjectPage:
        headers = {"Accept": ACCEPT}
        if cached is not None and cached.status == 200:
            if cached.etag:
                headers["If-None-Match"] = cached.etag
            elif cached.modified:
                headers["If-Modified-Since"] = cached.modified
        reply = ask(self, f"{self.url}{name}/", headers)
        self.fetched(name)
        if reply.status in (404, 410):
            self.cache.put_page(self.key(name), CachedPage(time.time(), 404, None, None, None, b""), cached)
            raise ProjectNotFound(name, self.name)
        import hashlib  # with its libraries; what is in the cache needs none

        digest = hashlib.sha256(reply.content).digest()
        if cached is not None and (reply.status == 304 or (reply.status == 200 and digest == cached.digest)):
            page = self._decoded(name, cached)
            if page is not None:
                self.cache.touch_page(self.key(name), time.time())
                return page
            reply = ask(self, f"{self.url}{name}/", {"Accept": ACCEPT}) if reply.status == 304 else reply
        body = self._usual(reply, name) or encode_page(self._listing(reply, name))
        etag, modified = reply.headers.get("etag"), reply.headers.get("last-modified")
        self.cache.put_page(self.key(name), CachedPage(time.time(), 200, etag, modified, digest, body), cached)
        return decode_page(body, name, self.name)

    @staticmethod
    def _usual(reply: Reply, name: NormalizedName) -> bytes | None:
        if reply.status != 200 or reply.cut or "json" not in reply.headers.get("content-type", ""):
            return None
        return encode_usual(reply.content, name)

    def _listing(self, reply: Reply, name: NormalizedName) -> Listing:
        if reply.status != 200 or reply.cut:
            raise _no_page(self, reply)
        try:
            return read_listing(reply.content, reply.headers.get("content-type", ""), reply.url, name)
        except NotAListing as error:
            raise silent(self, UnknownKind.BAD_ANSWER, str(error)) from None

    def _local(self, name: NormalizedName, folder: Path) -> ProjectPage:
        own = folder / name
        if not folder.is_dir():
            raise silent(self, UnknownKind.UNREACHABLE, "no such directory")
        if not own.is_dir():
            raise ProjectNotFound(name, self.name)
        base = own.as_uri() + "/"
        try:
            page = next((own / file for file in ("index.json", "index.html") if (own / file).is_file()), None)
            if page is not None:
                kind = "application/json" if page.suffix == ".json" else "text/html"
                listing = read_listing(read_file(page, PAGE_LIMIT), kind, base, name)
            else:
                listing = read_links(_directory_rows(own), name, base)
        except NotAListing as error:
            raise silent(self, UnknownKind.BAD_ANSWER, str(error)) from None
        except OSError as error:
            raise silent(self, UnknownKind.UNREACHABLE, error.strerror or str(error)) from None
        return decode_page(encode_page(listing), name, self.name)


@dataclass(slots=True)
class FlatSource:
    """A page or a directory of files of many projects (``--find-links``)."""

    name: str
    url: str
    transport: Transport
    cache: Cache
    offline: bool = False
    patient: bool = False
    freshness: float = 600.0
    fetched: Callable[[str], None] = lambda _name: None
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _rows: list[FileRow] | None = None
    _failure: IndexUnavailable | None = None

    def load(self, name: NormalizedName, cached: CachedPage | None = None) -> ProjectPage:
        """Return the project's files. Raises ProjectNotFound or IndexUnavailable."""
        with self._lock:
            if self._failure is not None:
                raise self._failure.with_traceback(None)
            if self._rows is None:
                try:
                    self._rows = self._read(cached)
                except IndexUnavailable as error:
                    self._failure = error
                    raise
        start = name.partition("-")[0]
        near = [row for row in self._rows if row.filename[: len(start)].lower() == start]
        listing = read_links(near, name, self.url)
        if not listing.rows:
            raise ProjectNotFound(name, self.name)
        return decode_page(encode_page(listing._replace(skipped=())), name, self.name)

    def _read(self, cached: CachedPage | None) -> list[FileRow]:
        path = local_path(self.url)
        try:
            if path is not None:
                return _directory_rows(path) if path.is_dir() else html_rows(read_file(path, PAGE_LIMIT), self.url)
            cached = cached or self.cache.pages((self.url,)).get(self.url)
            if cached is not None and (self.offline or 0 <= time.time() - cached.fetched < self.freshness):
                rows = _unpacked(cached.body)
                if rows is not None:
                    return rows
            if self.offline:
                raise silent(self, UnknownKind.OFFLINE)
            reply = ask(self, self.url, {"Accept": "text/html"})
            if reply.status != 200 or reply.cut:
                raise _no_page(self, reply)
            rows = html_rows(reply.content, reply.url)
        except NotAListing as error:
            raise silent(self, UnknownKind.BAD_ANSWER, str(error)) from None
        except OSError as error:
            raise silent(self, UnknownKind.UNREACHABLE, error.strerror or str(error)) from None
        body = zlib.compress(json.dumps(rows).encode(), 1)
        self.cache.put_page(self.url, CachedPage(time.time(), 200, None, None, None, body))
        return rows


Source = PageSource | FlatSource


def _unpacked(body: bytes) -> list[FileRow] | None:
    try:
        rows = [FileRow(*row) for row in json.loads(zlib.decompress(body))]
    except NOT_A_PAGE:
        return None
    return [
        row._replace(hashes=pairs_of(row.hashes), sidecar_hashes=pairs_of(row.sidecar_hashes)) for row in rows
    ]  # fmt: skip


def _directory_rows(folder: Path) -> list[FileRow]:
    return [FileRow(p.name, p.as_uri(), size=p.stat().st_size) for p in sorted(folder.iterdir()) if p.is_file()]


def ask(source: Source, url: str, headers: dict[str, str]) -> Reply:
    """Ask an index's host, unless it was out of reach a moment ago. Raises IndexUnavailable."""
    mark = f"unreachable {origin_of(url)}"
    if not source.patient:
        reason = source.cache.mark(mark, _DEAD_FOR)
        if reason is not None:
            raise silent(source, UnknownKind.UNREACHABLE, reason)
    try:
        return source.transport.get(url, headers, patient=source.patient)
    except TransportError as error:
        if not source.patient:
            source.cache.put_mark(mark, str(error))
        raise silent(source, UnknownKind.UNREACHABLE, str(error)) from None


def silent(source: Source, kind: UnknownKind, cause: str = "", status: int | None = None) -> IndexUnavailable:
    """Return the error of an index that does not tell."""
    subject = Subject(SubjectKind.INDEX, source.name)
    return IndexUnavailable(Unknown(kind, subject, source.name, source.url, status=status, cause=cause))


def _no_page(source: Source, reply: Reply) -> IndexUnavailable:
    """Return the error of an answer that is not a page."""
    cause = ""
    if reply.cut:
        cause = "its answer is too long for a package listing"
    elif reply.status not in _REFUSED:
        host = urlsplit(without_credentials(reply.url)).hostname or "it"
        cause = f"{host} answered {reply.status}"
    return silent(source, UnknownKind.BAD_ANSWER, cause, reply.status)
