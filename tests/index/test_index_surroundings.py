"""Options, variables and hosts that are not what they should be: one message, and an end to the waiting."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from envdoctor.adapters.index import AnyIndex, IndexSettings, open_index
from envdoctor.adapters.index.index_settings import ExtraIndex, IndexSettingsError
from envdoctor.adapters.index.pip_settings import read_pip_settings
from envdoctor.adapters.index.project_indexes import ProjectIndexes, read_uv_configuration, with_machines
from envdoctor.ports import IndexUnavailable

Open = Callable[..., AnyIndex]


@pytest.mark.parametrize(
    "url",
    [
        "http://exa mple/", "http://xn--\x01/", "http://xn--/", "http://\xe9..x/simple", "http://[::1", "http://h:x/",
        "http:///simple", "ftp://far.example/simple", "far.example/simple", f"http://{'a' * 70}.example/",
        "http://\ud800/", "javascript:x", "~nobody-of-this-name/simple",
    ],
)  # fmt: skip
@pytest.mark.parametrize("place", ["option", "ENVDOCTOR_INDEX_URL", "PIP_INDEX_URL"])
def test_what_is_no_index_is_refused_at_once(
    opened: Open, monkeypatch: pytest.MonkeyPatch, url: str, place: str
) -> None:
    if place != "option":
        try:
            monkeypatch.setenv(place, url)
        except UnicodeEncodeError:
            return
    with pytest.raises(IndexSettingsError, match="is not an index: "):
        opened(default_url=url if place == "option" else None)


@pytest.mark.parametrize("url", ["htp://x", "http://127.0.0.1:99999/", "https://a.example/?token=hidden"])
def test_what_replaces_an_index_is_looked_at_and_its_variable_named(
    opened: Open, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setenv("ENVDOCTOR_INDEX_ROCM_6_4", url)
    with pytest.raises(IndexSettingsError, match=r"`ENVDOCTOR_INDEX_ROCM_6_4` .* is not an index: ") as refused:
        opened(extra=(ExtraIndex("rocm-6.4", "https://b.example/"),))
    assert "hidden" not in str(refused.value)


def test_a_named_index_with_a_query_is_refused(opened: Open) -> None:
    with pytest.raises(IndexSettingsError, match="it has a query") as refused:
        opened(extra=(ExtraIndex("mine", "https://b.example/?token=hidden"),))
    assert "hidden" not in str(refused.value)


def test_without_any_home_it_goes_on_without_a_cache(server, monkeypatch: pytest.MonkeyPatch) -> None:
    pwd = pytest.importorskip("pwd", reason="needs `getpwuid`")

    def unknown(uid: int) -> tuple[str, ...]:
        raise KeyError(f"uid not found: {uid}")

    for name in ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "ENVDOCTOR_CACHE_DIR", "NETRC"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", unknown)
    index = open_index(IndexSettings(default_url=server.url + "/simple/"))
    try:
        assert any("cache" in note for note in index.notes)
    finally:
        index.close()


def test_a_refusal_shows_no_credentials(opened: Open) -> None:
    with pytest.raises(IndexSettingsError) as caught:
        opened(default_url="http://user:hidden@[bad/simple?token=hidden")
    assert "hidden" not in str(caught.value)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("http://user:hidden@[bad", "its host cannot be read"),
        ("http://[bad]", "its host cannot be read"),
        ("far.example:abc", "its port is not a number"),
        ("http://", "it names no host"),
        ("ftp://far.example", "`ftp` is not a scheme"),
        ("socks4://far.example", "`socks4` is not a scheme"),
        ("socks5://far.example:1080", "`socksio`"),
    ],
)
@pytest.mark.parametrize("variable", ["HTTP_PROXY", "ALL_PROXY", "https_proxy", "PIP_PROXY"])
def test_what_is_no_proxy_is_refused_at_once(
    opened: Open, monkeypatch: pytest.MonkeyPatch, value: str, reason: str, variable: str
) -> None:
    monkeypatch.setattr("envdoctor.adapters.index.pip_settings.find_spec", lambda _name: None)
    monkeypatch.setenv(variable, value)
    with pytest.raises(IndexSettingsError) as caught:
        opened()
    said = str(caught.value)
    assert reason in said
    assert "hidden" not in said
    spelled = variable.upper() if os.name == "nt" else variable
    assert ("pip's `proxy`" if variable == "PIP_PROXY" else f"`{spelled}`") in said
    opened(offline=True)


@pytest.mark.parametrize("text", ["soon", "0", "-1", "inf", "nan"])
def test_patience_is_a_number_of_seconds(opened: Open, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("ENVDOCTOR_INDEX_TIMEOUT", text)
    with pytest.raises(IndexSettingsError, match="ENVDOCTOR_INDEX_TIMEOUT"):
        opened()


def test_recording_into_what_is_no_directory_is_refused(server, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(IndexSettingsError, match="cannot record into"):
        open_index(IndexSettings(default_url=server.url, cache_dir=tmp_path, record_to=tmp_path / "file"))


Behaviour = Callable[[socket.socket], None]


def _silence(connection: socket.socket) -> None:
    connection.recv(1)


def _drip(start: bytes) -> Behaviour:
    def serve(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(start)
        for _ in range(400):
            connection.sendall(b"x")
            time.sleep(0.02)

    return serve


@pytest.mark.parametrize(
    "behaviour",
    [
        pytest.param(_silence, id="never answers"),
        pytest.param(_drip(b"HTTP/1.1 200 OK\r\nX-Long: "), id="a head byte by byte"),
        pytest.param(_drip(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"), id="a body byte by byte"),
    ],
)
def test_a_host_that_gives_nothing_is_left_alone_after_its_time(by_hand, opened: Open, behaviour: Behaviour) -> None:
    index = opened(default_url=by_hand(behaviour), timeout=0.3, patience=0.5)
    names = [f"p{number}" for number in range(400)]
    started = time.monotonic()
    index.prefetch_pages(names)
    for name in names:
        with pytest.raises(IndexUnavailable, match=r"it was given 0.5 s, which `ENVDOCTOR_INDEX_TIMEOUT` changes"):
            index.page(name)
    # All together: nothing near the hundreds of seconds of as many single waits.
    assert time.monotonic() - started < 40


def test_a_busy_host_is_not_waited_for_longer_than_patience(server, opened: Open) -> None:
    server.page("demo", [], before=[503] * 9).headers["Retry-After"] = "3600"
    with pytest.raises(IndexUnavailable, match="asks to be left alone for 3600 s"):
        opened().page("demo")
    assert server.count() == 1


@pytest.mark.parametrize("text", ["9" * 400, "Fri, 99 Foo", "-5", "\u00b2"])
def test_a_retry_after_that_cannot_be_read_is_not_waited_for_for_ever(server, opened: Open, text: str) -> None:
    server.page("demo", [], before=[503] * 9).headers["Retry-After"] = text
    with pytest.raises(IndexUnavailable, match="is busy"):
        opened().page("demo")


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("file:///etc/hostname", "redirects to a `file:` URL, which is refused"),
        ("ftp://far.example/", "redirects to a `ftp:` URL, which is refused"),
        ("/simple/demo/", "redirects without end"),
        ("http://127.0.0.1:99999/", "not a URL that can be fetched"),
        ("http://127.0.0.1:x/", "not a URL that can be fetched"),
    ],
)
def test_redirects_that_are_refused(server, opened: Open, target: str, reason: str) -> None:
    answer = server.page("demo", [])
    answer.status, answer.headers["Location"] = 302, target
    with pytest.raises(IndexUnavailable, match=reason):
        opened().page("demo")


def test_a_redirect_from_https_to_http_is_refused() -> None:
    from envdoctor.adapters.index.exchange import Asked, Exchange, TransportError

    asked: list[str] = []

    class Redirecting:
        status, headers = 302, {"location": "http://far.example/"}

        def send(self, what: Asked) -> Redirecting:
            asked.append(what.url)
            self.following = replace(what, url="http://far.example/")
            return self

        def chunks(self) -> Iterator[bytes]:
            yield b""

        def close(self) -> None:
            pass

    with pytest.raises(TransportError, match="from https to http"):
        Exchange(Redirecting(), Asked("https://far.example/simple/", {}, 1.0, 1.0), 1000).perform()
    assert asked == ["https://far.example/simple/"], "the second is not even asked"


def test_progress_names_the_host_that_keeps_us_waiting(by_hand, tmp_path: Path) -> None:
    told: list[str] = []

    class Telling:
        def start(self, activity: str, total: int | None = None) -> None:
            pass

        def advance(self, activity: str, by: int = 1, note: str = "") -> None:
            told.append(note)

        def finish(self, activity: str) -> None:
            pass

    url = by_hand(_silence)
    settings = IndexSettings(default_url=url, cache_dir=tmp_path / "cache", timeout=1.3, patience=1.3)
    with open_index(settings, Telling()) as index, pytest.raises(IndexUnavailable):
        index.page("demo")
    assert f"waiting for {url.split('/')[2]}" in told


def test_pips_own_extra_indexes_and_links_count_for_every_project(tmp_path, monkeypatch) -> None:
    (tmp_path / "pip.conf").write_text(
        "[global]\nfind-links = wheels\nextra-index-url =\n  https://a.example/simple\n  https://b.example/simple\n",
        encoding="utf-8",
    )
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "pip.conf"))
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    monkeypatch.chdir(tmp_path)
    found = with_machines(ProjectIndexes(), None, read_pip_settings(tmp_path), read_uv_configuration())
    assert [(item.url, item.flat) for item in found.extra] == [
        (str(tmp_path / "wheels"), True),
        ("https://a.example/simple", False),
        ("https://b.example/simple", False),
    ]
    monkeypatch.setenv("PIP_FIND_LINKS", "https://c.example/links.html")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    alone = with_machines(ProjectIndexes(), None, read_pip_settings(tmp_path), read_uv_configuration())
    assert [(item.url, item.flat) for item in alone.extra] == [("https://c.example/links.html", True)]
    assert alone.no_index
