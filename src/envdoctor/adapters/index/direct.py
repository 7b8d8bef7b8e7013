"""Requests straight to a host by the standard library, for a third of what httpx takes; only usual addresses."""

from __future__ import annotations

import io
import re
import select
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from http.client import HTTPException, HTTPResponse, RemoteDisconnected
from typing import Any, cast
from urllib.parse import urljoin, urlsplit

from envdoctor.adapters.index.connections import NO_ANSWER, TICK, Connections, watched
from envdoctor.adapters.index.credentials import origin_of
from envdoctor.adapters.index.exchange import Asked, ConnectionBroke, TransportError, error_text

__all__ = ["DirectClient", "is_usual"]

_TEXT = r"(?:[\w.~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})*"
_USUAL = re.compile(
    rf"https?://[A-Za-z0-9](?:[A-Za-z0-9.-]{{0,250}}[A-Za-z0-9])?(?::[0-9]{{1,5}})?(?:/{_TEXT})?(?:\?{_TEXT})?",
    re.ASCII,
)
_PIECE = 64 * 1024
_MOST_BETWEEN = 16 * _PIECE
"""Bytes between two pieces of a body: heads of chunks, and what follows the last one."""
_CUT = "the connection broke (it ended before the answer did)"
_UNPACKED = 1024 * 1024
"""Bytes that are unpacked at once: a small piece can hold a thousand times its size."""
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_GZIP = zlib.MAX_WBITS | 16
_GZIP_HEAD = b"\x1f"
_LOST = (RemoteDisconnected, ConnectionResetError, BrokenPipeError, ConnectionAbortedError)
"""What happens to a request on a connection that the host has closed."""
_HEADERS = {"accept": "*/*", "accept-encoding": "gzip", "connection": "keep-alive", "user-agent": "envdoctor"}


def is_usual(url: str) -> bool:
    """Return whether an address can be sent as it stands."""
    return _USUAL.fullmatch(url) is not None and "/." not in url


class DirectClient:
    """Keeps connections open, and gives each to one request at a time. Thread-safe."""

    def __init__(self, tls: Callable[[str], ssl.SSLContext], kept: int, connections: Connections) -> None:
        self._tls = tls
        self._kept = kept
        self._connections = connections
        self._lock = threading.Lock()
        self._idle: dict[str, list[socket.socket]] = {}
        self._closed = False

    def send(self, asked: Asked) -> _Answer:
        """Send a request. Raises ConnectionBroke or TransportError."""
        head = _head(asked)
        kept = self._taken(origin_of(asked.url))
        if kept is not None:
            with suppress(*_LOST):  # It may have been closed while it waited.
                return self._exchanged(kept, head, asked, _LOST)
        return self._exchanged(self._connected(asked), head, asked, ())

    def keep(self, origin: str, connection: socket.socket) -> None:
        """Take a connection back."""
        with self._lock:
            idle = self._idle.setdefault(origin, [])
            if not self._closed and len(idle) < self._kept:
                idle.append(connection)
                return
        connection.close()

    def close(self) -> None:
        """Close the connections that nobody uses, and keep no more."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, {}
        for connection in (each for kept in idle.values() for each in kept):
            connection.close()

    def _taken(self, origin: str) -> socket.socket | None:
        while True:
            with self._lock:
                idle = self._idle.get(origin)
                if not idle:
                    return None
                connection = idle.pop()
            if not _readable(connection):
                return connection
            connection.close()  # What can be read of it while nothing was asked is its end.

    def _exchanged(
        self, connection: socket.socket, head: bytes, asked: Asked, lost: tuple[type[Exception], ...]
    ) -> _Answer:
        stream = _Stream(connection, asked)
        response = HTTPResponse(cast("socket.socket", stream), method="GET")
        try:
            with _named_errors(lost=lost):
                connection.settimeout(asked.timeout)
                connection.sendall(head)
                response.begin()
        except BaseException:
            response.close()
            connection.close()
            raise
        stream.answered = True
        return _Answer(response, stream, asked, connection, self.keep)

    def _connected(self, asked: Asked) -> socket.socket:
        parts = urlsplit(asked.url)
        try:
            host, port = parts.hostname or "", parts.port
        except ValueError as error:  # A redirect names what nobody has looked at.
            raise TransportError(f"not a URL that can be fetched ({error})", lasting=True) from None
        context = self._tls(asked.url) if parts.scheme == "https" else None

        def connect() -> socket.socket:
            connection = socket.create_connection((host, port or (443 if context else 80)), timeout=asked.connect)
            try:
                self._connections.add(connection)
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                if context is not None:
                    connection = context.wrap_socket(connection, server_hostname=host)
                    self._connections.add(connection)
            except BaseException:
                connection.close()
                raise
            return connection

        try:
            return watched(connect, asked.stop, asked.waiting, socket.socket.close)
        except TimeoutError:
            raise ConnectionBroke("no connection within the time limit", unreachable=True) from None
        except UnicodeError as error:
            raise TransportError(f"not a URL that can be fetched ({error})", lasting=True) from None
        except OSError as error:
            raise ConnectionBroke(f"cannot connect ({error_text(error)})", unreachable=True) from None


class _Stream(io.RawIOBase):
    """Reads from a connection with the patience of one request."""

    def __init__(self, connection: socket.socket, asked: Asked) -> None:
        self._connection = connection
        self._asked = asked
        self.answered = False
        """Whether the head of the answer is there, after which no moment is set for the rest."""
        self._begun = 0.0
        self._left = 0

    def begin_piece(self) -> None:
        """Give the next piece of a body its time and its bytes, with all that its host puts before it."""
        self._begun, self._left = time.monotonic(), _MOST_BETWEEN

    def makefile(self, _mode: str) -> io.BufferedReader:
        """Return what HTTPResponse reads from."""
        return io.BufferedReader(self, _PIECE)

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read what comes next. Raises TimeoutError or OSError."""
        asked = self._asked
        now = time.monotonic()
        left = self._begun + asked.timeout if self.answered else min(asked.stop, now + asked.timeout)
        if self.answered and self._left <= 0:
            raise OSError("it says nothing without an end")
        while True:
            if now >= left:
                raise TimeoutError
            self._connection.settimeout(min(TICK, left - now))
            try:
                count = self._connection.recv_into(buffer)
            except TimeoutError:
                asked.waiting()
                now = time.monotonic()
            else:
                self._left -= count
                return count


