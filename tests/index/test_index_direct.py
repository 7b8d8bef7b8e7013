"""Requests without httpx: connections that are kept, answers packed, in pieces or cut short, addresses that are odd."""

from __future__ import annotations

import gzip
import json
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from envdoctor.adapters.index.credentials import Credentials
from envdoctor.adapters.index.direct import is_usual
from envdoctor.adapters.index.exchange import Answer, Asked, ConnectionBroke, Exchange
from envdoctor.adapters.index.pip_settings import PipSettings
from envdoctor.adapters.index.transport import Transport, TransportError

Handed = Callable[[Callable[[socket.socket], None]], str]
OK = b"HTTP/1.1 200 OK\r\n"


@pytest.fixture
def transport(monkeypatch: pytest.MonkeyPatch) -> Iterator[Transport]:
    for variable in ("HTTPS_PROXY", "https_proxy", "all_proxy"):
        monkeypatch.delenv(variable, raising=False)
    made = Transport(PipSettings(), Credentials(), timeout=5.0, sleep=lambda _seconds: None)
    yield made
    made.close()


class Host:
    """Gives answers in turn, each on the connection that asks; ``None`` closes it in place of an answer."""

    def __init__(self, *answers: bytes | None, close_after: bool = False) -> None:
        self.answers = list(answers)
        self.close_after = close_after
        self.asked: list[bytes] = []
        self.connections = 0

    def __call__(self, connection: socket.socket) -> None:
        self.connections += 1
        while self.answers:
            asked = b""
            while not asked.endswith(b"\r\n\r\n"):
                more = connection.recv(65536)
                if not more:
                    return
                asked += more
            self.asked.append(asked)
            answer = self.answers.pop(0)
            if answer is not None:
                connection.sendall(answer)
            if answer is None or self.close_after:
                connection.shutdown(socket.SHUT_RDWR)
                return


def of_length(body: bytes, more: bytes = b"") -> bytes:
    return OK + more + b"Content-Length: %d\r\n\r\n" % len(body) + body


def test_a_connection_is_kept_for_the_next_request(by_hand: Handed, transport: Transport) -> None:
    host = Host(of_length(b"one"), of_length(b""), of_length(b"three"))
    url = by_hand(host)
    assert [transport.get(url).content for _ in range(3)] == [b"one", b"", b"three"]
    assert host.connections == 1


def test_a_connection_that_the_host_closed_meanwhile_is_replaced(by_hand: Handed, transport: Transport) -> None:
    host = Host(of_length(b"one"), of_length(b"two"), None, of_length(b"three"), close_after=True)
    url = by_hand(host)
    assert [transport.get(url).content for _ in range(3)] == [b"one", b"two", b"three"]


def test_a_lost_request_on_a_kept_connection_is_sent_anew(by_hand: Handed, transport: Transport) -> None:
    host = Host(of_length(b"one"), None, of_length(b"two"))
    url = by_hand(host)
    assert transport.get(url).content == b"one"
    slept: list[float] = []
    transport.sleep = slept.append
    assert transport.get(url).content == b"two"
    assert (host.connections, slept) == (2, [])


PACKED = gzip.compress(b"x" * 100_000)
PIECES = b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n4;note=1\r\ndefg\r\n0\r\nLate: header\r\n\r\n"


@pytest.mark.parametrize(
    ("answer", "body"),
    [
        (of_length(PACKED, b"Content-Encoding: GZIP\r\n"), b"x" * 100_000),
        (OK + PIECES, b"abcdefg"),
        (of_length(b"plain", b"Content-Encoding: identity\r\n"), b"plain"),
        (b"HTTP/1.0 200 OK\r\n\r\nuntil the end", b"until the end"),
    ],
)
def test_bodies_come_in_every_usual_form(by_hand: Handed, transport: Transport, answer: bytes, body: bytes) -> None:
    host = Host(answer, answer, close_after=b"HTTP/1.0" in answer)
    url = by_hand(host)
    assert [transport.get(url).content for _ in range(2)] == [body, body]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (OK + b"Content-Length: 100\r\n\r\nhalf", "the connection broke"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n64\r\nhalf", "the connection broke"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n-" + b"9" * 300 + b"\r\nhalf", "the connection broke"),
        (of_length(b"not packed", b"Content-Encoding: gzip\r\n"), "its answer cannot be unpacked"),
        (of_length(b"\x0b\x02\x80abc\x03", b"Content-Encoding: br\r\n"), "its answer cannot be unpacked .*`br`"),
        (b"SSH-2.0-OpenSSH\r\n", "the connection broke"),
        (b"", "the connection broke"),
    ],
)
def test_answers_that_are_none(by_hand: Handed, transport: Transport, answer: bytes, reason: str) -> None:
    with pytest.raises(TransportError, match=reason):
        transport.get(by_hand(Host(*[answer] * 8, close_after=True)))


