"""The open connections, so that requests that are under way can be ended from another thread; an end to waiting."""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol, TypeVar, cast

from envdoctor.adapters.index.exchange import TransportError

if TYPE_CHECKING:
    import socket

__all__ = ["NO_ANSWER", "TICK", "Connections", "Stream", "wake", "watched"]

TICK = 1.0
"""Seconds between two words about waiting."""
NO_ANSWER = "no answer within the time limit"
_MADE = frozenset({"connection.connect_tcp.complete", "connection.start_tls.complete"})
"""What httpcore says when a stream has been made; the second takes the place of the first."""

T = TypeVar("T")


class Stream(Protocol):
    """A connection as httpcore has it."""

    def close(self) -> None:
        """Close it."""
        ...

    def get_extra_info(self, info: str) -> object:
        """Return what it knows, its ``socket`` among it."""
        ...


class Connections:
    """Every connection of one transport. Thread-safe.

    A pool that is closed forgets its connections: one that is made a moment later belongs to nobody, and a thread that
    waits for an answer goes on waiting. So they are known here from their beginning.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made: weakref.WeakSet[Stream | socket.socket] = weakref.WeakSet()
        self._ended = False

    def trace(self, event: str, info: Mapping[str, object]) -> None:
        """Take what httpcore tells of a request, its ``trace`` extension."""
        if event in _MADE:
            self.add(cast("Stream", info["return_value"]))

    def add(self, made: Stream | socket.socket) -> None:
        """Take a new connection; after ``end`` it is closed at once."""
        with self._lock:
            if not self._ended:
                self._made.add(made)
                return
        made.close()

    def end(self) -> None:
        """Wake whoever reads or writes: they fail, and close their connections themselves.

        Closing a socket under a thread would not wake it, and would let it read from whatever gets its number next.
        """
        with self._lock:
            self._ended = True
            known = list(self._made)
        for made in known:
            wake(made)


def wake(made: Stream | socket.socket) -> None:
    """Let whoever reads from a connection or writes to it fail."""
    import socket  # where there is no connection, nothing was asked

    connected = made if isinstance(made, socket.socket) else made.get_extra_info("socket")
    if isinstance(connected, socket.socket):
        with suppress(OSError):  # Closed or broken already.
            connected.shutdown(socket.SHUT_RDWR)


def watched(perform: Callable[[], T], stop: float, waiting: Callable[[], None], discard: Callable[[T], None]) -> T:
    """Return what ``perform`` returns or raise what it raises, unless that takes until ``stop`` (monotonic clock).

    Time limits of sockets do not hold for name servers, nor for a head that comes byte by byte: whoever is still at
    it when the time is up is left behind, and ``discard`` gets what comes of it. Raises TransportError. ``waiting`` is
    called about once a second.
    """
    outcome: list[T | BaseException] = []
    lock = threading.Lock()
    done = threading.Event()
    left = False

    def work() -> None:
        try:
            result: T | BaseException = perform()
        except BaseException as error:  # noqa: BLE001 - handed over
            result = error
        with lock:
            if not left:
                outcome.append(result)
        if not outcome and not isinstance(result, BaseException):
            discard(result)
        done.set()

    threading.Thread(target=work, name="envdoctor-request", daemon=True).start()
    while not done.wait(max(0.0, min(TICK, stop - time.monotonic()))):
        waiting()
        if time.monotonic() >= stop:
            with lock:
                left = not outcome
            if left:
                raise TransportError(NO_ANSWER, silent=True)
    found = outcome[0]
    if isinstance(found, BaseException):
        raise found
    return found
