"""What people give as an index, looked at before anything is asked: options, variables, pip's configuration."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlsplit

from envdoctor.adapters.index.pip_settings import PipSettings
from envdoctor.adapters.index.proxies import proxy_fault
from envdoctor.adapters.index.settings import IndexSettingsError
from envdoctor.model.index_url import bare_url, index_fault

__all__ = ["as_url", "checked", "refuse_proxies"]


def checked(url: str | None, source: str) -> str | None:
    """Return the URL or path of an index, None for none. Raises IndexSettingsError where nothing can be asked there."""
    if not url:
        return None
    fault = index_fault(url)
    if fault is None and _is_path(url) and not _place(url).is_dir():
        fault = "there is no such directory, and a URL begins with `https://` or `http://`"
    if fault is not None:
        raise IndexSettingsError(f"{source} `{bare_url(url)}` is not an index: {fault}")
    return url


def as_url(text: str) -> str:
    """Return a URL; a path of this machine becomes ``file:``."""
    return _place(text).resolve().as_uri() if _is_path(text) else text


def refuse_proxies(pip: PipSettings, urls: Iterable[str]) -> None:
    """Raise IndexSettingsError where indexes on the network would be asked through a proxy that is none."""
    if any(url.startswith(("http:", "https:")) for url in urls):
        fault = proxy_fault(pip.proxy)
        if fault is not None:
            raise IndexSettingsError(fault)


def _is_path(text: str) -> bool:
    # A one-letter scheme is a Windows drive.
    return len(urlsplit(text).scheme) < 2


def _place(text: str) -> Path:
    try:
        return Path(text).expanduser()
    except RuntimeError:  # the home of somebody who is not known here
        return Path(text)