@pytest.mark.parametrize(
    ("begin", "again", "wait", "reason"),
    [
        # Newer releases of Python (3.14.10) count trailers and interim responses themselves.
        (
            OK + b"Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n",
            b"a: b\r\n" * 5000,
            0,
            "nothing without an end|more than 100 trailers",
        ),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n", b"a", 0.2, "time limit"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n", b"0", 0.2, "time limit"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 50, 0.01, "time limit|more than 100 interim responses"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n", 0.2, "time limit"),
        (OK + b"Content-Encoding: gzip\r\n\r\n\x1f\x8b\x08\x08\0\0\0\0\0\xff", b"a" * 99, 0.1, "too slowly"),
    ],
    ids=["trailers", "a slow trailer", "a slow length", "continue", "a slow continue", "a name within gzip"],
)
@pytest.mark.parametrize("proxied", [False, True], ids=["", "proxied"])
def test_a_host_that_says_nothing_without_an_end_is_left(
    by_hand: Handed,
    transport: Transport,
    monkeypatch: pytest.MonkeyPatch,
    begin: bytes,
    again: bytes,
    wait: float,
    reason: str,
    proxied: bool,
) -> None:
    gone: list[bool] = []

    def serve(connection: socket.socket) -> None:
        connection.recv(65536)
        with suppress(OSError):
            connection.sendall(begin)
            for _ in range(1000):
                time.sleep(wait)
                connection.sendall(again)
        gone.append(True)

    url = by_hand(serve)
    if proxied:
        monkeypatch.setenv("http_proxy", url.removesuffix("simple/"))
        url, reason = "http://far.example/simple/", f"{reason}|time limit|the connection broke"
    transport.timeout, transport.patience = 1.0, 1.5
    begun = time.monotonic()
    with pytest.raises(TransportError, match=reason):
        transport.get(url)
    transport.close()
    assert time.monotonic() - begun < 30
    while not gone and time.monotonic() - begun < 30:
        time.sleep(0.05)
    assert gone


def test_packed_answers_of_several_parts_are_read_whole(by_hand: Handed, transport: Transport) -> None:
    parts = gzip.compress(b"a" * 3_000_000) + gzip.compress(b"b")
    host = Host(of_length(parts, b"Content-Encoding: gzip\r\n"))
    assert transport.get(by_hand(host)).content == b"a" * 3_000_000 + b"b"


@pytest.mark.parametrize("behind", [bytes(50), b"junk"])
def test_what_follows_a_whole_packed_answer_is_passed_over(
    by_hand: Handed, transport: Transport, behind: bytes
) -> None:
    host = Host(of_length(gzip.compress(b"abc") + behind, b"Content-Encoding: gzip\r\n"))
    assert transport.get(by_hand(host)).content == b"abc"


def test_a_packed_answer_that_was_cut_is_none(by_hand: Handed, transport: Transport) -> None:
    """Without a length nothing else tells that the rest is missing."""
    cut = OK + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(b"abc" * 1000)[:-6]
    with pytest.raises(TransportError, match="ended before the answer did"):
        transport.get(by_hand(Host(*[cut] * 4, close_after=True)))


def test_a_redirect_takes_no_password_to_another_host(by_hand: Handed, transport: Transport) -> None:
    target, near = Host(of_length(b"there")), Host()
    there, here = by_hand(target), by_hand(near)
    moved = b"HTTP/1.1 302 Found\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n"
    near.answers = [moved % b"/elsewhere", moved % there.encode()]
    transport.credentials.take(here.replace("//", "//user:secret@"))
    reply = transport.get(here)
    assert (reply.content, reply.url) == (b"there", there)
    assert [b"authorization: Basic" in asked for asked in (*near.asked, *target.asked)] == [True, True, False]
    assert near.connections == 1


