"""HTTP, the only module that knows httpx: retries with back-off, proxies, certificates, limits on what is read."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from envdoctor.adapters.index.credentials import Credentials, origin_of, without_credentials
from envdoctor.adapters.index.pip_settings import PipSettings

if TYPE_CHECKING:
    import ssl

    import httpx

__all__ = ["PAGE_LIMIT", "Reply", "Transport", "TransportError"]

PAGE_LIMIT = 256 * 1024 * 1024
"""Bytes of a page beyond which something is wrong."""
_ATTEMPTS = 4
_AGAIN = frozenset({408, 429, 500, 502, 503, 504})
_SHORT_CONNECT = 4.0
"""Seconds that one attempt to reach an extra index may take."""
_LONGEST_WAIT = 30.0
_CERTIFICATE = "CERTIFICATE_VERIFY_FAILED"


class TransportError(Exception):
    """No answer could be had; the text is the reason, without URL and credentials."""

    def __init__(self, reason: str, unreachable: bool = False, lasting: bool = False) -> None:
        super().__init__(reason)
        self.lasting = lasting
        """Asking again would not help."""
        self.unreachable = unreachable
        """The host itself did not answer."""


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
class Transport:
    """One pool of connections, shared by all threads; made when the first request needs it."""

    pip: PipSettings
    credentials: Credentials
    timeout: float = 20.0
    concurrency: int = 24
    sleep: Callable[[float], None] = time.sleep
    note: Callable[[str], None] = lambda _text: None
    _client: httpx.Client | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _dead: dict[str, str] = field(default_factory=dict)
    _alive: set[str] = field(default_factory=set)
    _closed: bool = False

    def get(
        self, url: str, headers: Mapping[str, str] | None = None, limit: int = PAGE_LIMIT, patient: bool = True
    ) -> Reply:
        """Fetch a URL. Raises TransportError.

        ``patient=False``: one short attempt to reach a host, until it has answered once. A host that could not be
        reached is not tried again by this object. A busy or failing answer is asked for again in any case.
        """
        origin = origin_of(url)
        if origin in self._dead:
            raise TransportError(self._dead[origin], unreachable=True)
        for attempt in range(_ATTEMPTS):
            last = attempt + 1 == _ATTEMPTS
            patient = patient or origin in self._alive
            try:
                reply = self._once(url, headers, limit, patient)
                self._alive.add(origin)
            except TransportError as error:
                if last or error.lasting or not patient:
                    if error.unreachable or not patient:
                        self._dead[origin] = str(error)
                    raise
                self.sleep(_delay(attempt, None))
                continue
            if reply.status not in _AGAIN or last:
                return reply
            self.sleep(_delay(attempt, reply.headers.get("retry-after")))
        raise AssertionError  # pragma: no cover - the last attempt returns or raises

    def close(self) -> None:
        """Close the connections; work that is still under way fails."""
        with self._lock:
            self._closed = True
            if self._client is not None:
                self._client.close()
                self._client = None

    def _once(self, url: str, headers: Mapping[str, str] | None, limit: int, patient: bool) -> Reply:
        import ssl

        import httpx

        sent = dict(headers or {})
        authorization = self.credentials.authorization(url)
        if authorization:
            sent["Authorization"] = authorization
        timeout = httpx.Timeout(self.timeout, connect=self.timeout if patient else min(_SHORT_CONNECT, self.timeout))
        try:
            with self._open().stream("GET", url, headers=sent, timeout=timeout) as response:
                final = str(response.url)
                if url.startswith("https://") and final.startswith("http://"):
                    raise TransportError("it redirects from https to http", lasting=True)
                content, cut = _body(response, limit)
                return Reply(response.status_code, response.headers, content, final, cut)
        except httpx.TooManyRedirects:
            raise TransportError("it redirects without end", lasting=True) from None
        except (httpx.HTTPError, httpx.InvalidURL, ssl.SSLError, OSError, RuntimeError) as error:
            unreachable = isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError))
            wrong = isinstance(error, (httpx.UnsupportedProtocol, httpx.InvalidURL)) or _CERTIFICATE in str(error)
            raise TransportError(_reason(error), unreachable, lasting=wrong) from None

    def _open(self) -> httpx.Client:
        with self._lock:
            if self._closed:
                raise TransportError("it was closed", lasting=True)
            if self._client is None:
                self._client = self._new_client()
            return self._client

    def _new_client(self) -> httpx.Client:
        import httpx

        context = _tls_context(self.pip)
        limits = httpx.Limits(max_connections=self.concurrency + 8, max_keepalive_connections=self.concurrency + 8)
        mounts: dict[str, httpx.BaseTransport | None] = {}
        for host in self.pip.trusted_hosts:
            self.note(f"pip's configuration trusts `{host}` without checking its certificate; so it is done here")
            mounts[f"https://{host}"] = httpx.HTTPTransport(verify=False, limits=limits)
        proxy = self.pip.proxy
        if proxy and "://" not in proxy:
            proxy = "http://" + proxy
        return httpx.Client(
            verify=context, proxy=proxy, mounts=mounts, limits=limits, follow_redirects=True, max_redirects=10,
            headers={"User-Agent": "envdoctor"},
        )  # fmt: skip


def _body(response: httpx.Response, limit: int) -> tuple[bytes, bool]:
    announced = response.headers.get("content-length", "")
    if announced.isdigit() and int(announced) > limit:
        return b"", True
    chunks: list[bytes] = []
    size = 0
    for chunk in response.iter_bytes():
        size += len(chunk)
        if size > limit:
            return b"", True
        chunks.append(chunk)
    return b"".join(chunks), False


def _delay(attempt: int, retry_after: str | None) -> float:
    """Return the seconds to wait: what the server asks for, else exponential with jitter."""
    if retry_after:
        if retry_after.strip().isdigit():
            return min(float(retry_after), _LONGEST_WAIT)
        try:
            until = parsedate_to_datetime(retry_after)
        except (TypeError, ValueError):
            until = None
        if until is not None and until.tzinfo is not None:
            return min(max((until - datetime.now(timezone.utc)).total_seconds(), 0.0), _LONGEST_WAIT)
    return float(0.3 * 2**attempt * random.uniform(0.5, 1.5))  # noqa: S311 - jitter, no secret


@lru_cache(maxsize=4)
def _tls_context(pip: PipSettings) -> ssl.SSLContext:
    """Return the certificates that pip would check against: its option, the usual variables, else the system's."""
    import ssl

    named = pip.cert
    for variable in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"):
        named = named or os.environ.get(variable)
    try:
        if named and os.path.isdir(named):  # noqa: PTH112 - a bare string from the environment
            context = ssl.create_default_context(capath=named)
        else:
            context = ssl.create_default_context(cafile=named or None)
        if not named:
            import certifi

            context.load_verify_locations(certifi.where())
        if pip.client_cert:
            context.load_cert_chain(pip.client_cert)
    except (OSError, ssl.SSLError) as error:
        raise TransportError(
            f"certificates `{named or pip.client_cert}` cannot be read: {error}", lasting=True
        ) from None
    return context


def _reason(error: Exception) -> str:
    import httpx

    if isinstance(error, httpx.ConnectTimeout):
        return "no connection within the time limit"
    if isinstance(error, httpx.TimeoutException):
        return "no answer within the time limit"
    text = without_credentials(str(error)).strip() or type(error).__name__
    if _CERTIFICATE in text:
        return "its certificate cannot be verified; name the right authorities in `SSL_CERT_FILE` or pip's `cert`"
    if isinstance(error, httpx.ConnectError):
        return f"cannot connect ({text})"
    if isinstance(error, httpx.UnsupportedProtocol):
        return f"not a URL that can be fetched ({urlsplit(text).scheme or text})"
    return f"the connection broke ({text})"
