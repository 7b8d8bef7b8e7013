"""What a caller decides about indexes; everything else follows pip's own configuration."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path

from packaging.utils import NormalizedName
from packaging.version import Version

from envdoctor.model.profile import BoundIndex

__all__ = ["ExtraIndex", "IndexSettings", "built_with", "cutoff_text", "label_of", "replaced_url"]

# The first release without a build of that label: pytorch#147383 and PR#155509 for CUDA 11.8.
_ENDED = {
    "cu118": {"torch": Version("2.8"), "torchaudio": Version("2.8"), "torchvision": Version("0.23")},
}
_LABEL = re.compile(r"(?:cu\d{2,3}|rocm\d+(?:\.\d+)*|cpu|xpu)$")


@dataclass(frozen=True, slots=True)
class ExtraIndex:
    """An index that a project's own files name, never trusted for what the default index has."""

    name: str
    url: str
    """A simple index, or for ``flat`` a page or directory of files (``--find-links``)."""
    labels: tuple[tuple[NormalizedName, str], ...] = ()
    """``(project, local label)`` of requirements such as ``torch==2.1.1+cu118`` that this index may serve."""
    flat: bool = False


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """Which indexes are asked, and how. Times are in seconds.

    Environment: ``ENVDOCTOR_INDEX_URL`` (the default index), ``ENVDOCTOR_INDEX_<NAME>`` (replaces the URL of a
    profile's index), ``ENVDOCTOR_CACHE_DIR``, ``ENVDOCTOR_INDEX_RECORDED`` and ``ENVDOCTOR_INDEX_RECORD``
    (directories: answer from a recording; write one).
    """

    default_url: str | None = None
    """None: what pip would use."""
    bound: tuple[BoundIndex, ...] = ()
    extra: tuple[ExtraIndex, ...] = ()
    offline: bool = False
    cache_dir: Path | None = None
    """None: the user's cache directory."""
    use_cache: bool = True
    exclude_newer: str | datetime | None = None
    """ISO 8601. A date takes in that whole day (UTC)."""
    timeout: float = 20.0
    """Of one request."""
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
    variable = "ENVDOCTOR_INDEX_" + re.sub(r"[^A-Za-z0-9]", "_", name).upper()
    return replacements.get(name) or os.environ.get(variable) or url


def label_of(url: str) -> str | None:
    """Return the local version label that an index's URL ends in (``.../whl/cu118``), if it looks like one."""
    last = url.rstrip("/").rsplit("/", 1)[-1]
    return last if _LABEL.match(last) else None


def cutoff_text(value: str | datetime | None) -> str | None:
    """Return ``YYYY-MM-DDTHH:MM:SS`` (UTC), the first moment that is too new.

    Raises ValueError for a text that is not an ISO 8601 date or time.
    """
    if value is None:
        return None
    if isinstance(value, str):
        text = value.strip()
        if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
            day = datetime.fromisoformat(text).replace(tzinfo=timezone.utc)
            return (day + timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%S")
        value = datetime.fromisoformat(text[:-1] + "+00:00" if text.endswith(("Z", "z")) else text)
    if value.tzinfo is None:
        value = value.replace(tzinfo=timezone.utc)
    # One second on: upload times are compared by whole seconds, and the moment itself is still admitted.
    return (value.astimezone(timezone.utc) + timedelta(seconds=1)).strftime("%Y-%m-%dT%H:%M:%S")


def built_with(label: str | None, project: str, version: Version) -> bool:
    """Return whether a release can exist with a local label: builds of a label end at some release."""
    ended = _ENDED.get(label or "", {}).get(project)
    return ended is None or version < ended
