"""The cache: an SQLite file and a folder of large pages, shared by processes; losing it costs time and nothing else."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
import weakref
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["Cache", "CachedPage"]

LARGE = 16 * 1024
"""Bytes of a page from which on it has a file."""


class PageFiles:
    """Files by a page's key and the digest of the answer that it was read from: what a name stands for never changes.

    A file is complete from the moment when it has its name. Its content tells by itself whether it is damaged.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, key: str, digest: bytes) -> bytes | None:
        """Return a page, None where it is not there or cannot be read."""
        try:
            return self._place(key, digest).read_bytes()
        except OSError:
            return None

    def write(self, key: str, digest: bytes, body: bytes) -> None:
        """Keep a page. Raises OSError."""
        place = self._place(key, digest)
        self._folder.mkdir(exist_ok=True)
        part = place.with_name(f"{place.name}.{os.getpid()}.{threading.get_ident()}")
        try:
            part.write_bytes(body)
            part.replace(place)
        except OSError:
            with suppress(OSError):
                part.unlink()
            raise

    def remove(self, key: str, digest: bytes) -> None:
        """Remove a page that another has taken the place of."""
        with suppress(OSError):
            self._place(key, digest).unlink()

    def prune(self, age: float) -> None:
        """Remove what was written more than ``age`` seconds ago; what is still wanted is fetched anew."""
        limit = time.time() - age
        with suppress(OSError):
            for place in self._folder.iterdir():
                if place.stat().st_mtime < limit:
                    place.unlink()

    def _place(self, key: str, digest: bytes) -> Path:
        # The key's part of the name only keeps two keys with the same answer apart: each has a file of its own.
        return self._folder / f"{zlib.crc32(key.encode()):08x}{digest.hex()}"


_SCHEMA = 3
_TABLES = """
CREATE TABLE IF NOT EXISTS pages (key TEXT PRIMARY KEY, fetched REAL NOT NULL, status INTEGER NOT NULL,
    etag TEXT, modified TEXT, digest BLOB, body BLOB);
CREATE TABLE IF NOT EXISTS files (key TEXT NOT NULL, part TEXT NOT NULL, stored REAL NOT NULL, body BLOB NOT NULL,
    PRIMARY KEY (key, part));
CREATE TABLE IF NOT EXISTS marks (key TEXT PRIMARY KEY, stored REAL NOT NULL, text TEXT NOT NULL);
"""
_PAGE_COLUMNS = "SELECT key, fetched, status, etag, modified, digest, body"
_PROBES = (
    f"{_PAGE_COLUMNS} FROM pages LIMIT 0",
    "SELECT key, part, stored, body FROM files LIMIT 0",
    "SELECT key, stored, text FROM marks LIMIT 0",
)
"""What fails where a file of this name has other tables."""
_DAY = 86400.0
_MANY = 400
"""Keys in one query: SQLite's oldest limit on variables is 999."""


class CachedPage(NamedTuple):
    """A stored answer of an index."""

    fetched: float
    """Seconds since the epoch."""
    status: int
    """200 or 404."""
    etag: str | None
    modified: str | None
    digest: bytes | None
    """Of the answer's body as it came: the same body is not read twice."""
    body: bytes
    """In the form of page_codec; nothing where it was lost."""


