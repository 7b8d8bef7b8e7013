"""The open connections of a pool, so that requests that are under way can be ended from another thread."""

from __future__ import annotations

import os
import socket
import threading
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol, cast

from envdoctor.adapters.index.pip_settings import PipSettings, proxy_fault, proxy_url

if TYPE_CHECKING:
    import ssl

    import httpx

__all__ = ["ClientError", "Connections", "new_client"]

_MADE = frozenset({"connection.connect_tcp.complete", "connection.start_tls.complete"})
"""What httpcore says when a stream has been made; the second takes the place of the first."""


class _Stream(Protocol):
    def close(self) -> None: ...

    def get_extra_info(self, info: str) -> object: ...


class Connections:
    """Every stream of one pool. Thread-safe.

    A pool that is closed forgets its connections: one that is made a moment later belongs to nobody, and a thread that
    waits for an answer goes on waiting. So streams are known here from their beginning.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._streams: weakref.WeakSet[_Stream] = weakref.WeakSet()
        self._ended = False

    def trace(self, event: str, info: Mapping[str, object]) -> None:
        """Take what httpcore tells of a request, its ``trace`` extension; after ``end``, streams are closed at once."""
        if event not in _MADE:
            return
        stream = cast("_Stream", info["return_value"])
        with self._lock:
            if not self._ended:
                self._streams.add(stream)
                return
        stream.close()

    def end(self) -> None:
        """Wake whoever reads or writes: they fail, and close their streams themselves.

        Closing a socket under a thread would not wake it, and would let it read from whatever gets its number next.
        """
        with self._lock:
            self._ended = True
            streams = list(self._streams)
        for stream in streams:
            connected = stream.get_extra_info("socket")
            if isinstance(connected, socket.socket):
                with suppress(OSError):  # Closed or broken already.
                    connected.shutdown(socket.SHUT_RDWR)


class ClientError(Exception):
    """No connection can be made as things are configured; the text says which value it is."""


def new_client(pip: PipSettings, concurrency: int, note: Callable[[str], None]) -> httpx.Client:
    """Return a pool that leaves redirects to its user. Raises ClientError."""
    import httpx

    fault = proxy_fault(pip.proxy)
    if fault is not None:
        raise ClientError(fault)
    context = _tls_context(pip)
    # Requests that were given up may hold connections for a while; the number of workers is the limit that counts.
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=concurrency + 8)
    mounts: dict[str, httpx.BaseTransport | None] = {}
    try:
        for host in pip.trusted_hosts:
            note(f"pip's configuration trusts `{host}` without checking its certificate; so it is done here")
            mounts[f"https://{host}"] = httpx.HTTPTransport(verify=False, limits=limits)
        proxy = proxy_url(pip.proxy) if pip.proxy else None
        return httpx.Client(
            verify=context, proxy=proxy, mounts=mounts, limits=limits, headers={"User-Agent": "envdoctor"}
        )
    except (httpx.InvalidURL, ValueError, ImportError) as error:
        # The system's own proxy settings (macOS, Windows) come here unread.
        raise ClientError(f"the proxies or trusted hosts that are configured cannot be used ({error})") from None


@lru_cache(maxsize=4)
def _tls_context(pip: PipSettings) -> ssl.SSLContext:
    """Return the certificates that pip would check against: its option, the usual variables, else the system's."""
    import ssl

    source, named = "pip's `cert`", pip.cert
    for variable in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"):
        if not named and os.environ.get(variable):
            source, named = f"`{variable}`", os.environ[variable]
    try:
        context = _context(named)
    except (OSError, ssl.SSLError, ValueError) as error:
        raise ClientError(f"the certificates `{named}` of {source} cannot be read ({error})") from None
    if pip.client_cert:
        try:
            context.load_cert_chain(pip.client_cert)
        except (OSError, ssl.SSLError, ValueError) as error:
            raise ClientError(f"pip's `client-cert` `{pip.client_cert}` cannot be read ({error})") from None
    return context


def _context(named: str | None) -> ssl.SSLContext:
    import ssl

    if named and os.path.isdir(named):
        return ssl.create_default_context(capath=named)
    context = ssl.create_default_context(cafile=named or None)
    if not named:
        import certifi

        context.load_verify_locations(certifi.where())
    return context
