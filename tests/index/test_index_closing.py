"""An index that is closed while its pages are being fetched leaves nothing to the garbage collector."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable

import pytest

from envdoctor.adapters.index import AnyIndex

Open = Callable[..., AnyIndex]
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/vnd.pypi.simple.v1+json\r\nContent-Length: 100000\r\n\r\n"


@pytest.fixture
def connected(monkeypatch: pytest.MonkeyPatch) -> list[socket.socket]:
    """Collect the sockets that the index makes; they stay referred to, so that nothing but a close closes them."""
    made: list[socket.socket] = []
    create = socket.create_connection

    def kept(*args: object, **options: object) -> socket.socket:
        made.append(create(*args, **options))  # type: ignore[arg-type]
        return made[-1]

    monkeypatch.setattr(socket, "create_connection", kept)
    return made


@pytest.fixture
def halting(by_hand: Callable[[Callable[[socket.socket], None]], str]) -> Callable[[bytes], str]:
    """Serve the beginning of an answer and no more; returns an index URL."""

    def make(beginning: bytes) -> str:
        def serve(connection: socket.socket) -> None:
            connection.recv(65536)
            connection.sendall(beginning)
            connection.recv(1)  # Until the other side closes.

        return by_hand(serve)

    return make


def until(true: Callable[[], bool]) -> bool:
    stop = time.monotonic() + 10
    while not true() and time.monotonic() < stop:
        time.sleep(0.01)
    return true()


@pytest.fixture
def asking() -> Callable[[], list[str]]:
    """Tell which threads of the index are at work, those of earlier tests left out."""
    before = threading.enumerate()

    def threads() -> list[str]:
        return [
            item.name for item in threading.enumerate() if item.name.startswith("envdoctor-") and item not in before
        ]

    return threads


@pytest.mark.parametrize(
    "beginning", [b"", HEAD[:20], HEAD, HEAD + b"{"], ids=["nothing", "half a head", "head", "body"]
)
def test_a_page_that_is_being_fetched_is_given_up_and_its_socket_closed(
    opened: Open, connected: list[socket.socket], asking, halting, beginning: bytes
) -> None:
    index = opened(default_url=halting(beginning), timeout=60.0)
    index.prefetch_pages(["demo", "other"])
    assert until(lambda: len(connected) == 2)
    index.close()
    assert until(lambda: not asking()), "nobody waits for the server any more"
    assert [item.fileno() for item in connected] == [-1, -1]


def test_a_connection_that_is_made_after_the_close_is_closed(
    opened: Open, connected: list[socket.socket], asking, halting, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = threading.Event(), threading.Event()
    create = socket.create_connection

    def late(*args: object, **options: object) -> socket.socket:
        begun.set()
        assert go_on.wait(10)
        return create(*args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(socket, "create_connection", late)
    index = opened(default_url=halting(b""), timeout=60.0)
    index.prefetch_pages(["demo"])
    assert begun.wait(10)
    index.close()
    go_on.set()
    assert until(lambda: not asking())
    assert [item.fileno() for item in connected] == [-1]


def test_connections_that_wait_for_the_next_page_are_closed(
    server, opened: Open, connected: list[socket.socket]
) -> None:
    server.page("demo", [])
    index = opened()
    index.page("demo")
    index.close()
    assert until(lambda: [item.fileno() for item in connected] == [-1])