class _Answer:
    """An answer, the body yet to be read."""

    def __init__(
        self,
        response: HTTPResponse,
        stream: _Stream,
        asked: Asked,
        connection: socket.socket,
        keep: Callable[[str, socket.socket], None],
    ) -> None:
        self._response = response
        self._stream = stream
        self._asked = asked
        self._connection = connection
        self._keep = keep
        self.status = response.status
        self.headers: dict[str, str] = {}
        for name, value in response.getheaders():
            lower = name.lower()
            self.headers[lower] = f"{self.headers[lower]}, {value}" if lower in self.headers else value

    @property
    def following(self) -> Asked | None:
        """The request that it redirects to. Raises TransportError."""
        place = self.headers.get("location")
        if self.status not in _REDIRECTS or place is None:
            return None
        try:
            url = urljoin(self._asked.url, place)
            leaves = origin_of(url) != origin_of(self._asked.url)
        except ValueError as error:
            raise TransportError(f"not a URL that can be fetched ({error})", lasting=True) from None
        headers = self._asked.headers
        if leaves:
            headers = {name: value for name, value in headers.items() if name.lower() != "authorization"}
        return replace(self._asked, url=url, headers=headers)

    def chunks(self) -> Iterator[bytes]:
        """Yield the body, unpacked. Raises ConnectionBroke or TransportError."""
        coding = self.headers.get("content-encoding", "").strip().lower()
        if coding not in ("", "identity", "gzip", "x-gzip"):
            raise TransportError(f"its answer cannot be unpacked (it is packed as `{coding}`)")
        with _named_errors():
            pieces = iter(self._piece, b"")
            yield from _unpacked(pieces) if coding.endswith("gzip") else pieces
        if self._response.length:
            raise ConnectionBroke(_CUT)
        self._response.close()

    def _piece(self) -> bytes:
        self._stream.begin_piece()
        return self._response.read1(_PIECE)

    def close(self) -> None:
        """Give the connection back, or close it where the body was not read to the end."""
        response = self._response
        whole = response.isclosed() or response.length == 0
        response.close()
        if whole and not response.will_close:
            self._keep(origin_of(self._asked.url), self._connection)
        else:
            self._connection.close()


def _unpacked(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Yield what gzip packed, in one part or several. Raises zlib.error or ConnectionBroke."""
    stream = zlib.decompressobj(_GZIP)
    came = False
    for piece in pieces:
        left, came = piece, True
        while left:
            if stream.eof:
                if not left.startswith(_GZIP_HEAD):
                    return  # padding or a server's mistake behind a whole answer: other clients pass over it
                stream = zlib.decompressobj(_GZIP)
            yield stream.decompress(left, _UNPACKED)
            left = stream.unused_data if stream.eof else stream.unconsumed_tail
    if came and not stream.eof:
        yield stream.flush()
        if not stream.eof:
            raise ConnectionBroke(_CUT)


@contextmanager
def _named_errors(*, lost: tuple[type[Exception], ...] = ()) -> Iterator[None]:
    """Say in our words what reading and writing raise, but for ``lost``. Raises ConnectionBroke or TransportError."""
    try:
        yield
    except lost:
        raise
    except zlib.error as error:
        raise TransportError(f"its answer cannot be unpacked ({error})") from None
    except TimeoutError:
        raise ConnectionBroke(NO_ANSWER) from None
    except (HTTPException, OSError, OverflowError) as error:  # the last: a piece's length of hundreds of digits
        raise ConnectionBroke(f"the connection broke ({error_text(error)})") from None


def _head(asked: Asked) -> bytes:
    """Return the head of a request. Raises TransportError."""
    parts = urlsplit(asked.url)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    headers = {**_HEADERS, **{name.lower(): value for name, value in asked.headers.items()}}
    lines = [
        f"GET {target} HTTP/1.1",
        f"host: {parts.netloc}",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    if not all(map(str.isprintable, lines)):
        raise ConnectionBroke("the connection broke (a header that cannot be sent)")
    try:
        return "\r\n".join([*lines, "", ""]).encode("latin-1")
    except UnicodeError as error:
        raise TransportError(f"not a URL that can be fetched ({error})", lasting=True) from None


def _readable(connection: socket.socket) -> bool:
    if not hasattr(select, "poll"):
        return bool(select.select([connection], [], [], 0)[0])
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    return bool(poll.poll(0))
