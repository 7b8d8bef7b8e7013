"""Credentials for indexes: from a URL or netrc, kept in memory, never shown and never stored."""

from __future__ import annotations

import base64
import netrc
import os
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit, urlunsplit

from envdoctor.adapters.user_folders import home

__all__ = ["Credentials", "origin_of", "split_credentials", "without_credentials"]

_USERINFO = re.compile(r"(?<=://)[^/@\s]+@")


def origin_of(url: str) -> str:
    """Return ``scheme://host[:port]`` of a URL."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2].lower()
    return f"{parts.scheme.lower()}://{host}"


def split_credentials(url: str) -> tuple[str, tuple[str, str] | None]:
    """Return the URL without its user information, and that information."""
    parts = urlsplit(url)
    userinfo, at, host = parts.netloc.rpartition("@")
    if not at:
        return url, None
    user, _, password = userinfo.partition(":")
    return urlunsplit(parts._replace(netloc=host)), (unquote(user), unquote(password))


def without_credentials(text: str) -> str:
    """Return a text in which no URL carries user information; for messages."""
    return _USERINFO.sub("", text)


class Credentials:
    """Which ``Authorization`` goes to which origin, and to no other."""

    def __init__(self) -> None:
        self._known: dict[str, str | None] = {}
        self._netrc: netrc.netrc | None = None
        self._netrc_read = False

    def take(self, url: str) -> str:
        """Remember a URL's credentials for its origin; return the URL without them."""
        clean, pair = split_credentials(url)
        if pair is not None:
            self._known[origin_of(clean)] = _basic(*pair)
        return clean

    def authorization(self, url: str) -> str | None:
        """Return the header value for a request to this URL, None where nothing is known."""
        origin = origin_of(url)
        if origin not in self._known:
            self._known[origin] = self._from_netrc(urlsplit(url).hostname or "")
        return self._known[origin]

    def _from_netrc(self, host: str) -> str | None:
        if not self._netrc_read:
            self._netrc_read = True
            self._netrc = _read_netrc()
        entry = self._netrc.authenticators(host) if self._netrc and host else None
        return _basic(entry[0], entry[2] or "") if entry else None


def _basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode("ascii")


def _read_netrc() -> netrc.netrc | None:
    named = os.environ.get("NETRC")
    candidates = [Path(named)] if named else [Path(home(), ".netrc"), Path(home(), "_netrc")]
    path = next((candidate for candidate in candidates if candidate.is_file()), None)
    try:
        return netrc.netrc(str(path)) if path is not None else None
    except (OSError, netrc.NetrcParseError, UnicodeDecodeError):
        return None
