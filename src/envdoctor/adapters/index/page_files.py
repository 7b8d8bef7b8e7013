"""Large pages of the cache, each in a file of its own: a database would write each of them twice."""

from __future__ import annotations

import hashlib
import os
import threading
import time
from contextlib import suppress
from pathlib import Path

__all__ = ["LARGE", "PageFiles"]

LARGE = 16 * 1024
"""Bytes of a page from which on it has a file."""


class PageFiles:
    """Files by a page's key and the digest of the answer that it was read from: what a name stands for never changes.

    A file is complete from the moment when it has its name. Its content tells by itself whether it is damaged.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, key: str, digest: bytes) -> bytes | None:
        """Return a page, None where it is not there or cannot be read."""
        try:
            return self._place(key, digest).read_bytes()
        except OSError:
            return None

    def write(self, key: str, digest: bytes, body: bytes) -> None:
        """Keep a page. Raises OSError."""
        place = self._place(key, digest)
        self._folder.mkdir(exist_ok=True)
        part = place.with_name(f"{place.name}.{os.getpid()}.{threading.get_ident()}")
        try:
            part.write_bytes(body)
            part.replace(place)
        except OSError:
            with suppress(OSError):
                part.unlink()
            raise

    def remove(self, key: str, digest: bytes) -> None:
        """Remove a page that another has taken the place of."""
        with suppress(OSError):
            self._place(key, digest).unlink()

    def prune(self, age: float) -> None:
        """Remove what was written more than ``age`` seconds ago; what is still wanted is fetched anew."""
        limit = time.time() - age
        with suppress(OSError):
            for place in self._folder.iterdir():
                if place.stat().st_mtime < limit:
                    place.unlink()

    def _place(self, key: str, digest: bytes) -> Path:
        return self._folder / hashlib.sha256(f"{key} {digest.hex()}".encode()).hexdigest()
