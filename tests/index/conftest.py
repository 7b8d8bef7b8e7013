from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from index_server import IndexServer

from envdoctor.adapters.index import AnyIndex, IndexSettings, open_index


@pytest.fixture
def server() -> Iterator[IndexServer]:
    made = IndexServer()
    yield made
    made.close()


@pytest.fixture
def other_server() -> Iterator[IndexServer]:
    made = IndexServer()
    yield made
    made.close()


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for variable in ("PIP_INDEX_URL", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "ENVDOCTOR_INDEX_URL"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("NETRC", str(tmp_path / "no-netrc"))


@pytest.fixture
def opened(server: IndexServer, tmp_path: Path) -> Iterator[Callable[..., AnyIndex]]:
    """Open an index on the server (or with other settings); back-off does not sleep."""
    made: list[AnyIndex] = []

    def make(**settings: object) -> AnyIndex:
        chosen = {"default_url": server.url, "cache_dir": tmp_path / "cache", "timeout": 5.0, **settings}
        index = open_index(IndexSettings(**chosen))  # type: ignore[arg-type]
        if hasattr(index, "_transport"):
            index._transport.sleep = lambda _seconds: None
        made.append(index)
        return index

    yield make
    for index in made:
        index.close()


@pytest.fixture
def by_hand() -> Iterator[Callable[[Callable[[socket.socket], None]], str]]:
    """Serve connections by hand; returns an index URL."""
    listeners: list[socket.socket] = []

    def make(behaviour: Callable[[socket.socket], None]) -> str:
        listener = socket.create_server(("127.0.0.1", 0))
        listeners.append(listener)

        def serve(connection: socket.socket) -> None:
            with connection:
                try:
                    behaviour(connection)
                    time.sleep(3)
                except OSError:
                    pass

        def accept() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                threading.Thread(target=serve, args=(connection,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        return f"http://127.0.0.1:{listener.getsockname()[1]}/simple/"

    yield make
    for listener in listeners:
        listener.close()
