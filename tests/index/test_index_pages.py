from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from index_samples import versions
from packaging.version import Version

from envdoctor.adapters.index import AnyIndex
from envdoctor.model.candidate import FileKind, RejectionKind
from envdoctor.ports import IndexUnavailable, ProjectNotFound

Open = Callable[..., AnyIndex]

HTML = """<!DOCTYPE html><html><head><title>Links for demo</title></head><body>
<a href="/files/demo-1.0-py3-none-any.whl#sha256=ABCD" data-requires-python="&gt;=3.8" data-yanked="broken"
   data-dist-info-metadata="sha256=ef01">demo-1.0-py3-none-any.whl</a>
<a href="../../files/demo-1.1%2Bcu118-cp311-cp311-win_amd64.whl">demo-1.1+cu118-cp311-cp311-win_amd64.whl</a>
<a href="demo-1.2.tar.gz">demo-1.2.tar.gz</a><a href="demo-one.tar.gz">x</a><a href="demo-1.0-py2.7.egg">egg</a>
<a href="file:///etc/demo-9.tar.gz">local</a></body></html>"""


def test_json_page_carries_everything(server, opened: Open) -> None:
    server.page(
        "demo",
        [
            server.wheel("Demo-1.0-py3-none-any.whl", **{"requires-python": ">=3.8", "yanked": "bad build"}),
            server.wheel(
                "demo-1.1.post1-1-cp311-cp311-win_amd64.whl", yanked=False, **{"core-metadata": {"sha256": "ab"}}
            ),
            server.file("demo-1.2.zip", b""),
            server.file("demo-1.2.tar.gz", b"", yanked=True),
        ],
    )
    one, two, three, four = opened().page("demo").files
    assert (one.version, one.kind, one.requires_python, one.yanked) == (
        Version("1.0"),
        FileKind.WHEEL,
        ">=3.8",
        "bad build",
    )
    assert one.hashes[0][0] == "sha256"
    assert one.size is not None and one.size > 0
    assert one.upload_time == "2024-05-01T10:00:00.123456Z"
    assert (two.version, two.yanked, two.sidecar, two.sidecar_hashes) == (
        Version("1.1.post1"),
        None,
        True,
        (("sha256", "ab"),),
    )
    assert (three.kind, four.kind, four.yanked) == (FileKind.SDIST, FileKind.SDIST, "")
    assert two.index == "default" and not two.stand_in


def test_html_page(server, opened: Open) -> None:
    answer = server.page("demo", [])
    answer.body, answer.content_type = HTML.encode(), "text/html; charset=utf-8"
    page = opened().page("demo")
    one, two, three = page.files
    assert (one.hashes, one.requires_python, one.yanked) == ((("sha256", "abcd"),), ">=3.8", "broken")
    assert (one.sidecar, one.sidecar_hashes) == (True, (("sha256", "ef01"),))
    assert two.version == Version("1.1+cu118")
    assert two.url == server.root + "/files/demo-1.1%2Bcu118-cp311-cp311-win_amd64.whl"
    assert three.url == server.url + "demo/demo-1.2.tar.gz"
    assert page.skipped == ("demo-one.tar.gz", "demo-9.tar.gz")


def test_empty_html_listing_is_an_empty_project(server, opened: Open) -> None:
    answer = server.page("demo", [], content_type="text/html")
    answer.body = b"<!DOCTYPE html><title>Links for demo</title><h1>Links for demo</h1>"
    assert opened().page("demo").files == ()


