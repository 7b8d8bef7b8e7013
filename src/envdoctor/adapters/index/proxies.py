"""The proxies that requests would take, looked at before the first of them: pip's option and the usual variables."""

from __future__ import annotations

import os
from importlib.util import find_spec

from envdoctor.model.index_url import url_fault

__all__ = ["proxy_fault", "proxy_url", "proxy_variable"]

_SCHEMES = ("http", "https", "socks5", "socks5h")
_VARIABLES = ("http_proxy", "https_proxy", "all_proxy")


def proxy_url(text: str) -> str:
    """Return a proxy as a URL; ``host:port`` is taken to speak HTTP."""
    return text if "://" in text else f"http://{text}"


def proxy_fault(pips: str | None) -> str | None:
    """Return what is wrong with the first proxy that cannot be one, and what to do; None where all can."""
    named = [("pip's `proxy`", pips)] if pips else []
    for source, text in [*named, *((f"`{name}`", value) for name, value in _in_environment())]:
        fault = _fault(proxy_url(text))
        if fault is not None:
            return f"{source} does not name a proxy: {fault}; set it to `http://HOST:PORT`, or take it away"
    return None


def proxy_variable(pips: str | None, scheme: str) -> str | None:
    """Return what names the proxy for URLs of a scheme, None where nothing does. Exceptions are not looked at."""
    if pips:
        return "pip's `proxy`"
    names = {name.lower(): name for name, _ in _in_environment()}
    found = names.get(f"{scheme}_proxy") or names.get("all_proxy")
    return f"`{found}`" if found else None


def _in_environment() -> list[tuple[str, str]]:
    """Return the variables that are set, the lower-case spelling where both are."""
    found = []
    for name in _VARIABLES:
        spelling = next((each for each in (name, name.upper()) if os.environ.get(each)), None)
        if spelling is not None:
            found.append((spelling, os.environ[spelling]))
    return found


def _fault(url: str) -> str | None:
    fault = url_fault(url, _SCHEMES)
    if fault is None and url.startswith("socks") and find_spec("socksio") is None:
        return "a SOCKS proxy takes the package `socksio`, which is not installed beside envdoctor"
    return fault
