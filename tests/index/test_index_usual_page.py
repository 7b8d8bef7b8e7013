"""Pages that are read by column say what they say when they are read file by file."""

from __future__ import annotations

import json
from typing import Any

import pytest
from packaging.utils import NormalizedName

from envdoctor.adapters.index.page_codec import decode_page
from envdoctor.adapters.index.page_encoding import encode_page, shared_start
from envdoctor.adapters.index.page_listing import NotAListing, read_listing
from envdoctor.adapters.index.usual_page import encode_usual

PROJECT = NormalizedName("some-thing")
BASE = "https://index.example/simple/some-thing/"
SHA = "ab" * 32


def entry(filename: str, **more: Any) -> dict[str, Any]:
    url = f"https://files.example/{len(filename):02}/{filename}"
    return {"filename": filename, "url": url, "hashes": {"sha256": SHA}, **more}


def page(*files: object, **more: object) -> bytes:
    return json.dumps({"meta": {"api-version": "1.1"}, "name": PROJECT, "files": files, **more}).encode()


def by_digest(number: int, **more: Any) -> dict[str, Any]:
    digits, filename = f"{number:064x}", f"some_thing-{number}.0-py3-none-any.whl"
    return entry(filename, url=f"https://files.example/{digits[:2]}/{digits[2:4]}/{digits[4:]}/{filename}", **more)


DIGESTS = [by_digest(2 << 8 * number, **{"upload-time": "2026-11-28T10:00:00.123456Z"}) for number in range(32)]
USUAL = (
    page(*DIGESTS),
    page(*DIGESTS, entry("some_thing-1.0.tar.gz", **{"upload-time": "2026-11-28T10:00:00Z"})),
    page(),
    page(entry("some_thing-1.0-py3-none-any.whl"), entry("some_thing-1.0.tar.gz")),
    page(entry("some_thing-1.0-1-cp311-cp311-win_amd64.whl"), entry("Some.Thing-1.0.0-py2.py3-none-any.whl")),
    page(entry("some-thing-0.9-1.zip"), entry("some_thing-1.0.exe"), entry("some_thing-1.0-py3.11.egg")),
    page(entry("other-1.0-py3-none-any.whl"), entry("some_thing-one-py3-none-any.whl"), entry("some_thing-2.tar.gz")),
    page(entry("some_thing-1.0+cu118-cp311-cp311-linux_x86_64.whl"), entry("some_thing-1.0_1-py3-none-any.whl")),
    page(*(entry(f"some_thing-{n}.0-py3-none-any.whl", size=n * 10**6) for n in range(300))),
    page(
        entry("some_thing-1.0-py3-none-any.whl", yanked=True, size=None),
        entry("some_thing-1.1-py3-none-any.whl", yanked="broken"),
        entry("some_thing-1.2-py3-none-any.whl", yanked=""),
        entry("some_thing-1.3-py3-none-any.whl", yanked=False),
        entry("some_thing-1.4-py3-none-any.whl", yanked=None),
    ),
    page(
        entry("some_thing-1.0-py3-none-any.whl", **{"core-metadata": True}),
        entry("some_thing-1.1-py3-none-any.whl", **{"core-metadata": {"sha256": "cd" * 32}}),
        entry("some_thing-1.2-py3-none-any.whl", **{"core-metadata": False, "requires-python": ">=3.8"}),
        entry("some_thing-1.3-py3-none-any.whl", **{"dist-info-metadata": {"sha256": "CD" * 32}}),
        entry("some_thing-1.4-py3-none-any.whl", **{"core-metadata": {}, "requires-python": "  "}),
        entry("some_thing-1.5-py3-none-any.whl", **{"upload-time": "2026-11-28T10:00:00.123456Z"}),
    ),
)
UNUSUAL = (
    b"not JSON",
    b"[" * 100_000,
    b"{}",
    page()[:-1],
    json.dumps({"files": []}).encode(),
    json.dumps({"meta": {"api-version": "2.0"}, "files": []}).encode(),
    json.dumps({"meta": {"api-version": 1}, "files": []}).encode(),
    page("text"),
    page({"filename": "some_thing-1.0.tar.gz"}),
    page({"filename": 1, "url": "https://files.example/"}),
    page(entry("some_thing-1.0-py3-none-any.whl", url="some_thing-1.0-py3-none-any.whl")),
    page(entry("some_thing-1.0-py3-none-any.whl", url="file:///etc/some_thing-1.0-py3-none-any.whl")),
    page(entry("some_thing-1.0-py3-none-any.whl", url="https://[files/some_thing-1.0-py3-none-any.whl")),
    page(entry("some_thing-1.0-py3-none-any.whl", url="https://files.example/a\nb")),
    page(entry("some_thing-1.0-py3-none-any.whl", url="https://files.example/x#sha256=00")),
    page(entry("a/some_thing-1.0-py3-none-any.whl")),
    page(entry("some_thing-1.0-py3-none-\u00e4ny.whl")),
    page(entry("some_thing-1.0-py3-none-any.whl", hashes={})),
    page(entry("some_thing-1.0-py3-none-any.whl", hashes={"md5": "ab" * 16})),
    page(entry("some_thing-1.0-py3-none-any.whl", hashes={"sha256": SHA, "md5": "ab" * 16})),
    page(entry("some_thing-1.0-py3-none-any.whl", hashes={"sha256": "xy" * 32})),
    page(entry("some_thing-1.0-py3-none-any.whl", hashes={"sha256": "a " * 32})),
    page(entry("some_thing-1.0-py3-none-any.whl", hashes={"sha256": 7})),
    page(entry("some_thing-1.0-py3-none-any.whl", hashes=None)),
    page(entry("some_thing-1.0-py3-none-any.whl", size=True)),
    page(entry("some_thing-1.0-py3-none-any.whl", size=-1)),
    page(entry("some_thing-1.0-py3-none-any.whl", size="big")),
    page(entry("some_thing-1.0-py3-none-any.whl", yanked=3)),
    page(entry("some_thing-1.0-py3-none-any.whl", **{"upload-time": "yesterday"})),
    page(entry("some_thing-1.0-py3-none-any.whl", **{"upload-time": 3})),
    page(entry("some_thing-1.0-py3-none-any.whl", **{"upload-time": "2026-11-28T10:00:00" + "0" * 99})),
    page(entry("some_thing-1.0"), entry("some_thing-1.0-py3-none-any.whl")),
    page(entry("some_thing-1.0-py3-none-any.whl", **{"requires-python": 3})),
    page(entry("some_thing-1.0-py3-none-any.whl", **{"core-metadata": {"md5": "ab" * 16}})),
    page(entry("some_thing-1.0-py3-none-any.whl", **{"core-metadata": {"sha256": "ab"}})),
)


