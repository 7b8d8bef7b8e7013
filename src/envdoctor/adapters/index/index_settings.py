"""What a caller decides about indexes; everything else follows pip's own configuration."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import field, replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

from packaging.utils import NormalizedName

from envdoctor.model.candidate import DistributionFile, ProjectPage, Rejection, RejectionKind
from envdoctor.model.dataclass import dataclass
from envdoctor.model.index_url import mirror_variable
from envdoctor.model.profile import BoundIndex
from envdoctor.model.upload_limit import UploadLimit, UploadLimits, utc_text

__all__ = [
    "PATIENCE_VARIABLE",
    "ExtraIndex",
    "IndexSettings",
    "IndexSettingsError",
    "NamedDefault",
    "limits_in",
    "patience_of",
    "replaced_url",
    "without_late",
]

PATIENCE_VARIABLE = "ENVDOCTOR_INDEX_TIMEOUT"
_PATIENCE = 60.0


class IndexSettingsError(ValueError):
    """An option, a variable or a configured value with which no index can be opened; the text names it."""


@dataclass(frozen=True, slots=True)
class ExtraIndex:
    """An index that a project's own files name beside the default index."""

    name: str
    url: str
    """A simple index, or for ``flat`` a page or directory of files (``--find-links``)."""
    labels: tuple[tuple[NormalizedName, str], ...] = ()
    """``(project, local label)`` of requirements such as ``torch==2.1.1+cu118`` that this index may serve."""
    flat: bool = False
    place: str = ""
    """Where it is named."""


@dataclass(frozen=True, slots=True)
class NamedDefault:
    """An ``--index-url`` of a project's own file, or of uv's configuration."""

    name: str
    url: str
    place: str
    """Where it is named."""
    alone: bool = False
    """No other index stands in where it is out of reach."""


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """Which indexes are asked, and how. Times are in seconds.

    Environment: ``ENVDOCTOR_INDEX_URL`` (the default index), ``ENVDOCTOR_INDEX_<NAME>`` (replaces the URL of a
    profile's index), ``ENVDOCTOR_INDEX_TIMEOUT`` (see ``patience``), ``ENVDOCTOR_CACHE_DIR``,
    ``ENVDOCTOR_INDEX_RECORDED`` and ``ENVDOCTOR_INDEX_RECORD`` (directories: answer from a recording; write one).
    """

    default_url: str | None = None
    """None: what pip would use."""
    bound: tuple[BoundIndex, ...] = ()
    named_default: NamedDefault | None = None
    """The index that the project's files put in the place of the default one; ``default_url`` wins over it."""
    no_index: bool = False
    """The project's files do without a default index (``--no-index``); ``default_url`` wins over it."""
    named_bound: tuple[BoundIndex, ...] = ()
    """Indexes of which the project's own steps install; ``bound`` wins over them."""
    private: frozenset[NormalizedName] = frozenset()
    """Projects that no other index is asked for, although theirs is out of reach."""
    extra: tuple[ExtraIndex, ...] = ()
    offline: bool = False
    cache_dir: Path | None = None
    """None: the user's cache directory."""
    use_cache: bool = True
    exclude_newer: str | datetime | None = None
    """ISO 8601. A date takes in that whole day (UTC). It holds for every package; ``limits`` are not looked at then."""
    limits: UploadLimits = UploadLimits()
    """What the configuration of uv or pip says of upload times."""
    timeout: float = 20.0
    """Of one attempt: to connect, and between two pieces of an answer."""
    patience: float | None = None
    """How long a host may go without one answer before it is left alone, all attempts together; None: what
    ``ENVDOCTOR_INDEX_TIMEOUT`` says, else 60."""
    freshness: float = 600.0
    """How long a cached page is taken without asking the index."""
    concurrency: int = 24
    replacements: Mapping[str, str] = field(default_factory=dict)
    """Name of a profile's index to the URL to use in its place (a mirror)."""
    recorded: Path | None = None
    record_to: Path | None = None
    prefix: Path | None = None
    """Prefix of the interpreter whose pip configuration counts; None: the running one."""


def replaced_url(name: str, url: str, replacements: Mapping[str, str]) -> str:
    """Return the URL to use for a named index: an explicit replacement, the environment's, or its own."""
    return replacements.get(name) or os.environ.get(mirror_variable(name)) or url


def patience_of(settings: IndexSettings) -> float:
    """Return how long a silent host is waited for. Raises IndexSettingsError."""
    if settings.patience is not None:
        return settings.patience
    text = os.environ.get(PATIENCE_VARIABLE, "").strip()
    if not text:
        return _PATIENCE
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise IndexSettingsError(f"`{PATIENCE_VARIABLE}` is `{text}`; it takes a number of seconds above 0")
    return seconds


def limits_in(settings: IndexSettings) -> UploadLimits:
    """Return what holds for upload times: ``exclude_newer``, else ``limits``.

    Raises IndexSettingsError for a text that is not an ISO 8601 date or time.
    """
    value = settings.exclude_newer
    if value is None:
        return settings.limits
    try:
        return UploadLimits(UploadLimit(_first_too_new(value), "--exclude-newer"))
    except (ValueError, OverflowError):
        raise IndexSettingsError(f"`{value}` is no date of ISO 8601, such as 2026-01-31") from None


def without_late(page: ProjectPage, limits: UploadLimits) -> tuple[ProjectPage, tuple[Rejection, ...], bool]:
    """Return the page without the files that are too new, those, and whether a file's time would count and is not told.

    Whole seconds of ISO 8601 in UTC compare as text.
    """
    if not limits:
        return page, (), False
    kept: list[DistributionFile] = []
    too_new: list[Rejection] = []
    by: UploadLimit | None = None
    untold = False
    for file in page.files:
        time, limit = file.upload_time, limits.of(page.name, file.index)
        untold |= limit is not None and time is None
        if limit is None or time is None or time[:19] < limit.first_too_new:
            kept.append(file)
            continue
        by = limit
        said = f"uploaded {time}, {limit}" if limit.place else f"uploaded {time}"
        too_new.append(Rejection(RejectionKind.TOO_NEW, page.name, file.version, file.filename, said))
    if not too_new:
        return page, (), untold
    versions = tuple(sorted({each.version for each in too_new if each.version is not None}))
    return replace(page, files=tuple(kept), too_new=versions, limit=by), tuple(too_new), untold


def _first_too_new(value: str | datetime) -> str:
    if isinstance(value, str):
        text = value.strip()
        if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
            return utc_text(datetime.fromisoformat(text).replace(tzinfo=timezone.utc) + timedelta(days=1))
        value = datetime.fromisoformat(text[:-1] + "+00:00" if text.endswith(("Z", "z")) else text)
    if value.tzinfo is None:
        value = value.replace(tzinfo=timezone.utc)
    # One second on: upload times are compared by whole seconds, and the moment itself is still admitted.
    return utc_text(value.astimezone(timezone.utc) + timedelta(seconds=1))
