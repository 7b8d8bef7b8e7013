"""Errors for files that cannot be had or read, and a count of them, after which a project's files are left alone.

A proxy may block all files of a project, or a mirror may have none of them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

from packaging.utils import NormalizedName

from envdoctor.model.candidate import DistributionFile, unknown_file
from envdoctor.model.index_url import bare_url
from envdoctor.model.unknown import UnknownKind
from envdoctor.ports import IndexUnavailable, MetadataUnavailable

__all__ = ["Refusals", "unreached", "unread"]

_MOST = 20
"""Requests for files of one project that bring none, in turn, after which no more of them are asked for."""


class Refusals:
    """Counts, by project, the files that could not be had in one run. Thread-safe."""

    def __init__(self) -> None:
        self.note: Callable[[str], None] = lambda _text: None
        self._lock = threading.Lock()
        self._counts: dict[NormalizedName, int] = {}
        self._reasons: dict[NormalizedName, str] = {}

    def reason(self, file: DistributionFile) -> str | None:
        """Return why a file is not asked for, None where it may be."""
        with self._lock:
            return self._reasons.get(file.project)

    def count(self, file: DistributionFile, cause: str, requests: int = 1) -> None:
        """Take a refusal; ``requests``: as many as it took."""
        with self._lock:
            found = self._counts[file.project] = self._counts.get(file.project, 0) + requests
            if found < _MOST or file.project in self._reasons:
                return
            self._reasons[file.project] = (
                f"{cause}, as for those before it: no more files of `{file.project}` are asked for"
            )
        self.note(f"of `{file.project}` file after file could not be had ({cause}); no more of them are asked for")

    def forget(self, file: DistributionFile) -> None:
        """Begin to count anew: one of the project's files came."""
        with self._lock:
            self._counts.pop(file.project, None)


def unread(file: DistributionFile, cause: str, kind: UnknownKind = UnknownKind.BAD_METADATA) -> MetadataUnavailable:
    """Return what to raise for a file that says nothing that can be read."""
    return MetadataUnavailable(unknown_file(kind, file, cause))


def unreached(file: DistributionFile, cause: str, kind: UnknownKind = UnknownKind.UNREACHABLE) -> IndexUnavailable:
    """Return what to raise for a file whose server gives it not, or not now."""
    return IndexUnavailable(replace(unknown_file(kind, file, cause), url=bare_url(file.url)))
