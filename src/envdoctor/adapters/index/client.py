"""Who sends a request: the standard library what is usual, httpx what needs more."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from envdoctor.adapters.index.connections import NO_ANSWER, Connections, wake, watched
from envdoctor.adapters.index.exchange import Answer, Asked, ConnectionBroke, TransportError, error_text
from envdoctor.adapters.index.pip_settings import PipSettings, proxy_fault, proxy_url
from envdoctor.adapters.read_files import open_file

if TYPE_CHECKING:
    import ssl

    import httpx

    from envdoctor.adapters.index.direct import DirectClient

__all__ = ["Clients"]


class Clients:
    """Sends each request in the way that can; redirects are left to its user. Thread-safe."""

    def __init__(
        self, pip: PipSettings, concurrency: int, note: Callable[[str], None], connections: Connections
    ) -> None:
        self._pip = pip
        # Requests that were given up may hold connections for a while; the number of workers is the limit that counts.
        self._kept = concurrency + 8
        self._note = note
        self._connections = connections
        self._lock = threading.Lock()
        self._direct: DirectClient | None = None
        self._pool: _Pool | None = None
        self._proxied: bool | None = None

    def send(self, asked: Asked) -> Answer:
        """Send a request. Raises ConnectionBroke or TransportError."""
        return self._for(asked.url).send(asked)

    def close(self) -> None:
        """Close the connections that nobody uses; those in use are closed by whoever uses them."""
        with self._lock:
            for client in (self._direct, self._pool):
                if client is not None:
                    client.close()

    def _for(self, url: str) -> DirectClient | _Pool:
        from envdoctor.adapters.index.direct import DirectClient, is_usual

        with self._lock:
            if self._proxied is None:
                self._proxied = self._settled()
            if not self._proxied and is_usual(url):
                if self._direct is None:
                    self._direct = DirectClient(self._tls, self._kept, self._connections)
                return self._direct
            if self._pool is None:
                self._pool = _Pool(_new_pool(self._pip, self._kept), self._connections)
            return self._pool

    def _settled(self) -> bool:
        """Return whether any proxy is configured, here or in the system. Raises TransportError."""
        from urllib.request import getproxies

        fault = proxy_fault(self._pip.proxy)
        if fault is not None:
            raise TransportError(fault, lasting=True)
        for host in self._pip.trusted_hosts:
            self._note(f"pip's configuration trusts `{host}` without checking its certificate; so it is done here")
        if self._pip.cert or self._pip.client_cert:
            _tls_context(self._pip)  # What is named must be there, for whatever is asked first.
        return bool(self._pip.proxy) or not getproxies().keys().isdisjoint(("http", "https", "all"))

    def _tls(self, url: str) -> ssl.SSLContext:
        """Return how a host's certificate is checked. Raises TransportError."""
        parts = urlsplit(url)
        with self._lock:
            if {parts.hostname, parts.netloc} & {*self._pip.trusted_hosts}:
                return _unchecked()
            return _tls_context(self._pip)


class _Pool:
    """Sends requests with httpx, which knows proxies and every kind of address."""

    def __init__(self, client: httpx.Client, connections: Connections) -> None:
        self._client = client
        self._connections = connections
        self._lock = threading.Lock()
        self._closed = False
        self._under_way = 0
        """Requests that hold the client, those that nobody waits for any more among them."""

    def send(self, asked: Asked) -> Answer:
        """Send a request. Raises ConnectionBroke or TransportError."""
        return watched(lambda: self._sent(asked), asked.stop, asked.waiting, lambda answer: answer.close())

    def _sent(self, asked: Asked) -> Answer:
        import httpx

        with self._lock:
            if self._closed:
                raise TransportError("it was closed", lasting=True)
            self._under_way += 1
        try:
            with _named_errors():
                timeout = httpx.Timeout(asked.timeout, connect=asked.connect)
                extensions = {"trace": self._connections.trace}
                request = self._client.build_request(
                    "GET", asked.url, headers=dict(asked.headers), timeout=timeout, extensions=extensions
                )
                return _PoolAnswer(self._client.send(request, stream=True), asked, self._leave)
        except BaseException:
            self._leave()
            raise

    def _leave(self) -> None:
        with self._lock:
            self._under_way -= 1
        self._close_unused()

    def close(self) -> None:
        """Take no further requests; the last one that is under way closes the client."""
        with self._lock:
            self._closed = True
        self._close_unused()

    def _close_unused(self) -> None:
        with self._lock:
            unused = self._closed and not self._under_way
        if unused:
            self._client.close()