@pytest.mark.parametrize(
    ("body", "content_type", "reason"),
    [
        (
            b"<html><title>Sign in</title><a href='/login'>log in</a></html>",
            "text/html",
            "not a package listing (sign in)",
        ),
        (b'{"meta": {"api-version": "1.0"}, "files": [', "application/json", "not valid JSON"),
        (b'{"error": "no"}', "application/json", "has no list of files"),
        (b'{"meta": {"api-version": "2.0"}, "files": []}', "application/json", "version 2.0 of the simple API"),
        (b"%PDF", "application/pdf", "content type `application/pdf`"),
        (b"[" * 100_000 + b"]" * 100_000, "application/json", "nested too deep"),
        (b'{"files": {"a": 1}}', "application/json", "has no list of files"),
        (b'{"meta": {"api-version": "1.0"}, "files": {}}', "application/json", "has no list of files"),
        (b'{"meta": {"api-version": "1.0"}, "files": ""}', "application/json", "has no list of files"),
        (b'{"files": [5]}', "application/json", "`files[0]` of its JSON answer is not a table"),
        (b'{"files": [{"filename": "a", "url": 5}]}', "application/json", "`files[0].url` of its JSON answer"),
        (
            b'{"files": [{"filename": "a", "url": "b", "hashes": ["sha256"]}]}',
            "application/json",
            "`files[0].hashes` of its JSON answer",
        ),
        (
            b'{"files": [{"filename": "a", "url": "b", "hashes": {"sha256": 5}}]}',
            "application/json",
            "`files[0].hashes` of its JSON answer",
        ),
    ],
)
def test_answer_that_is_no_listing(server, opened: Open, body: bytes, content_type: str, reason: str) -> None:
    server.page("demo", []).body = body
    server.answers["/simple/demo/"].content_type = content_type
    with pytest.raises(IndexUnavailable) as caught:
        opened().page("demo")
    assert reason in caught.value.unknown.cause


@pytest.mark.parametrize(
    "url",
    ["javascript:x", "file:///etc/hostname", "http://[bad/a.whl", "http://\ud800/a.whl", "http://a\0b/a.whl", "//[/"],
)
def test_files_at_addresses_that_nobody_can_ask_are_no_empty_project(server, opened: Open, url: str) -> None:
    server.page("demo", [server.wheel("demo-1.0-py3-none-any.whl", url=url)])
    with pytest.raises(IndexUnavailable, match="addresses that cannot be asked"):
        opened().page("demo")


@pytest.mark.parametrize("size", [10**400, -5, True, "5", 1.5])
def test_a_size_that_is_none_is_not_known(server, opened: Open, size: object) -> None:
    server.page("demo", [server.wheel("demo-1.0-py3-none-any.whl", size=size)])
    (file,) = opened().page("demo").files
    assert file.size is None


def test_an_upload_time_that_is_none_is_not_known(server, opened: Open) -> None:
    server.page("demo", [server.wheel("demo-1.0-py3-none-any.whl", **{"upload-time": "yesterday"})])
    assert versions(opened(exclude_newer="2020-01-01").page("demo")) == ["1.0"]


def test_missing_project(server, opened: Open) -> None:
    index = opened()
    for _ in range(2):
        with pytest.raises(ProjectNotFound):
            index.page("demo")
    assert server.count() == 1


def test_refusal_is_not_a_missing_project(server, opened: Open) -> None:
    server.page("demo", [], password="never")
    with pytest.raises(IndexUnavailable, match=r"BAD_ANSWER.*status=401"):
        opened().page("demo")


def test_busy_server_is_asked_again(server, opened: Open) -> None:
    server.page("demo", [server.wheel("demo-1.0-py3-none-any.whl")], before=[429, 500, 503])
    assert versions(opened().page("demo")) == ["1.0"]
    assert server.count() == 4


def test_server_that_stays_broken(server, opened: Open) -> None:
    server.page("demo", [], before=[500] * 10)
    with pytest.raises(IndexUnavailable, match="answered 500"):
        opened().page("demo")
    assert server.count() == 4


def test_retry_after_is_honoured(server, opened: Open) -> None:
    waits: list[float] = []
    server.page("demo", [], before=[429]).headers["Retry-After"] = "7"
    index = opened()
    index._transport.sleep = waits.append
    index.page("demo")
    assert waits == [7.0]


def test_answer_cut_short_is_fetched_again(server, opened: Open) -> None:
    server.page("demo", [server.wheel("demo-1.0-py3-none-any.whl")], cut_short=True)
    with pytest.raises(IndexUnavailable, match="the connection broke"):
        opened().page("demo")
    assert server.count() == 4


