"""Credentials for indexes: from a URL, netrc or the keyring, kept in memory, never shown and never stored."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import threading
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit, urlunsplit

from envdoctor.adapters.user_folders import home

if TYPE_CHECKING:
    import netrc

__all__ = ["Credentials", "origin_of", "split_credentials", "without_credentials"]

_SECONDS = 15
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

    def __init__(self, *, keyring: bool = True) -> None:
        self._keyring = keyring
        self._users: dict[str, tuple[str, str]] = {}
        self._lock = threading.Lock()
        self._known: dict[str, str | None] = {}
        self._netrc: netrc.netrc | None = None
        self._netrc_read = False

    def take(self, url: str) -> str:
        """Remember a URL's credentials for its origin; return the URL without them."""
        clean, pair = split_credentials(url)
        if pair is not None and pair[0] and not pair[1]:
            self._users[origin_of(clean)] = clean, pair[0]
        elif pair is not None:
            self._known[origin_of(clean)] = _basic(*pair)
        return clean

    def authorization(self, url: str) -> str | None:
        """Return the header value for a request to this URL, None where nothing is known."""
        origin = origin_of(url)
        with self._lock:
            if origin not in self._known:
                host = urlsplit(url).hostname or ""
                self._known[origin] = self._from_keyring(origin) or self._from_netrc(host) or self._of_user(origin)
            return self._known[origin]

    def _from_keyring(self, origin: str) -> str | None:
        """Return what the keyring has for a user whom the URL names without a password, as pip and uv ask for it."""
        if not self._keyring or origin not in self._users:
            return None
        url, user = self._users[origin]
        found = next(filter(None, (_password(place, user) for place in (url, urlsplit(url).netloc))), None)
        return _basic(user, found) if found else None

    def _of_user(self, origin: str) -> str | None:
        """Return what goes with such a user where nothing else is known: it may be a token."""
        return _basic(self._users[origin][1], "") if origin in self._users else None

    def _from_netrc(self, host: str) -> str | None:
        if not self._netrc_read:
            self._netrc_read = True
            self._netrc = _read_netrc()
        entry = self._netrc.authenticators(host) if self._netrc and host else None
        return _basic(entry[0], entry[2] or "") if entry else None


def _basic(user: str, password: str) -> str:
    import base64

    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode("ascii")


def _password(place: str, user: str) -> str | None:
    """Ask the keyring's own command; None where it is not there, knows nothing, or waits for somebody."""
    found = shutil.which("keyring")
    if found is None:
        return None
    try:
        done = subprocess.run(  # noqa: S603 - what is on PATH by this name, as pip and uv do
            [found, "get", place, user], capture_output=True, text=True, timeout=_SECONDS, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return None
    return done.stdout.strip() or None if done.returncode == 0 else None


def _read_netrc() -> netrc.netrc | None:
    import netrc

    named = os.environ.get("NETRC")
    candidates = [Path(named)] if named else [Path(home(), ".netrc"), Path(home(), "_netrc")]
    path = next((candidate for candidate in candidates if os.path.isfile(candidate)), None)
    try:
        return netrc.netrc(str(path)) if path is not None else None
    except (OSError, netrc.NetrcParseError, UnicodeDecodeError):
        return None
