"""How often a file is asked for, and what is made of the answers."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pytest
from apply_archives import Served, serve

from envdoctor.adapters.index import download
from envdoctor.adapters.index.download import IndexFetch
from envdoctor.ports import DownloadFailed

NAME, DATA = "alpha-1.0-py3-none-any.whl", bytes(range(100))


@pytest.fixture
def server() -> Iterator[Served]:
    with serve({NAME: DATA}) as served:
        yield served


@pytest.fixture
def fetch() -> Iterator[IndexFetch]:
    """What brings files; between attempts it does not wait."""
    made = IndexFetch([])
    made._open().sleep = lambda _seconds: None
    yield made
    made.close()


def fetched(fetch: IndexFetch, url: str, size: int | None = None) -> bytes:
    into, counts = io.BytesIO(), list[int]()
    fetch(url, size, into, counts.append)
    assert sum(counts) == len(into.getvalue())
    return into.getvalue()


@pytest.mark.parametrize("status", [401, 403, 404, 410, 416, 501])
def test_what_a_server_says_for_good_is_asked_once(server: Served, fetch: IndexFetch, status: int) -> None:
    server.status = status
    with pytest.raises(DownloadFailed, match=f"`{NAME}` could not be fetched: its server answered {status}"):
        fetched(fetch, f"{server.url}{NAME}")
    assert server.asked == [NAME]


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_what_may_pass_is_asked_four_times_at_most(server: Served, fetch: IndexFetch, status: int) -> None:
    server.status = status
    with pytest.raises(DownloadFailed, match=str(status)):
        fetched(fetch, f"{server.url}{NAME}")
    assert server.asked == [NAME] * 4


@pytest.mark.parametrize("size", [None, len(DATA)])
@pytest.mark.parametrize(("ranges", "requests"), [(None, 4), (0, 1), (1, 2)])
def test_a_file_comes_whole_with_ranges_and_where_they_end(
    server: Served,
    fetch: IndexFetch,
    monkeypatch: pytest.MonkeyPatch,
    size: int | None,
    ranges: int | None,
    requests: int,
) -> None:
    monkeypatch.setattr(download, "_BLOCK", 30)
    server.ranges = ranges
    assert fetched(fetch, f"{server.url}{NAME}", size) == DATA
    assert len(server.asked) == requests
