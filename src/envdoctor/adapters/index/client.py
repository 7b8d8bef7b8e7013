"""The pool of connections as pip's configuration wants it: certificates, proxies, hosts that are trusted."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

from envdoctor.adapters.index.pip_settings import PipSettings
from envdoctor.adapters.index.proxies import proxy_fault, proxy_url

if TYPE_CHECKING:
    import ssl

    import httpx

__all__ = ["ClientFault", "new_client"]


class ClientFault(Exception):
    """No connection can be made as things are configured; the text says which value it is."""


def new_client(pip: PipSettings, concurrency: int, note: Callable[[str], None]) -> httpx.Client:
    """Return a pool that leaves redirects to its user. Raises ClientFault."""
    import httpx

    fault = proxy_fault(pip.proxy)
    if fault is not None:
        raise ClientFault(fault)
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
        raise ClientFault(f"the proxies or trusted hosts that are configured cannot be used ({error})") from None


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
        raise ClientFault(f"the certificates `{named}` of {source} cannot be read ({error})") from None
    if pip.client_cert:
        try:
            context.load_cert_chain(pip.client_cert)
        except (OSError, ssl.SSLError, ValueError) as error:
            raise ClientFault(f"pip's `client-cert` `{pip.client_cert}` cannot be read ({error})") from None
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
