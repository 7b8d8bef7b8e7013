"""How often a file is asked for, and what is made of the answers."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping

import pytest
from apply_archives import Served, serve

from envdoctor.adapters.index import download
from envdoctor.adapters.index.download import IndexFetch
from envdoctor.adapters.index.exchange import Reply
from envdoctor.adapters.index.transport import Transport
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


def _part(start: int, data: bytes, total: int) -> Reply:
    return Reply(206, {"content-range": f"bytes {start}-{start + len(data) - 1}/{total}"}, data, "")


ENDLESS: dict[str, tuple[Callable[[int], Reply], str]] = {
    "a byte at a time": (lambda start: _part(start, b"x", 10**6), "in 65 and more parts below 16 KiB"),
    "a file that grows": (
        lambda start: _part(start, bytes(20_000), start + 10**6),
        "says another size of it meanwhile",
    ),
    "a file without end": (lambda start: _part(start, bytes(20_000), 10**12), "it is larger than its index says"),
    "an answer without end": (lambda _start: Reply(200, {}, b"", "", cut=True), "it is larger than its index says"),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_a_file_that_never_ends_is_given_up(fetch: IndexFetch, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    answer, said = ENDLESS[name]
    asked = []

    def get(_self: Transport, _url: str, headers: Mapping[str, str], limit: int) -> Reply:
        asked.append(headers["Range"])
        assert limit < 1 << 30
        assert len(asked) < 100
        return answer(int(headers["Range"].removeprefix("bytes=").partition("-")[0]))

    monkeypatch.setattr(Transport, "get", get)
    with pytest.raises(DownloadFailed, match=f"`{NAME}` could not be fetched: .*{said}"):
        fetched(fetch, f"https://index.example/{NAME}", 10**6)
