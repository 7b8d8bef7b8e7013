"""Bytes of an archive by position, from the disk or a server; and whether bytes are the ones that an index lists."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from envdoctor.adapters.index.transport import Transport
from envdoctor.adapters.index.zip_directory import Window
from envdoctor.adapters.read_files import open_file, pieces_of
from envdoctor.model.index_url import file_path

__all__ = [
    "GONE",
    "ArchiveBytes",
    "HttpBytes",
    "LocalBytes",
    "NoBytes",
    "Refused",
    "digest_of_local",
    "local_path",
    "matches",
]


def matches(content: bytes, hashes: tuple[tuple[str, str], ...]) -> bool:
    """Return False where a listed hash differs; a file without hashes matches."""
    return _agree((content,), hashes)


def _agree(pieces: Iterable[bytes], hashes: tuple[tuple[str, str], ...]) -> bool:
    """Return whether a file has all of the hashes that can be made; without any its pieces are not asked for."""
    if not hashes:
        return True
    import hashlib  # with its libraries; what is in the cache needs none

    fixed = {name for name in hashlib.algorithms_guaranteed if not name.startswith("shake_")}  # Those end nowhere.
    made = [(hashlib.new(name, usedforsecurity=False), digest) for name, digest in hashes if name in fixed]
    for piece in pieces if made else ():
        for found, _ in made:
            found.update(piece)
    return all(found.hexdigest() == digest.lower() for found, digest in made)


GONE = frozenset({404, 410})
"""Statuses that say that a file is not there, and not merely that it is not given now."""
_TAIL = (48 * 1024, 384 * 1024)
"""Least and most bytes of a first read; between them it grows with the file, as directories do."""
WHOLE = 48 * 1024 * 1024
"""Bytes of a file that is taken whole where its server cannot do ranges."""
_CONTENT_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+)")
# A proxy that packs what it forwards would shift every position.
_PLAIN = {"Accept-Encoding": "identity"}


class NoBytes(Exception):
    """The file cannot be read; the text is the reason."""


class Refused(NoBytes):
    """Its server answered without the file."""

    def __init__(self, status: int) -> None:
        super().__init__(f"its server answered {status}")
        self.status = status


class ArchiveBytes(Protocol):
    """Reads a file by position."""

    def tail(self) -> Window:
        """Return the file's last bytes. Raises NoBytes or TransportError."""
        ...

    def fetch(self, start: int, stop: int) -> bytes:
        """Return bytes from ``start`` up to ``stop`` or the end. Raises NoBytes or TransportError."""
        ...


class LocalBytes:
    """A file of this machine."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def matches(self, hashes: tuple[tuple[str, str], ...]) -> bool:
        """Return whether the file has all of the hashes; without any it is not read."""
        try:
            return _agree(pieces_of(self._path), hashes)
        except OSError as error:
            raise NoBytes(error.strerror or str(error)) from None

    def tail(self) -> Window:
        """Return the whole file's last bytes."""
        try:
            size = self._path.stat().st_size
        except OSError as error:
            raise NoBytes(error.strerror or str(error)) from None
        start = max(0, size - _tail_length(size))
        return Window(start, self.fetch(start, size))

    def fetch(self, start: int, stop: int) -> bytes:
        """Return bytes of the file."""
        try:
            with open_file(self._path) as file:
                file.seek(start)
                return file.read(max(0, stop - start))
        except OSError as error:
            raise NoBytes(error.strerror or str(error)) from None


class HttpBytes:
    """A file on a server, by ranges; whole where the server cannot and the file is small enough."""

    def __init__(self, transport: Transport, url: str, size: int | None, patient: bool = True) -> None:
        self._transport = transport
        self._url = url
        self._size = size
        self._patient = patient
        self.whole: bytes | None = None
        """The file, where the server sent all of it."""

    def tail(self) -> Window:
        """Return the file's last bytes, in one request."""
        if self._size is None:
            asked = f"bytes=-{_TAIL[0]}"
        else:
            asked = f"bytes={max(0, self._size - _tail_length(self._size))}-{max(0, self._size - 1)}"
        return self._ask(asked)

    def fetch(self, start: int, stop: int) -> bytes:
        """Return bytes of the file."""
        if self.whole is None:
            stop = stop if self._size is None else min(stop, self._size)
            window = self._ask(f"bytes={start}-{stop - 1}")
            if window.start != start and self.whole is None:
                raise NoBytes("its server answered with another range than the one asked for")
        if self.whole is not None:
            return self.whole[start:stop]
        return window.data

    def _ask(self, asked: str) -> Window:
        reply = self._transport.get(self._url, {"Range": asked, **_PLAIN}, WHOLE, self._patient)
        if reply.status == 416:
            reply = self._transport.get(self._url, _PLAIN, WHOLE, self._patient)
        if reply.status == 206:
            match = _CONTENT_RANGE.match(reply.headers.get("content-range", ""))
            if match is None or int(match[2]) - int(match[1]) + 1 != len(reply.content):
                raise NoBytes("its server answered with a range that does not add up")
            self._size = int(match[3])
            return Window(int(match[1]), reply.content)
        if reply.status == 200 and reply.cut:
            raise NoBytes(f"its server does no ranges, and it is larger than {WHOLE // 1024 // 1024} MiB")
        if reply.status == 200:
            self.whole = reply.content
            self._size = len(reply.content)
            return Window(0, reply.content)
        raise Refused(reply.status)


def _tail_length(size: int) -> int:
    return min(max(size // 128, _TAIL[0]), _TAIL[1])


def local_path(url: str) -> Path | None:
    """Return the path that a ``file:`` URL names, None for other URLs."""
    path = file_path(url)
    return Path(path) if path is not None else None


def digest_of_local(url: str) -> str | None:
    """Return the SHA-256 of the file that a ``file:`` URL names, None for other URLs and what cannot be read."""
    path = local_path(url)
    if path is None:
        return None
    import hashlib  # as above

    digest = hashlib.sha256()
    try:
        for piece in pieces_of(path):
            digest.update(piece)
    except OSError:
        return None
    return digest.hexdigest()