class _PoolAnswer:
    """An answer as httpx has it."""

    def __init__(self, response: httpx.Response, asked: Asked, leave: Callable[[], None]) -> None:
        self._response = response
        self._asked = asked
        self._leave = leave
        self.status = response.status_code
        self.headers: Mapping[str, str] = response.headers

    @property
    def following(self) -> Asked | None:
        """The request that it redirects to."""
        request = self._response.next_request
        if request is None:
            return None
        headers = {name: value for name, value in request.headers.items() if name != "host"}
        return replace(self._asked, url=str(request.url), headers=headers)

    def chunks(self) -> Iterator[bytes]:
        """Yield the body, unpacked. Raises ConnectionBroke or TransportError."""
        pieces = self._response.iter_bytes()

        def piece() -> bytes:
            with _named_errors():
                return next(pieces, b"")

        # httpx has patience for every read, and what stands between two pieces can come byte by byte.
        asked, known = self._asked, self._response.extensions["network_stream"]
        try:
            while found := watched(piece, time.monotonic() + asked.timeout, asked.waiting, lambda _piece: None):
                yield found
        except TransportError:
            wake(known)
            raise

    def close(self) -> None:
        """Give the connection back, or close it where the body was not read to the end."""
        try:
            self._response.close()
        finally:
            self._leave()


@contextmanager
def _named_errors() -> Iterator[None]:
    """Say in our words what httpx raises. Raises ConnectionBroke or TransportError."""
    import ssl

    import httpx

    try:
        yield
    except httpx.DecodingError as error:
        raise TransportError(f"its answer cannot be unpacked ({error})") from None
    except (httpx.UnsupportedProtocol, httpx.InvalidURL, UnicodeError) as error:
        raise TransportError(f"not a URL that can be fetched ({error})", lasting=True) from None
    except httpx.ConnectTimeout:
        raise ConnectionBroke("no connection within the time limit", unreachable=True) from None
    except httpx.TimeoutException:
        raise ConnectionBroke(NO_ANSWER) from None
    except (httpx.ConnectError, httpx.ProxyError) as error:
        raise ConnectionBroke(f"cannot connect ({error_text(error)})", unreachable=True) from None
    except (httpx.HTTPError, ssl.SSLError, OSError, RuntimeError) as error:
        raise ConnectionBroke(f"the connection broke ({error_text(error)})") from None


def _new_pool(pip: PipSettings, kept: int) -> httpx.Client:
    """Return a pool. Raises TransportError."""
    import httpx

    limits = httpx.Limits(max_connections=None, max_keepalive_connections=kept)
    mounts: dict[str, httpx.BaseTransport | None] = {}
    try:
        for host in pip.trusted_hosts:
            mounts[f"https://{host}"] = httpx.HTTPTransport(verify=False, limits=limits)
        proxy = proxy_url(pip.proxy) if pip.proxy else None
        return httpx.Client(
            verify=_tls_context(pip), proxy=proxy, mounts=mounts, limits=limits, headers={"User-Agent": "envdoctor"}
        )
    except (httpx.InvalidURL, ValueError, ImportError) as error:
        # The system's own proxy settings (macOS, Windows) come here unread.
        reason = f"the proxies or trusted hosts that are configured cannot be used ({error})"
        raise TransportError(reason, lasting=True) from None


@lru_cache(maxsize=4)
def _tls_context(pip: PipSettings) -> ssl.SSLContext:
    """Return the certificates that pip would check against: its option, the usual variables, else the system's."""
    import ssl

    source, named = "pip's `cert`", pip.cert
    for variable in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"):
        if not named and os.environ.get(variable):
            source, named = f"`{variable}`", os.environ[variable]
    _refuse_pipes()
    try:
        context = _context(named)
    except (OSError, ssl.SSLError, ValueError) as error:
        reason = f"the certificates `{named}` of {source} cannot be read ({error})"
        raise TransportError(reason, lasting=True) from None
    if pip.client_cert:
        try:
            open_file(Path(pip.client_cert)).close()  # OpenSSL would wait for who writes to a pipe.
            context.load_cert_chain(pip.client_cert)
        except (OSError, ssl.SSLError, ValueError) as error:
            reason = f"pip's `client-cert` `{pip.client_cert}` cannot be read ({error})"
            raise TransportError(reason, lasting=True) from None
    return context


def _refuse_pipes() -> None:
    """Raise TransportError where OpenSSL would look into a pipe for authorities, and wait for who writes to it."""
    for place in os.environ.get("SSL_CERT_DIR", "").split(os.pathsep):
        if os.path.exists(place) and not os.path.isdir(place):
            try:
                open_file(Path(place)).close()
            except OSError as error:
                reason = f"the certificates `{place}` of `SSL_CERT_DIR` cannot be read ({error})"
                raise TransportError(reason, lasting=True) from None


@lru_cache(maxsize=1)
def _unchecked() -> ssl.SSLContext:
    """Return what takes any certificate."""
    import ssl

    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def _context(named: str | None) -> ssl.SSLContext:
    import ssl

    if named and os.path.isdir(named):
        return ssl.create_default_context(capath=named)
    if named:
        open_file(Path(named)).close()
    context = ssl.create_default_context(cafile=named or None)
    if not named:
        import certifi

        context.load_verify_locations(certifi.where())
    return context
