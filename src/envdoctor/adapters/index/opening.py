"""Puts the parts together: settings and pip's configuration in, an index out."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import urlsplit

from packaging.utils import NormalizedName

from envdoctor.adapters.index.cache import Cache, default_cache_dir
from envdoctor.adapters.index.credentials import Credentials, split_credentials
from envdoctor.adapters.index.live import LiveIndex, Sources
from envdoctor.adapters.index.pip_settings import PipSettings, builtin_index_url, read_pip_settings
from envdoctor.adapters.index.recorded import RecordedIndex
from envdoctor.adapters.index.recording import RecordingIndex
from envdoctor.adapters.index.settings import IndexSettings, cutoff_text, label_of, replaced_url
from envdoctor.adapters.index.source import FlatSource, PageSource, Source
from envdoctor.adapters.index.transport import Transport
from envdoctor.ports import IndexUnavailable, Progress

__all__ = ["AnyIndex", "default_index_url", "open_index"]

AnyIndex = LiveIndex | RecordedIndex | RecordingIndex
"""All implement ``Index``, ``ArchiveReader``, ``build_risk``, ``too_new``, ``unreachable``, ``notes``, ``seconds``
(wall-clock, waited for it so far) and ``close``."""


def open_index(settings: IndexSettings, progress: Progress | None = None) -> AnyIndex:
    """Return an index. Makes no request yet.

    Raises IndexUnavailable where no default index is known, and ValueError for a bad ``exclude_newer``.
    """
    recorded = settings.recorded or _directory("ENVDOCTOR_INDEX_RECORDED")
    if recorded is not None:
        return RecordedIndex(recorded, settings)
    live = _live(settings, progress)
    record_to = settings.record_to or _directory("ENVDOCTOR_INDEX_RECORD")
    return live if record_to is None else RecordingIndex(live, record_to)


def default_index_url(settings: IndexSettings) -> str:
    """Return the default index, without credentials, so that it can be shown and written down.

    It is the setting, ``ENVDOCTOR_INDEX_URL``, what pip's configuration says, or pip's built-in one, in this order.
    Raises IndexUnavailable where there is none of them.
    """
    return split_credentials(_default_url(settings, read_pip_settings(settings.prefix)))[0]


def _default_url(settings: IndexSettings, pip: PipSettings) -> str:
    url = settings.default_url or os.environ.get("ENVDOCTOR_INDEX_URL") or pip.index_url or builtin_index_url()
    if not url:
        reason = "no pip was found to ask for its default; set `ENVDOCTOR_INDEX_URL` or give `--index-url`"
        raise IndexUnavailable("default", "", reason)
    return url


def _live(settings: IndexSettings, progress: Progress | None) -> LiveIndex:
    cutoff_text(settings.exclude_newer)
    pip = read_pip_settings(settings.prefix)
    default_url = _default_url(settings, pip)
    early: list[str] = [f"pip's configuration {text}" for text in pip.unreadable]
    credentials = Credentials()
    cache = Cache((settings.cache_dir or default_cache_dir()) if settings.use_cache else None, early.append)
    transport = Transport(pip, credentials, settings.timeout, settings.concurrency)

    def page_source(name: str, url: str, patient: bool) -> PageSource:
        clean = credentials.take(_as_url(url)).rstrip("/") + "/"
        return PageSource(name, clean, transport, cache, settings.offline, patient, settings.freshness)

    default = page_source("default", default_url, True)
    bound: dict[NormalizedName, tuple[PageSource, str | None]] = {}
    for entry in settings.bound:
        url = replaced_url(entry.name, entry.url, settings.replacements)
        source = page_source(entry.name, url, False)
        # The label is the declared index's; a mirror's URL need not end in it.
        label = entry.local_label or label_of(entry.url)
        bound.update(dict.fromkeys(entry.packages, (source, label)))
    extra: list[tuple[Source, frozenset[tuple[NormalizedName, str]]]] = []
    for named in settings.extra:
        url = replaced_url(named.name, named.url, settings.replacements)
        if named.flat:
            clean = credentials.take(_as_url(url))
            made: Source = FlatSource(named.name, clean, transport, cache, settings.offline)
        else:
            made = page_source(named.name, url, False)
        extra.append((made, frozenset(named.labels)))
    live = LiveIndex(settings, Sources(default, bound, tuple(extra)), transport, cache, progress)
    everything: list[Source] = [default, *(entry[0] for entry in bound.values()), *(entry[0] for entry in extra)]
    for each in everything:
        each.fetched = live.fetched
    transport.note = cache.note = live.note
    for text in early:
        live.note(text)
    return live


def _as_url(text: str) -> str:
    """Return a URL; a path of this machine becomes ``file:``. A one-letter scheme is a Windows drive."""
    if len(urlsplit(text).scheme) > 1:
        return text
    return Path(text).expanduser().resolve().as_uri()


def _directory(variable: str) -> Path | None:
    value = os.environ.get(variable)
    return Path(value) if value else None
