"""Whole files of an index, for a treatment that installs them, and those that a configuration names by digest."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from envdoctor.adapters.index.archive_bytes import local_path
from envdoctor.adapters.index.credentials import Credentials
from envdoctor.adapters.index.pip_settings import read_pip_settings
from envdoctor.adapters.index.transport import Transport, TransportError
from envdoctor.adapters.read_files import pieces_of
from envdoctor.adapters.user_folders import cache_folder
from envdoctor.ports import DownloadFailed, UsageError

__all__ = ["IndexFetch", "named_file"]

_ADDRESS = re.compile(
    r"(?P<url>(?:https://[^#\s/]+/|http://(?:localhost|127\.0\.0\.1)(?::\d{1,5})?/)"
    r"(?:[^#\s]*/)?(?P<name>[\w.-]{1,80}\.toml))"
    r"#sha256=(?P<digest>[0-9a-f]{64})"
)
_LIMIT = 4 * 1024 * 1024
_PATIENCE = 20.0


def named_file(address: str, who: str, *, offline: bool = False) -> Path:
    """Return the file behind ``https://.../name.toml#sha256=HEX``, from the cache where it was fetched before.

    ``who`` names it in messages. Raises UsageError, also where the content is another than the digest says.
    """
    found = _ADDRESS.fullmatch(address)
    if found is None:
        raise UsageError(f"{who}: `{address}` is not of the form https://HOST/PATH/NAME.toml#sha256=64-HEX-DIGITS")
    kept = Path(cache_folder(), "named-files", found["digest"], found["name"])
    if _read(kept, found["digest"]):
        return kept
    if offline:
        raise UsageError(f"{who}: `{found['url']}` was never fetched, and --offline forbids it")
    content = _fetched(found["url"], who)
    if hashlib.sha256(content).hexdigest() != found["digest"]:
        raise UsageError(f"{who}: what `{found['url']}` gives is not what its sha256 says; it is not used")
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        handle, partial = tempfile.mkstemp(dir=kept.parent)
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        Path(partial).replace(kept)
    except OSError as error:
        raise UsageError(f"{who}: `{found['url']}` cannot be kept in the cache: {error.strerror or error}") from error
    return kept


def _read(path: Path, digest: str) -> bool:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest() == digest
    except OSError:
        return False


def _fetched(url: str, who: str) -> bytes:
    pip = read_pip_settings(None)
    transport = Transport(pip, Credentials(keyring=pip.keyring), _PATIENCE, 1, _PATIENCE)
    try:
        reply = transport.get(url, limit=_LIMIT)
    except TransportError as error:
        raise UsageError(f"{who}: `{url}` could not be fetched: {error}") from error
    finally:
        transport.close()
    if reply.status != 200 or reply.cut:
        raise UsageError(f"{who}: `{url}` gives {'more than 4 MiB' if reply.cut else f'status {reply.status}'}")
    return reply.content


_BLOCK = 8 * 1024 * 1024
_SMALL = 16 * 1024
"""Bytes below which a part is smaller than any server that means well gives, where more was asked for."""
_SMALL_ONES = 64
_SPARE = 64 * 1024 * 1024
"""Bytes by which an index may be mistaken about a file; whether it is the right one, its hash tells."""


def _blocks_of(path: Path) -> Iterator[bytes]:
    try:
        yield from pieces_of(path)
    except OSError as error:
        raise DownloadFailed(f"`{path}` cannot be read: {error.strerror}") from None


class IndexFetch:
    """Brings files over the same connections, proxies, certificates and credentials as the index."""

    def __init__(self, index_urls: Sequence[str]) -> None:
        self._urls = index_urls
        self._transport: Transport | None = None

    def __call__(self, url: str, size: int | None, into: BinaryIO, advance: Callable[[int], None]) -> None:
        """Write all of a file, block by block. Raises DownloadFailed."""
        local = local_path(url)
        if local is not None:
            for data in _blocks_of(local):
                into.write(data)
                advance(len(data))
            return
        done, total, small = 0, size, 0
        while total is None or done < total:
            data, said, whole = self._block(url, done, total, _most(size))
            into.write(data)
            advance(len(data))
            if whole:
                return
            small += len(data) < min(_SMALL, _BLOCK) and done + len(data) < said
            if said > _most(size) or (done and said != total) or small > _SMALL_ONES:
                raise DownloadFailed(f"`{_last(url)}` could not be fetched: {_endless(said, size, small)}")
            done, total = done + len(data), said

    def close(self) -> None:
        """Close the connections."""
        if self._transport is not None:
            self._transport.close()

    def _block(self, url: str, start: int, total: int | None, most: int) -> tuple[bytes, int, bool]:
        """Return bytes from ``start`` on, the size of the file, and whether these were all of its rest.

        Asked once: the transport asks again where that may help. An answer ends at ``most`` bytes.
        """
        stop = start + _BLOCK if total is None else min(start + _BLOCK, total)
        headers = {"Range": f"bytes={start}-{stop - 1}", "Accept-Encoding": "identity"}
        try:
            reply = self._open().get(url, headers, limit=most)
        except TransportError as error:
            raise DownloadFailed(f"`{_last(url)}` could not be fetched: {error}") from None
        if reply.cut:
            raise DownloadFailed(f"`{_last(url)}` could not be fetched: it is larger than its index says")
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


def _most(size: int | None) -> int:
    """Return the bytes at which a file ends in any case: a server that goes on would fill the disk."""
    return 1 << 40 if size is None else size + max(size, _SPARE)


def _endless(said: int, size: int | None, small: int) -> str:
    if said > _most(size):
        return "it is larger than its index says"
    if small > _SMALL_ONES:
        return f"its server gives it in {small} and more parts below {_SMALL >> 10} KiB"
    return "its server says another size of it meanwhile"


def _last(url: str) -> str:
    return url.partition("#")[0].rstrip("/").rpartition("/")[2] or url
