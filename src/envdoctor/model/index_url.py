"""URLs of indexes and proxies: whether one can be one, without its secrets, where it leads, what an index is called.

A fault is said where the URL is written, and not where it is first used.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit

__all__ = [
    "bare_url",
    "file_path",
    "index_fault",
    "index_name",
    "label_of",
    "mirror_variable",
    "url_fault",
    "url_without_secrets",
    "with_user",
]

INDEX_SCHEMES = ("http", "https", "file")
_LONGEST_LABEL = 63
_LABEL = re.compile(r"[A-Za-z0-9_-]+")
_USERINFO = re.compile(r"(?<=//)[^/?#]*@")
_SECRET = re.compile(r"token|key|secret|passw|auth|credential|signature|^sig$|^x-(amz|goog)-", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_DRIVE = re.compile(r"/[A-Za-z][:|]")
_SHOWN = 80
"""Characters of a name that are quoted."""


def file_path(url: str, *, windows: bool = os.name == "nt") -> str | None:
    """Return the path that a ``file:`` URL names, None for other URLs.

    On Windows its host is a server, as pip takes it, and a path begins with its drive. Raises ValueError.
    """
    parts = urlsplit(url)
    if parts.scheme != "file":
        return None
    path = unquote(parts.path)
    if not windows:
        return path
    if _DRIVE.match(path):
        return f"{path[1]}:{path[3:]}"
    host = parts.netloc if parts.netloc != "localhost" else ""
    return f"//{host}{path}" if host else re.sub(r"^/{3,}", "//", path)


def url_fault(text: str, schemes: Collection[str] = INDEX_SCHEMES) -> str | None:
    """Return what is wrong with a URL, None where it can be opened. Text without a scheme is a path.

    What is quoted of it holds no user and password.
    """
    if _CONTROL.search(text) or not _encodable(text):
        return "it holds a character that no URL can have"
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname, parts.port
        if "[" in parts.netloc:
            # Python before 3.11.4 does not look at what stands between the brackets.
            from ipaddress import IPv6Address

            IPv6Address((host or "").partition("%")[0])
    except ValueError as error:
        # What Python says may quote the part that a password stands in.
        return "its port is not a number from 0 to 65535" if "ort" in str(error)[:4] else "its host cannot be read"
    # A one-letter scheme is a Windows drive.
    if len(parts.scheme) < 2 and "://" not in text:
        return None
    scheme = parts.scheme.rpartition("+")[2]
    if scheme not in schemes:
        return f"`{scheme or bare_url(text)[:_SHOWN]}` is not a scheme that can be asked; {_one_of(schemes)}"
    if scheme == "file":
        return None
    return _host_fault(host) if host else "it names no host"


def index_fault(text: str) -> str | None:
    """Return why a URL cannot be that of an index, None where it can. Text without a scheme is a path."""
    fault = url_fault(text)
    if fault is None and len(urlsplit(text).scheme) > 1 and urlsplit(text).query:
        # It would stand between the index and a project's name, and in what is kept and shown of both.
        return "it has a query, behind which no project has a page; a token goes before the host or into netrc"
    return fault


def bare_url(text: str) -> str:
    """Return a URL without user information, query and fragment, for messages and keys; a malformed one as far."""
    text = _USERINFO.sub("", text)
    try:
        parts = urlsplit(text)
    except ValueError:
        return re.split(r"[?#]", text, maxsplit=1)[0]
    if len(parts.scheme) < 2:
        return text
    if not parts.query and not parts.fragment:
        return text
    bare = SplitResult(parts.scheme, parts.netloc, parts.path, "", "")
    return bare.geturl()


def url_without_secrets(url: str) -> str:
    """Return a URL that may be written down: without user information and without what in its query is a secret.

    Names of secrets: tokens and keys as indexes take them, and the signatures of AWS, Google Cloud and Azure.
    """
    parts = urlsplit(_USERINFO.sub("", url))
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    kept = [(name, value) for name, value in pairs if not _SECRET.search(name)]
    return urlunsplit(parts._replace(query=urlencode(kept))) if len(kept) < len(pairs) else urlunsplit(parts)


def _one_of(schemes: Collection[str]) -> str:
    return "use " + ", ".join(f"`{scheme}:`" for scheme in schemes)


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _host_fault(host: str) -> str | None:
    if ":" in host:
        return None
    try:
        labels = host.encode("idna").decode("ascii").rstrip(".").split(".")
    except UnicodeError:
        labels = [""]
    if any(len(label) > _LONGEST_LABEL or not _LABEL.fullmatch(label) or _hollow(label) for label in labels):
        return f"`{host[:_SHOWN]}` is not a host name"
    return None


def _hollow(label: str) -> bool:
    """Return True for a label that says it is an internationalised one and is none."""
    if not label.lower().startswith("xn--"):
        return False
    try:
        return not label[4:].encode("ascii").decode("punycode")
    except UnicodeError:
        return True


def mirror_variable(index: str) -> str:
    """Return ``ENVDOCTOR_INDEX_<NAME>``, the variable that replaces a named index's URL, wherever a file names it."""
    return "ENVDOCTOR_INDEX_" + re.sub(r"[^A-Za-z0-9]", "_", index.partition(_OF)[0]).upper()


_OF = " of "
_BUILD = re.compile(r"(?:cu\d{2,3}|rocm\d+(?:\.\d+)*|cpu|xpu)$")


def label_of(url: str) -> str | None:
    """Return the local version label that an index's URL ends in (``.../whl/cu118``), if it looks like one."""
    last = url.rstrip("/").rsplit("/", 1)[-1]
    return last if _BUILD.match(last) else None


def index_name(url: str, place: str, names: Mapping[str, str] | None = None) -> str:
    """Return what an index of a project's file is called, and where it is named.

    It is what the file itself calls the index of that URL (``names``), else its label, or host and path.
    """
    parts = urlsplit(bare_url(url))
    text = (names or {}).get(url) or label_of(url) or (f"{parts.netloc}{parts.path}" if parts.netloc else url)
    return f"{text.rstrip('/') or url}{_OF}{place}"


def with_user(url: str, beginning: str, name: str, variables: Mapping[str, str]) -> str:
    """Return a URL with the user and password that two variables have for an index of this name."""
    beginning += re.sub(r"[^A-Za-z0-9]", "_", name).upper()
    user, password = variables.get(f"{beginning}_USERNAME", ""), variables.get(f"{beginning}_PASSWORD", "")
    scheme, mark, rest = url.partition("://")
    if not mark or "@" in rest.partition("/")[0] or not (user or password):
        return url
    return f"{scheme}://{quote(user, safe='')}{':' if password else ''}{quote(password, safe='')}@{rest}"