@pytest.mark.parametrize("content", USUAL)
def test_a_usual_page_is_the_same_bytes_either_way(content: bytes) -> None:
    by_file = encode_page(read_listing(content, "application/json", BASE, PROJECT))
    assert encode_usual(content, PROJECT) == by_file


@pytest.mark.parametrize("content", UNUSUAL)
def test_what_is_unusual_is_left_to_the_reader_that_knows_every_case(content: bytes) -> None:
    usual = encode_usual(content, PROJECT)
    try:
        by_file = encode_page(read_listing(content, "application/json", BASE, PROJECT))
    except NotAListing:
        by_file = None
    assert usual in (None, by_file)
    assert usual is None


@pytest.mark.parametrize("entries", [DIGESTS, [*DIGESTS, entry("some_thing-1.0.zip", size=7)], DIGESTS[:1]])
def test_files_come_back_as_the_page_lists_them(entries: list[dict[str, Any]]) -> None:
    found = encode_usual(page(*entries), PROJECT)
    assert found is not None
    files = decode_page(found, PROJECT, "default").files
    assert [(file.filename, file.url, file.size, file.upload_time) for file in files] == [
        (entry["filename"], entry["url"], entry.get("size"), entry.get("upload-time")) for entry in entries
    ]


def test_sidecar_hashes_come_back_with_their_files() -> None:
    found = encode_usual(USUAL[-1], PROJECT)
    assert found is not None
    files = decode_page(found, PROJECT, "default").files
    assert [file.sidecar for file in files] == [True, True, False, True, False, False]
    assert [dict(file.sidecar_hashes).get("sha256") for file in files] == [
        None,
        "cd" * 32,
        None,
        "cd" * 32,
        None,
        None,
    ]


@pytest.mark.parametrize(
    ("texts", "shared"),
    [
        ([], ""),
        (["https://x/a"], "https://x/a"),
        (["https://x/ab", "https://x/a", "https://x/abc"], "https://x/a"),
        (["https://x/b", "https://x/abc", "https://x/a"], "https://x/"),
        (["a", "b"], ""),
        (["", "a"], ""),
    ],
)
def test_what_texts_begin_with_is_what_all_of_them_begin_with(texts: list[str], shared: str) -> None:
    assert shared_start(texts) == shared