def test_slow_server_is_given_up(server, opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "respond", lambda handler: time.sleep(1))
    with pytest.raises(IndexUnavailable, match="no answer within the time limit"):
        opened(timeout=0.05).page("demo")


def test_exclude_newer_leaves_out_and_says_so(server, opened: Open) -> None:
    server.page(
        "demo",
        [
            server.wheel("demo-1.0-py3-none-any.whl", **{"upload-time": "2024-05-01T23:59:59.9Z"}),
            server.wheel("demo-2.0-py3-none-any.whl", **{"upload-time": "2024-05-02T00:00:00Z"}),
        ],
    )
    index = opened(exclude_newer="2024-05-01")
    assert versions(index.page("demo")) == ["1.0"]
    (rejection,) = index.too_new("demo")
    assert (rejection.kind, rejection.filename) == (RejectionKind.TOO_NEW, "demo-2.0-py3-none-any.whl")
    assert index.notes == ()


@pytest.mark.parametrize("asked", [True, False])
def test_exclude_newer_without_upload_times_is_said(server, opened: Open, *, asked: bool) -> None:
    server.page("demo", [server.wheel("demo-1.0-py3-none-any.whl", **{"upload-time": None})])
    index = opened(exclude_newer="2020-01-01T00:00:00Z" if asked else None)
    assert versions(index.page("demo")) == ["1.0"]
    assert ["no upload times" in note for note in index.notes] == [True] * asked


def test_local_directories_are_indexes(opened: Open, tmp_path: Path) -> None:
    (tmp_path / "simple" / "demo").mkdir(parents=True)
    (tmp_path / "simple" / "demo" / "demo-1.0-py3-none-any.whl").write_bytes(b"x")
    (tmp_path / "simple" / "html").mkdir()
    (tmp_path / "simple" / "html" / "index.html").write_text('<a href="html-2.0.tar.gz">html-2.0.tar.gz</a>')
    index = opened(default_url=str(tmp_path / "simple"))
    assert versions(index.page("demo")) == ["1.0"]
    assert versions(index.page("html")) == ["2.0"]
    assert index.page("html").files[0].url.startswith("file:///")
    with pytest.raises(ProjectNotFound):
        index.page("other")


def test_prefetched_pages_are_asked_once(server, opened: Open) -> None:
    names = [f"p{i}" for i in range(30)]
    for name in names:
        server.page(name, [server.wheel(f"{name}-1.0-py3-none-any.whl")])
    index = opened()
    index.prefetch_pages(names)
    index.prefetch_pages(names)
    assert [len(index.page(name).files) for name in names] == [1] * 30
    assert set(server.counts().values()) == {1}


def test_bad_cutoff_is_refused(opened: Open) -> None:
    with pytest.raises(ValueError, match="no date of ISO 8601"):
        opened(exclude_newer="yesterday")


def test_pages_know_their_versions_without_making_files(server, opened: Open) -> None:
    names = [f"demo-{version}-py3-none-any.whl" for version in ("2.0", "10.0", "1.0", "1.0.0rc1")]
    server.page("demo", [*map(server.wheel, names), server.file("demo-10.0.tar.gz", b"")])
    page = opened().page("demo")
    assert [str(version) for version in page.versions] == ["1.0.0rc1", "1.0", "2.0", "10.0"]
    assert [file.filename for file in page.of_version(page.versions[-1])] == [names[1], "demo-10.0.tar.gz"]
    assert page.files[-1].kind is FileKind.SDIST
    assert [file.filename for file in page.files[:2]] == names[:2]
    assert page.files[0] is page.files[0]


def test_an_index_says_how_long_it_kept_its_callers_waiting(server, opened: Open) -> None:
    server.page("demo", [server.wheel("demo-1.0-py3-none-any.whl")])
    index = opened()
    assert index.seconds == 0
    index.page("demo")
    waited = index.seconds
    assert waited > 0
    index.page("demo")
    assert index.seconds == waited
