"""What people give as an index, looked at before anything is asked: options, variables, pip's configuration."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import urlsplit

from packaging.utils import NormalizedName

from envdoctor.adapters.index.cache import Cache
from envdoctor.adapters.index.credentials import Credentials, split_credentials
from envdoctor.adapters.index.index_settings import (
    IndexSettings,
    IndexSettingsError,
    limits_in,
    patience_of,
    replaced_url,
)
from envdoctor.adapters.index.live import LiveIndex, Sources
from envdoctor.adapters.index.pip_settings import PipSettings, builtin_index_url, proxy_fault, read_pip_settings
from envdoctor.adapters.index.source import FlatSource, PageSource, Source
from envdoctor.adapters.index.stand_ins import carries
from envdoctor.adapters.index.transport import Transport
from envdoctor.adapters.user_folders import cache_folder
from envdoctor.model.dataclass import dataclass
from envdoctor.model.index_url import bare_url, index_fault, label_of, mirror_variable
from envdoctor.model.unknown import Subject, SubjectKind, Unknown, UnknownKind
from envdoctor.ports import IndexUnavailable, Progress

if TYPE_CHECKING:
    from envdoctor.adapters.index.recorded import RecordedIndex
    from envdoctor.adapters.index.recording import RecordingIndex

__all__ = ["AnyIndex", "checked", "default_index_place", "default_index_url", "open_index"]


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


_LABELLED_ABSENCE = 86400.0
"""Seconds for which it is believed that a project is not there, where an index holds few projects (``.../cu121``)."""
AnyIndex: TypeAlias = "LiveIndex | RecordedIndex | RecordingIndex"
"""All implement ``Index``, ``ArchiveReader``, ``build_risk``, ``too_new``, ``unreachable``, ``confused``, ``notes``,
``seconds`` (wall-clock, waited for it so far) and ``close``."""


def open_index(settings: IndexSettings, progress: Progress | None = None) -> AnyIndex:
    """Return an index. Makes no request yet.

    Raises IndexUnavailable where no default index is known or a recording is none, and IndexSettingsError for an
    option, a variable or a value of pip's configuration that cannot be what it stands for.
    """
    recorded = settings.recorded or _directory("ENVDOCTOR_INDEX_RECORDED")
    if recorded is not None:
        from envdoctor.adapters.index.recorded import RecordedIndex

        return RecordedIndex(recorded, settings)
    live = _live(settings, progress)
    record_to = settings.record_to or _directory("ENVDOCTOR_INDEX_RECORD")
    if record_to is None:
        return live
    from envdoctor.adapters.index.recording import RecordingIndex

    try:
        record_to.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        live.close()
        raise IndexSettingsError(f"cannot record into `{record_to}`: {error.strerror or error}") from None
    return RecordingIndex(live, record_to)


def default_index_url(settings: IndexSettings) -> str:
    """Return the default index, without credentials, so that it can be shown and written down.

    It is the setting, ``ENVDOCTOR_INDEX_URL``, what pip's configuration says, or pip's built-in one, in this order.
    Raises IndexUnavailable where there is none of them.
    """
    return split_credentials(_default_url(settings, read_pip_settings(settings.prefix)))[0]


def default_index_place(settings: IndexSettings) -> str:
    """Return who names the default index: an option, a variable, a configuration file, or pip itself.

    Empty where there is none.
    """
    if settings.default_url:
        return "--index-url"
    if os.environ.get("ENVDOCTOR_INDEX_URL"):
        return "ENVDOCTOR_INDEX_URL"
    if settings.no_index:
        return ""
    if settings.named_default is not None:
        return settings.named_default.place
    return read_pip_settings(settings.prefix).places.get("index-url", "pip's own default")


def _default_url(settings: IndexSettings, pip: PipSettings) -> str:
    named = settings.named_default.url if settings.named_default else None
    url = _users_url(settings) or named or _pips_url(pip) or builtin_index_url()
    if not url:
        reason = "no pip was found to ask for its default; set `ENVDOCTOR_INDEX_URL` or give `--index-url`"
        subject = Subject(SubjectKind.INDEX, "default")
        raise IndexUnavailable(Unknown(UnknownKind.UNREACHABLE, subject, subject.name, cause=reason))
    return url


def _users_url(settings: IndexSettings) -> str | None:
    if settings.default_url:
        return checked(settings.default_url, "the index's URL")
    return checked(os.environ.get("ENVDOCTOR_INDEX_URL"), "`ENVDOCTOR_INDEX_URL`")


def _pips_url(pip: PipSettings) -> str | None:
    return checked(pip.index_url, "pip's `index-url`")


def _live(settings: IndexSettings, progress: Progress | None) -> LiveIndex:
    limits_in(settings)
    pip = read_pip_settings(settings.prefix)
    early: list[str] = [f"pip's configuration {text}" for text in pip.unreadable]
    cache = Cache((settings.cache_dir or Path(cache_folder())) if settings.use_cache else None, early.append)
    credentials = Credentials(keyring=pip.keyring)
    patience = patience_of(settings)
    transport = Transport(pip, credentials, min(settings.timeout, patience), settings.concurrency, patience)
    maker = _SourceMaker(settings, transport, cache, credentials)
    default, fallback = _defaults(settings, pip, maker, early)
    bound: dict[NormalizedName, tuple[Source, str | None]] = {}
    otherwise: tuple[Source, ...] = ()
    for entry in (*settings.named_bound, *settings.bound):
        source = maker.source(entry.name, entry.url, flat=entry.flat)
        # The label is the declared index's; a mirror's URL need not end in it.
        label = entry.local_label or label_of(entry.url)
        declared = entry in settings.bound
        otherwise += () if declared else (source,)
        for name in entry.packages:
            bound[name] = (source, label if declared or carries(label, name) else None)
    extra = tuple(
        (maker.source(named.name, named.url, flat=named.flat), frozenset(named.labels)) for named in settings.extra
    )
    sources = Sources(default, bound, extra, fallback, otherwise, settings.private)
    live = LiveIndex(settings, sources, transport, cache, progress)
    for each in sources.every:
        each.fetched = live.fetched
    if not settings.offline:
        refuse_proxies(pip, (each.url for each in sources.every))
    transport.waiting = live.waits_for
    transport.note = cache.note = live.note
    for text in early:
        live.note(text)
    return live


def _defaults(
    settings: IndexSettings, pip: PipSettings, maker: _SourceMaker, notes: list[str]
) -> tuple[PageSource | None, PageSource | None]:
    """Return the default index, and the one whose files stand in where the project named it and it is out of reach."""
    users, named = _users_url(settings), settings.named_default
    if users:
        asked = f"index {named.name}" if named else "no index at all (`--no-index`)"
        if (named and not named.alone) or settings.no_index:
            notes.append(f"the project's own files ask for {asked}; the index that you gave is taken in its place")
        return maker.page_source("default", users, patient=True), None
    if settings.no_index:
        return None, None
    beside = named is None or (not named.alone and _any_index(pip))
    usual = _default_url(replace(settings, named_default=None), pip) if beside else ""
    fallback = maker.page_source("default", usual, patient=True) if usual else None
    if named is None:
        return fallback, None
    return maker.page_source(named.name, _named_url(named.name, named.url, settings)), fallback


def _named_url(name: str, url: str, settings: IndexSettings) -> str:
    """Return the URL of a named index, or the one given in its place. Raises IndexSettingsError."""
    given = replaced_url(name, url, settings.replacements)
    if given != url:
        return checked(given, f"`{mirror_variable(name)}`") or url
    if fault := index_fault(url):
        raise IndexSettingsError(f"index {name}, `{bare_url(url)}`: {fault}")
    return url


def _any_index(pip: PipSettings) -> bool:
    return bool(pip.index_url or builtin_index_url())


@dataclass(frozen=True, slots=True)
class _SourceMaker:
    """Makes indexes that share one pool of connections and one cache."""

    settings: IndexSettings
    transport: Transport
    cache: Cache
    credentials: Credentials

    def page_source(self, name: str, url: str, *, patient: bool = False) -> PageSource:
        """Return a simple index."""
        settings = self.settings
        clean = self.credentials.take(as_url(url)).rstrip("/") + "/"
        absence = _LABELLED_ABSENCE if label_of(url) else None
        return PageSource(
            name, clean, self.transport, self.cache, settings.offline, patient, settings.freshness, absence
        )

    def source(self, name: str, url: str, *, flat: bool) -> Source:
        """Return a named index, or the one that the user put in its place."""
        url = _named_url(name, url, self.settings)
        if not flat:
            return self.page_source(name, url)
        return FlatSource(name, self.credentials.take(as_url(url)), self.transport, self.cache, self.settings.offline)


def _directory(variable: str) -> Path | None:
    value = os.environ.get(variable)
    return Path(value) if value else None
