"""What the servers of files have shown: which of them have sidecars, and of which projects they give nothing.

A proxy may block all files of a project, or a mirror may have none of them: after a number of them, each told as an
error, the project's files are left alone.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

from packaging.utils import NormalizedName

from envdoctor.adapters.index.cache import Cache
from envdoctor.adapters.index.credentials import origin_of
from envdoctor.adapters.index.transport import Transport
from envdoctor.model.candidate import DistributionFile, unknown_file
from envdoctor.model.index_url import bare_url
from envdoctor.model.unknown import UnknownKind
from envdoctor.ports import IndexUnavailable, MetadataUnavailable

__all__ = ["METADATA_LIMIT", "Refusals", "Sidecars", "unreached", "unread"]

METADATA_LIMIT = 16 * 1024 * 1024
"""Bytes of one file's metadata."""
_NO_SIDECARS_FOR_S = 86400.0
"""Seconds for which a server that had no sidecar is not asked for another."""

_MOST = 20
"""Requests for files of one project that bring none, in turn, after which no more of them are asked for."""


class Sidecars:
    """Which servers have sidecars, by what they answered in this run and the last ones. Thread-safe.

    A listing need not say it, and a server that has none is not asked for each file.
    """

    def __init__(self, transport: Transport, cache: Cache) -> None:
        self._transport = transport
        self._cache = cache
        self._lock = threading.Lock()
        self._states: dict[str, str] = {}

    def worth_asking(self, file: DistributionFile) -> bool:
        """Return whether a file may have a sidecar: its listing says so, or its server has not shown to have none."""
        if file.sidecar:
            return True
        origin = origin_of(file.url)
        with self._lock:
            state = self._states.get(origin)
            if state is None:
                known = self._cache.mark(f"no-sidecars {origin}", _NO_SIDECARS_FOR_S) is not None
                self._states[origin] = "none" if known else "asked"
                return not known
            return state == "some"

    def fetch(self, file: DistributionFile, *, patient: bool) -> bytes | None:
        """Return a file's sidecar, None where it has none. Raises TransportError."""
        reply = self._transport.get(file.url.partition("#")[0] + ".metadata", None, METADATA_LIMIT, patient)
        found = reply.status == 200 and not reply.cut
        if not file.sidecar:
            self._remember(file, found=found)
        return reply.content if found else None

    def forget(self, file: DistributionFile) -> None:
        """Take back what was said of a file's server: what it gave is no sidecar."""
        self._remember(file, found=False)

    def _remember(self, file: DistributionFile, *, found: bool) -> None:
        origin = origin_of(file.url)
        with self._lock:
            self._states[origin] = "some" if found else "none"
        if not found:
            self._cache.put_mark(f"no-sidecars {origin}", "")


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