@pytest.mark.parametrize(
    ("url", "usual"),
    [
        ("https://files.example/packages/ab/numpy-1.0%2Bcpu-cp311-none-any.whl.metadata", True),
        ("http://127.0.0.1:8080/simple/demo/?part=1&more=a+b", True),
        ("https://files.example", True),
        ("https://files.example/a b", False),
        ("https://files.example/\u00e4", False),
        ("https://files.example/100%", False),
        ("https://user:word@files.example/", False),
        ("https://files.example/a/../b", False),
        ("https://[::1]/simple/", False),
        ("https://files.example/#sha256=00", False),
        ("https://\u00e4.example/", False),
        ("https://files.example/a\r\nHost: other", False),
    ],
)
def test_which_addresses_can_be_sent_as_they_stand(url: str, usual: bool) -> None:
    assert is_usual(url) is usual


def test_an_odd_address_goes_as_httpx_writes_it(by_hand: Handed, transport: Transport) -> None:
    host = Host(of_length(b"found"))
    assert transport.get(by_hand(host) + "a b").content == b"found"
    assert host.asked[0].startswith(b"GET /simple/a%20b HTTP/1.1\r\n")


def test_a_header_cannot_bring_another(by_hand: Handed, transport: Transport) -> None:
    host = Host(of_length(json.dumps({}).encode()))
    with pytest.raises(TransportError, match="a header that cannot be sent"):
        transport.get(by_hand(host), {"If-None-Match": '"a"\r\nX-More: 1'})
    assert host.asked == []


def test_with_any_proxy_configured_httpx_is_asked(
    by_hand: Handed, transport: Transport, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = Host(of_length(b"by the proxy"))
    monkeypatch.setenv("http_proxy", by_hand(host).removesuffix("simple/"))
    monkeypatch.delitem(sys.modules, "httpx", raising=False)
    assert transport.get("http://far.example/simple/").content == b"by the proxy"
    assert host.asked[0].startswith(b"GET http://far.example/simple/ HTTP/1.1\r\n")


@pytest.mark.parametrize(("date", "waited"), [(b"Date: Fri, 01 Jan 2100 00:00:00 GMT\r\n", 5.0), (b"", 0.0)])
def test_until_when_to_wait_is_of_the_clock_of_the_server(
    by_hand: Handed, transport: Transport, date: bytes, waited: float
) -> None:
    until = b"Fri, 01 Jan 2100 00:00:05 GMT" if date else b"Fri, 01 Jan 1999 00:00:00 GMT"
    busy = b"HTTP/1.1 429 Busy\r\n" + date + b"Retry-After: " + until + b"\r\nContent-Length: 0\r\n\r\n"
    waits: list[float] = []
    transport.sleep = waits.append
    assert transport.get(by_hand(Host(busy, of_length(b"there")))).content == b"there"
    assert waits == [waited]


# As the ssl module of Python 3.11 with OpenSSL 3.0 says it.
_REFUSED = "cannot connect ([SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: {} (_ssl.c:992))"
_CERTIFICATES = {
    "certificate has expired": "its certificate has expired, by the clock of this machine",
    "certificate is not yet valid": "its certificate is not valid yet, by the clock of this machine",
    "Hostname mismatch, certificate is not valid for 'localhost'.": "its certificate is for another host",
    "IP address mismatch, certificate is not valid for '127.0.0.1'.": "its certificate is for another host",
    "unable to get local issuer certificate": "its certificate cannot be verified; name the right authorities",
    "self-signed certificate": "its certificate cannot be verified; name the right authorities",
}


@pytest.mark.parametrize("said", _CERTIFICATES)
def test_other_authorities_are_advised_only_where_they_would_help(said: str) -> None:
    class Refusing:
        def send(self, asked: Asked) -> Answer:
            raise ConnectionBroke(_REFUSED.format(said), unreachable=True)

    with pytest.raises(TransportError) as refused:
        Exchange(Refusing(), Asked("https://index.example/", {}, 1.0, 1.0), 100).perform()
    assert str(refused.value).startswith(_CERTIFICATES[said])
    assert refused.value.lasting
    assert ("authorities" in str(refused.value)) == ("authorities" in _CERTIFICATES[said])
