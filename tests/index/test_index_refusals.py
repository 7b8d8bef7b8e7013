"""A project whose files cannot be had: given up after some of them, with the reason, in bounded time."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from index_server import IndexServer
from packaging.utils import canonicalize_name

from envdoctor.adapters.index import AnyIndex
from envdoctor.model.candidate import DistributionFile
from envdoctor.ports import IndexUnavailable, MetadataUnavailable

ALPHA = canonicalize_name("alpha")
MANY = 60


def _serve(server: IndexServer, name: str, count: int = MANY, **answer: object) -> None:
    files = [server.wheel(f"{name}-1.{number}-py3-none-any.whl") for number in range(count)]
    server.page(name, files)
    for path, served in server.answers.items():
        if path.startswith(f"/files/{name}-"):
            for key, value in {**answer, "ranges": not answer}.items():
                setattr(served, key, value)


def _ask_all(index: AnyIndex, name: str) -> list[str]:
    return [_asked(index, file) for file in index.page(canonicalize_name(name)).files]


def _asked(index: AnyIndex, file: DistributionFile) -> str:
    try:
        index.metadata(file)
    except (MetadataUnavailable, IndexUnavailable) as error:
        return error.unknown.cause
    return ""


@pytest.mark.parametrize(("status", "most"), [(404, 21), (403, 21), (500, 21), (503, 21)])
def test_a_project_whose_files_are_refused_is_given_up(
    server: IndexServer, opened: Callable[..., AnyIndex], status: int, most: int
) -> None:
    _serve(server, "alpha", status=status)
    _serve(server, "beta", 3)
    index = opened()
    said = _ask_all(index, "alpha")
    assert all(said)
    assert server.count("/files/alpha") <= most, "the file, and once whether its server has sidecars"
    assert str(status) in said[0]
    if status != 503:  # A busy host is left alone as a whole.
        assert len(index.notes) == 1
        assert "no more of them are asked for" in index.notes[0]
        assert _ask_all(index, "beta") == ["", "", ""]


def test_files_that_break_are_given_up_too(server: IndexServer, opened: Callable[..., AnyIndex]) -> None:
    _serve(server, "alpha", cut_short=True)
    index = opened()
    assert all(_ask_all(index, "alpha"))
    assert server.count("/files/alpha") <= 24


def test_one_file_that_comes_begins_the_count_anew(server: IndexServer, opened: Callable[..., AnyIndex]) -> None:
    _serve(server, "alpha")
    for number in range(MANY):
        if number % 10:
            server.answers[f"/files/alpha-1.{number}-py3-none-any.whl"].status = 404
            server.answers[f"/files/alpha-1.{number}-py3-none-any.whl"].ranges = False
    index = opened()
    said = _ask_all(index, "alpha")
    assert said.count("") == MANY // 10
    assert not [text for text in said if "no more files" in text]


def test_what_is_in_the_cache_is_told_of_a_project_that_was_given_up(
    server: IndexServer, opened: Callable[..., AnyIndex]
) -> None:
    _serve(server, "alpha")
    index = opened()
    first = index.page(ALPHA).files[0]
    index.metadata(first)
    index.close()
    for answer in server.answers.values():
        answer.status = answer.status if answer.content_type.endswith("json") else 403
        answer.ranges = False
    again = opened()
    said = _ask_all(again, "alpha")
    assert [text for text in said if not text] == [""]
