"""The open connections of a pool, so that requests that are under way can be ended from another thread."""

from __future__ import annotations

import socket
import threading
import weakref
from collections.abc import Mapping
from contextlib import suppress
from typing import Protocol, cast

__all__ = ["Connections"]

_MADE = frozenset({"connection.connect_tcp.complete", "connection.start_tls.complete"})
"""What httpcore says when a stream has been made; the second takes the place of the first."""


class _Stream(Protocol):
    def close(self) -> None: ...

    def get_extra_info(self, info: str) -> object: ...


class Connections:
    """Every stream of one pool. Thread-safe.

    A pool that is closed forgets its connections: one that is made a moment later belongs to nobody, and a thread that
    waits for an answer goes on waiting. So streams are known here from their beginning.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._streams: weakref.WeakSet[_Stream] = weakref.WeakSet()
        self._ended = False

    def trace(self, event: str, info: Mapping[str, object]) -> None:
        """Take what httpcore tells of a request, its ``trace`` extension; after ``end``, streams are closed at once."""
        if event not in _MADE:
            return
        stream = cast("_Stream", info["return_value"])
        with self._lock:
            if not self._ended:
                self._streams.add(stream)
                return
        stream.close()

    def end(self) -> None:
        """Wake whoever reads or writes: they fail, and close their streams themselves.

        Closing a socket under a thread would not wake it, and would let it read from whatever gets its number next.
        """
        with self._lock:
            self._ended = True
            streams = list(self._streams)
        for stream in streams:
            connected = stream.get_extra_info("socket")
            if isinstance(connected, socket.socket):
                with suppress(OSError):  # Closed or broken already.
                    connected.shutdown(socket.SHUT_RDWR)