class Cache:
    """Pages by index and name; metadata and listings of files by hash, for ever; short marks.

    No method raises: what cannot be read is absent, what cannot be written is said once and left.
    """

    def __init__(self, directory: Path | None, note: Callable[[str], None] = lambda _text: None) -> None:
        self._path = None if directory is None else directory / f"index-{_SCHEMA}.sqlite3"
        self._large = None if directory is None else PageFiles(directory / f"pages-{_SCHEMA}")
        self.note = note
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._writable = True
        if self._path is not None:
            self._open(self._path)

    def pages(self, keys: Iterable[str]) -> dict[str, CachedPage]:
        """Return the stored pages among these keys."""
        found = self._select(f"{_PAGE_COLUMNS} FROM pages WHERE key IN ", keys)
        return {row[0]: self._whole(row[0], CachedPage(*row[1:])) for row in found if _is_page(row)}

    def put_page(self, key: str, page: CachedPage, before: CachedPage | None = None) -> None:
        """Store a page in place of an older one, of which ``before`` may be known."""
        if self._large is not None:
            page = self._parted(self._large, key, page, before)
        self._write("INSERT OR REPLACE INTO pages VALUES (?, ?, ?, ?, ?, ?, ?)", (key, *page))

    def _whole(self, key: str, page: CachedPage) -> CachedPage:
        """Return a page with the body that stands in a file."""
        if page.body or page.digest is None or self._large is None:
            return page
        return page._replace(body=self._large.read(key, page.digest) or b"")

    def _parted(self, large: PageFiles, key: str, page: CachedPage, before: CachedPage | None) -> CachedPage:
        """Write a large body into a file, in place of an older one; return what is left for the row."""
        if before is not None and before.digest is not None and before.digest != page.digest:
            large.remove(key, before.digest)
        if page.digest is None or len(page.body) < LARGE or not self._writable:
            return page
        try:
            large.write(key, page.digest, page.body)
        except OSError:
            return page  # The row has it then, or tells why it cannot be kept.
        return page._replace(body=b"")

    def touch_page(self, key: str, fetched: float) -> None:
        """Renew a stored page that the index says still holds."""
        self._write("UPDATE pages SET fetched = ? WHERE key = ?", (fetched, key))

    def parts(self, keys: Iterable[str], part: str) -> dict[str, bytes]:
        """Return one kind of stored part for many files."""
        quoted = part.replace("'", "''")
        query = f"SELECT key, body FROM files WHERE part = '{quoted}' AND key IN "  # noqa: S608 - quoted above
        found = ((row[0], _checked(row[1])) for row in self._select(query, keys))
        return {key: body for key, body in found if body is not None}

    def put_part(self, key: str, part: str, body: bytes) -> None:
        """Store something about a file whose content cannot change."""
        self._write("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?)", (key, part, time.time(), _with_checksum(body)))

    def mark(self, key: str, age: float) -> str | None:
        """Return a mark that is not older than ``age`` seconds."""
        for row in self._select("SELECT key, stored, text FROM marks WHERE key IN ", (key,)):
            # One of the future was set while the clock was wrong.
            if isinstance(row[1], float) and 0 <= time.time() - row[1] <= age:
                return str(row[2])
        return None

    def put_mark(self, key: str, text: str) -> None:
        """Set a mark."""
        self._write("INSERT OR REPLACE INTO marks VALUES (?, ?, ?)", (key, time.time(), text))

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._connection is not None:
                with contextlib.suppress(sqlite3.Error):
                    self._connection.close()
            self._connection = None

    def _open(self, path: Path) -> None:
        for first in (True, False):
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                self._connection = _connect(path)
                # Whoever opens an index and then refuses a setting does not come to close it.
                weakref.finalize(self, self._connection.close)
                self._prune()
            except sqlite3.OperationalError as error:
                self.close()
                if first and "no such column" in str(error) and _remove(path):
                    continue
                self._give_up(str(error))
            except sqlite3.DatabaseError as error:
                self.close()
                if first and _remove(path):
                    continue
                self._give_up(str(error))
            except OSError as error:
                self._give_up(error.strerror or str(error))
            return

    def _give_up(self, reason: str) -> None:
        self._writable = False
        self.note(f"working without a cache: `{self._path}` cannot be used ({reason})")

    def _prune(self) -> None:
        """Once a day, drop what nobody has wanted anew for long."""
        if self.mark("pruned", _DAY) is not None:
            return
        now = time.time()
        self._write("DELETE FROM pages WHERE fetched < ?", (now - 60 * _DAY,))
        self._write("DELETE FROM files WHERE stored < ?", (now - 180 * _DAY,))
        if self._large is not None:
            self._large.prune(60 * _DAY)
        self.put_mark("pruned", "")

    def _select(self, query: str, keys: Iterable[str]) -> Iterator[Any]:
        wanted = list(keys)
        for start in range(0, len(wanted), _MANY):
            some = wanted[start : start + _MANY]
            with self._lock:
                if self._connection is None:
                    return
                try:
                    rows = self._connection.execute(f"{query}({','.join('?' * len(some))})", some).fetchall()
                except sqlite3.Error as error:
                    rows = []
                    self._failed(error)
            yield from rows

    def _write(self, statement: str, values: tuple[Any, ...]) -> None:
        with self._lock:
            if self._connection is None or not self._writable:
                return
            try:
                self._connection.execute(statement, values)
            except sqlite3.Error as error:
                self._failed(error)

    def _failed(self, error: sqlite3.Error) -> None:
        """Take an error while the lock is held: a damaged file is started anew, a locked one is left for now."""
        path = self._path
        if path is None or (isinstance(error, sqlite3.OperationalError) and "locked" in str(error)):
            return
        if isinstance(error, sqlite3.OperationalError):
            self._give_up(str(error))
            return
        if self._connection is not None:
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()
        self._connection = None
        if _remove(path):
            with contextlib.suppress(sqlite3.Error, OSError):
                self._connection = _connect(path)
                return
        self._give_up(str(error))


def _is_page(row: tuple[Any, ...]) -> bool:
    """Return whether a row has the types of a page: SQLite lets any of them stand in any column."""
    kinds: tuple[type | tuple[type, ...], ...] = (
        float,
        int,
        (str, type(None)),
        (str, type(None)),
        (bytes, type(None)),
        bytes,
    )
    return all(isinstance(value, kind) for value, kind in zip(row[1:], kinds, strict=True))


def _with_checksum(body: bytes) -> bytes:
    return zlib.crc32(body).to_bytes(4, "big") + body


def _checked(stored: object) -> bytes | None:
    """Return what was stored, None where it is not what was stored: SQLite does not notice a flipped bit."""
    if not isinstance(stored, bytes) or len(stored) < 4:
        return None
    body = stored[4:]
    return body if zlib.crc32(body) == int.from_bytes(stored[:4], "big") else None


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(str(path), timeout=5.0, check_same_thread=False, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.executescript(_TABLES)
        for probe in _PROBES:
            connection.execute(probe)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _remove(path: Path) -> bool:
    """Remove a damaged cache. False where it cannot be removed."""
    try:
        for ending in ("", "-wal", "-shm"):
            path.with_name(path.name + ending).unlink(missing_ok=True)
    except OSError:
        return False
    return True
