"""One request and its answer: redirects that are allowed, a length and a pace that are bearable, reasons in words."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Protocol
from urllib.parse import urlsplit

from envdoctor.adapters.index.credentials import without_credentials
from envdoctor.model.dataclass import dataclass
from envdoctor.model.index_url import url_fault

__all__ = [
    "Answer",
    "Asked",
    "Client",
    "ConnectionBroke",
    "Exchange",
    "Reply",
    "TransportError",
    "error_text",
    "host_of",
]

_MOST_REDIRECTS = 10
_LEAST_PACE = 512
"""Bytes a second, averaged over one time limit, below which an answer is one that never ends."""
_SOME = 64 * 1024
"""Bytes of an answer after which its host has shown that it serves."""
_CERTIFICATE = "CERTIFICATE_VERIFY_FAILED"
_UNVERIFIED = "its certificate cannot be verified; name the right authorities in `SSL_CERT_FILE` or pip's `cert`"
_OF_CERTIFICATES = (
    ("certificate has expired", "its certificate has expired, by the clock of this machine"),
    ("certificate is not yet valid", "its certificate is not valid yet, by the clock of this machine"),
    ("ostname mismatch", "its certificate is for another host"),
    ("IP address mismatch", "its certificate is for another host"),
)
"""What OpenSSL says of a certificate where naming other authorities would not help."""


class TransportError(Exception):
    """No answer could be had; the text is the reason, without URL and credentials."""

    def __init__(
        self, reason: str, unreachable: bool = False, lasting: bool = False, silent: bool = False
    ) -> None:  # fmt: skip
        super().__init__(reason)
        self.lasting = lasting
        """Asking again would not help."""
        self.unreachable = unreachable
        """No connection to the host could be made."""
        self.silent = silent
        """The host kept nearly all of its answer to itself."""
        self.left_alone = False
        """Nothing was asked: the host is not asked again."""

    def again(self) -> TransportError:
        """Return a new error that says the same, of a host that is left alone."""
        same = TransportError(str(self), self.unreachable, self.lasting, self.silent)
        same.left_alone = True
        return same


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer. Header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    content: bytes
    url: str
    cut: bool = False
    """The body is longer than the limit and was not read to the end."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One request, as a client sends it. Times are in seconds."""

    url: str
    headers: Mapping[str, str]
    timeout: float
    connect: float
    stop: float = float("inf")
    """Of the monotonic clock, when the head of the answer must be there."""
    waiting: Callable[[], None] = lambda: None
    """Called about once a second while nothing comes."""


class Answer(Protocol):
    """What came back, the body yet to be read."""

    @property
    def status(self) -> int:
        """The number of the answer's kind."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """By name in lower case."""
        ...

    @property
    def following(self) -> Asked | None:
        """The request that it redirects to."""
        ...

    def chunks(self) -> Iterator[bytes]:
        """Yield the body, unpacked. Raises ConnectionBroke or TransportError."""
        ...

    def close(self) -> None:
        """Let go of the connection."""
        ...


class Client(Protocol):
    """Whoever can send requests."""

    def send(self, asked: Asked) -> Answer:
        """Send a request. Raises ConnectionBroke or TransportError."""
        ...


class ConnectionBroke(Exception):
    """No answer, or no end of it; the text is the reason."""

    def __init__(self, reason: str, unreachable: bool = False) -> None:
        super().__init__(reason)
        self.unreachable = unreachable


@dataclass(slots=True)
class Exchange:
    """One request with what it may cost; ``perform`` makes it. ``limit`` is in bytes."""

    client: Client
    asked: Asked
    limit: int
    answered: Callable[[], None] = lambda: None
    """Called when a host has answered, before the body is read."""
    received: int = 0
    """Bytes of the body so far."""

    def perform(self) -> Reply:
        """Return the answer. Raises TransportError."""
        fault = url_fault(self.asked.url, ("http", "https"))
        if fault is not None:
            raise TransportError(f"not a URL that can be fetched: {fault}", lasting=True)
        try:
            return self._followed(self.asked)
        except ConnectionBroke as error:
            text = without_credentials(str(error)).strip()
            lasting, silent = _CERTIFICATE in text, self.received < _SOME
            if lasting:
                text = next((words for said, words in _OF_CERTIFICATES if said in text), _UNVERIFIED)
            raise TransportError(text, error.unreachable, lasting, silent) from None

    def _followed(self, asked: Asked) -> Reply:
        for _ in range(_MOST_REDIRECTS + 1):
            answer = self.client.send(asked)
            try:
                following = answer.following
                if following is None:
                    self.answered()
                    content, cut = self._body(answer)
                    return Reply(answer.status, answer.headers, content, asked.url, cut)
                _allow(asked.url, following.url)
            finally:
                answer.close()
            asked = following
        raise TransportError("it redirects without end", lasting=True)

    def _body(self, answer: Answer) -> tuple[bytes, bool]:
        announced = answer.headers.get("content-length", "")
        if announced.isascii() and announced.isdigit() and int(announced[:300]) > self.limit:
            return b"", True
        chunks: list[bytes] = []
        self.received = behind = 0
        since = time.monotonic()
        for chunk in answer.chunks():
            self.received += len(chunk)
            if self.received > self.limit:
                return b"", True
            chunks.append(chunk)
            now = time.monotonic()
            if now - since >= self.asked.timeout:
                came = self.received - behind
                if came < _LEAST_PACE * (now - since):
                    raise TransportError(
                        f"its answer comes too slowly ({came} bytes in {now - since:.0f} s)", silent=True
                    )
                since, behind = now, self.received
        return b"".join(chunks), False


def _allow(asked: str, target: str) -> None:
    """Let a redirect pass. Raises TransportError for one that leaves the network or its encryption."""
    before, after = (url.partition(":")[0].lower() for url in (asked, target))
    if after not in ("http", "https"):
        raise TransportError(f"it redirects to a `{after}:` URL, which is refused", lasting=True)
    if before == "https" and after == "http":
        raise TransportError("it redirects from https to http, which is refused", lasting=True)


def error_text(error: Exception) -> str:
    """Return what an error says, or its kind."""
    return str(error).strip() or type(error).__name__


def host_of(url: str) -> str:
    """Return host and port of a URL for a message."""
    return urlsplit(url).netloc.rpartition("@")[2]
