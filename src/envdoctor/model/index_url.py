"""Whether the URL of an index option can be one, said where it is written and not where it is first used."""

from __future__ import annotations

from urllib.parse import urlsplit

__all__ = ["url_fault"]

_SCHEMES = frozenset({"http", "https", "file"})
_LONGEST_LABEL = 63


def url_fault(text: str) -> str | None:
    """Return what is wrong with an index's URL, None where it can be opened. Text without a scheme is a path."""
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        return str(error)[:1].lower() + str(error)[1:]
    # A one-letter scheme is a Windows drive.
    if len(parts.scheme) < 2 and "://" not in text:
        return None
    scheme = parts.scheme.rpartition("+")[2]
    if scheme not in _SCHEMES:
        return f"`{scheme}` is not a scheme that an index can have"
    if scheme == "file":
        return None
    if not host:
        return "it names no host"
    return _host_fault(host)


def _host_fault(host: str) -> str | None:
    if ":" in host:
        return None
    try:
        labels = host.encode("idna").decode("ascii").rstrip(".").split(".")
    except UnicodeError:
        return f"`{host[:80]}` is not a host name"
    if any(not label or len(label) > _LONGEST_LABEL or label == "xn--" or " " in label for label in labels):
        return f"`{host[:80]}` is not a host name"
    return None
