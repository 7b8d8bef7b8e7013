"""Whole files of an index, for a treatment that installs them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import BinaryIO

from envdoctor.adapters.index.archive_bytes import local_path
from envdoctor.adapters.index.credentials import Credentials
from envdoctor.adapters.index.pip_settings import read_pip_settings
from envdoctor.adapters.index.transport import Transport, TransportError
from envdoctor.ports import DownloadFailed

__all__ = ["IndexFetch"]

_BLOCK = 8 * 1024 * 1024


class IndexFetch:
    """Brings files over the same connections, proxies, certificates and credentials as the index."""

    def __init__(self, index_urls: Sequence[str]) -> None:
        self._urls = index_urls
        self._transport: Transport | None = None

    def __call__(self, url: str, size: int | None, into: BinaryIO, advance: Callable[[int], None]) -> None:
        """Write all of a file, block by block. Raises DownloadFailed."""
        local = local_path(url)
        if local is not None:
            try:
                data = local.read_bytes()
            except OSError as error:
                raise DownloadFailed(f"`{local}` cannot be read: {error.strerror}") from None
            into.write(data)
            advance(len(data))
            return
        done, total = 0, size
        while total is None or done < total:
            data, total, whole = self._block(url, done, total)
            into.write(data)
            advance(len(data))
            done += len(data)
            if whole:
                return

    def close(self) -> None:
        """Close the connections."""
        if self._transport is not None:
            self._transport.close()

    def _block(self, url: str, start: int, total: int | None) -> tuple[bytes, int, bool]:
        """Return bytes from ``start`` on, the size of the file, and whether these were all of its rest.

        Asked once: the transport asks again where that may help.
        """
        stop = start + _BLOCK if total is None else min(start + _BLOCK, total)
        headers = {"Range": f"bytes={start}-{stop - 1}", "Accept-Encoding": "identity"}
        try:
            reply = self._open().get(url, headers, limit=1 << 40)
        except TransportError as error:
            raise DownloadFailed(f"`{_last(url)}` could not be fetched: {error}") from None
        if reply.status == 206 and reply.content:
            size = reply.headers.get("content-range", "").rpartition("/")[2]
            return (
                reply.content,
                int(size[:300]) if size.isascii() and size.isdigit() else total or start + len(reply.content),
                False,
            )
        if reply.status == 200:
            # This server, or the one behind it that answered this time, does no ranges.
            return reply.content[start:], len(reply.content), True
        raise DownloadFailed(f"`{_last(url)}` could not be fetched: its server answered {reply.status}")

    def _open(self) -> Transport:
        if self._transport is None:
            credentials = Credentials()
            for url in self._urls:
                credentials.take(url)
            self._transport = Transport(read_pip_settings(None), credentials)
        return self._transport


def _last(url: str) -> str:
    return url.partition("#")[0].rstrip("/").rpartition("/")[2] or url
