"""One request and its answer: redirects that are allowed, a length and a pace that are bearable, reasons in words."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from envdoctor.adapters.index.credentials import without_credentials
from envdoctor.model.index_url import url_fault

if TYPE_CHECKING:
    import httpx

__all__ = ["Exchange", "Reply", "TransportError", "host_of", "watched"]

_MOST_REDIRECTS = 10
_LEAST_PACE = 512
"""Bytes a second, averaged over one time limit, below which an answer is one that never ends."""
_SOME = 64 * 1024
"""Bytes of an answer after which its host has shown that it serves."""
_CERTIFICATE = "CERTIFICATE_VERIFY_FAILED"
_TICK = 1.0
"""Seconds between two words about waiting."""


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


@dataclass(slots=True)
class Exchange:
    """One request with what it may cost; ``perform`` makes it. Times are in seconds, ``limit`` is in bytes."""

    client: httpx.Client
    url: str
    headers: Mapping[str, str]
    limit: int
    timeout: float
    connect: float
    answered: Callable[[], None] = lambda: None
    """Called when a host has answered, before the body is read."""
    trace: Callable[[str, Mapping[str, object]], None] = lambda _event, _info: None
    """Told by httpcore what it does, connections that it makes among it."""
    received: int = 0
    """Bytes of the body so far."""

    def perform(self) -> Reply:
        """Return the answer. Raises TransportError."""
        import ssl

        import httpx

        fault = url_fault(self.url, ("http", "https"))
        if fault is not None:
            raise TransportError(f"not a URL that can be fetched: {fault}", lasting=True)
        try:
            timeout = httpx.Timeout(self.timeout, connect=self.connect)
            request = self.client.build_request(
                "GET", self.url, headers=dict(self.headers), timeout=timeout, extensions={"trace": self.trace}
            )
            return self._followed(request)
        except httpx.DecodingError as error:
            raise TransportError(f"its answer cannot be unpacked ({error})") from None
        except (httpx.UnsupportedProtocol, httpx.InvalidURL, UnicodeError) as error:
            raise TransportError(f"not a URL that can be fetched ({error})", lasting=True) from None
        except (httpx.HTTPError, ssl.SSLError, OSError, RuntimeError) as error:
            unreachable = isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError))
            lasting, silent = _CERTIFICATE in str(error), self.received < _SOME
            raise TransportError(_reason(error), unreachable, lasting, silent) from None

    def _followed(self, request: httpx.Request) -> Reply:
        for _ in range(_MOST_REDIRECTS + 1):
            response = self.client.send(request, stream=True)
            try:
                following = response.next_request
                if following is None:
                    self.answered()
                    content, cut = self._body(response)
                    return Reply(response.status_code, response.headers, content, str(response.url), cut)
                _allow(request.url, following.url)
            finally:
                response.close()
            request = following
        raise TransportError("it redirects without end", lasting=True)

    def _body(self, response: httpx.Response) -> tuple[bytes, bool]:
        announced = response.headers.get("content-length", "")
        if announced.isascii() and announced.isdigit() and int(announced[:300]) > self.limit:
            return b"", True
        chunks: list[bytes] = []
        self.received = behind = 0
        since = time.monotonic()
        for chunk in response.iter_bytes():
            self.received += len(chunk)
            if self.received > self.limit:
                return b"", True
            chunks.append(chunk)
            now = time.monotonic()
            if now - since >= self.timeout:
                came = self.received - behind
                if came < _LEAST_PACE * (now - since):
                    raise TransportError(
                        f"its answer comes too slowly ({came} bytes in {now - since:.0f} s)", silent=True
                    )
                since, behind = now, self.received
        return b"".join(chunks), False


def _allow(asked: httpx.URL, target: httpx.URL) -> None:
    """Let a redirect pass. Raises TransportError for one that leaves the network or its encryption."""
    if target.scheme not in ("http", "https"):
        raise TransportError(f"it redirects to a `{target.scheme}:` URL, which is refused", lasting=True)
    if asked.scheme == "https" and target.scheme == "http":
        raise TransportError("it redirects from https to http, which is refused", lasting=True)


def watched(
    perform: Callable[[], Reply], answered: threading.Event, seconds: float, waiting: Callable[[], None]
) -> Reply:
    """Return what ``perform`` returns or raise what it raises, unless ``answered`` is not set in time.

    Time limits of sockets do not hold for name servers, nor for a head that comes byte by byte: whoever is still at
    it when the time is up is left behind. Raises TransportError. ``waiting`` is called about once a second.
    """
    outcome: list[Reply | BaseException] = []
    done = threading.Event()

    def work() -> None:
        try:
            outcome.append(perform())
        except BaseException as error:  # noqa: BLE001 - handed over
            outcome.append(error)
        finally:
            done.set()
            answered.set()

    threading.Thread(target=work, name="envdoctor-request", daemon=True).start()
    stop = time.monotonic() + seconds
    while not answered.wait(max(0.0, min(_TICK, stop - time.monotonic()))):
        waiting()
        if time.monotonic() >= stop:
            raise TransportError("no answer within the time limit", silent=True)
    while not done.wait(_TICK):
        waiting()
    result = outcome[0]
    if isinstance(result, BaseException):
        raise result
    return result


def _reason(error: Exception) -> str:
    import httpx

    if isinstance(error, httpx.ConnectTimeout):
        return "no connection within the time limit"
    if isinstance(error, httpx.TimeoutException):
        return "no answer within the time limit"
    text = without_credentials(str(error)).strip() or type(error).__name__
    if _CERTIFICATE in text:
        return "its certificate cannot be verified; name the right authorities in `SSL_CERT_FILE` or pip's `cert`"
    if isinstance(error, (httpx.ConnectError, httpx.ProxyError)):
        return f"cannot connect ({text})"
    return f"the connection broke ({text})"


def host_of(url: str) -> str:
    """Return host and port of a URL for a message."""
    return urlsplit(url).netloc.rpartition("@")[2]
