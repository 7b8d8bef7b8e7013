"""Which servers have sidecars: a listing need not say it, and one that has none is not asked for each file."""

from __future__ import annotations

import threading

from envdoctor.adapters.index.cache import Cache
from envdoctor.adapters.index.credentials import origin_of
from envdoctor.adapters.index.transport import Transport
from envdoctor.model.candidate import DistributionFile

__all__ = ["METADATA_LIMIT", "Sidecars"]

METADATA_LIMIT = 16 * 1024 * 1024
"""Bytes of one file's metadata."""
_NONE_FOR_S = 86400.0
"""Seconds for which a server that had no sidecar is not asked for another."""


class Sidecars:
    """What is known of the servers by what they answered, in this run and the last ones. Thread-safe."""

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
                known = self._cache.mark(f"no-sidecars {origin}", _NONE_FOR_S) is not None
                self._states[origin] = "none" if known else "asked"
                return not known
            return state == "some"

    def fetch(self, file: DistributionFile, *, patient: bool) -> bytes | None:
        """Return a file's sidecar, None where it has none. Raises TransportError."""
        reply = self._transport.get(file.url + ".metadata", None, METADATA_LIMIT, patient)
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
