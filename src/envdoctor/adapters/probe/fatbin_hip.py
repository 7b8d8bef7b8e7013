"""HIP fat binaries: which AMD architectures a library carries kernels for.

Sources: Clang's "Clang Offload Bundler": bundles (``__CLANG_OFFLOAD_BUNDLE__``, count, then offset, size and id of
each code object) and compressed bundles (``CCOB``: version, method, total and uncompressed size, hash). A bundle's ids
stand at its start, so that of a compressed one only the first bytes are unpacked.
"""

from __future__ import annotations

import re
import struct
import zlib
from typing import TYPE_CHECKING

from envdoctor.adapters.probe.fatbin_zstd import zstd_head
from envdoctor.model.binary import GpuCode

if TYPE_CHECKING:
    from envdoctor.adapters.probe.binary_stream import Stream

__all__ = ["HIP_SECTIONS", "read_hip_bundles"]

HIP_SECTIONS = (".hip_fatbin", ".hip_fat")
"""ELF's, and how PE's eight characters cut it."""

_BUNDLE = b"__CLANG_OFFLOAD_BUNDLE__"
_COMPRESSED = b"CCOB"
_COUNT = struct.Struct("<Q")
_OBJECT = struct.Struct("<QQQ")
_GFX = re.compile(r"-(gfx[0-9a-f]+|gfx[0-9]+(?:-[0-9])?-generic)(?::|$)")
_MAX_BUNDLES = 100_000
_HEAD = 1 << 16
_PAGE = 4096
_ZLIB, _ZSTD = 0, 1
_PACKED_HEAD = 256 * 1024
"""Bytes of a compressed bundle that are read: a block of zstd and more."""


def read_hip_bundles(stream: Stream, sections: list[tuple[int, int]]) -> GpuCode:
    """Walk the sections, each given as offset and size. Never raises: what cannot be read makes it incomplete."""
    found: set[str] = set()
    whole = [_bundles(stream, offset, min(offset + size, stream.size), found) for offset, size in sections]
    return GpuCode((), (), tuple(sorted(found)), all(whole))


def _bundles(stream: Stream, at: int, end: int, found: set[str]) -> bool:
    complete = True
    for _ in range(_MAX_BUNDLES):
        if at >= end:
            return complete
        head = stream.some(at, min(_HEAD, end - at))
        if head.startswith(_BUNDLE):
            length = _plain(head, found)
        elif head.startswith(_COMPRESSED):
            length = _unpack(head, stream, at, found)
        else:
            skip = min((place for mark in (_BUNDLE, _COMPRESSED) if (place := head.find(mark)) >= 0), default=-1)
            complete = complete and not head[: skip if skip >= 0 else None].strip(b"\0")
            if skip < 0:
                return complete
            at += skip
            continue
        if length is None:
            return False
        # Bundles begin on pages; compressed ones may follow each other closely.
        at += length if stream.some(at + length, 4) == _COMPRESSED else -(-length // _PAGE) * _PAGE
    return False


def _plain(head: bytes, found: set[str]) -> int | None:
    """Add the architectures of one bundle; return its length, None where it contradicts itself."""
    at = len(_BUNDLE)
    try:
        (count,) = _COUNT.unpack_from(head, at)
        at += _COUNT.size
        last = at
        for _ in range(min(count, 4096)):
            offset, size, length = _OBJECT.unpack_from(head, at)
            at += _OBJECT.size
            name = head[at : at + length].decode("ascii", "replace")
            if len(name) != length:
                return None
            at += length
            last = max(last, at, offset + size)
            if match := _GFX.search(name):
                found.add(match[1])
    except struct.error:
        return None
    return last


def _unpacked(method: int, data: bytes) -> bytes | None:
    """Return the start of what was packed, None where it cannot be read here."""
    if method == _ZSTD:
        return zstd_head(data, _HEAD)
    try:
        return zlib.decompressobj().decompress(data, _HEAD) if method == _ZLIB else None
    except zlib.error:
        return None


def _unpack(head: bytes, stream: Stream, at: int, found: set[str]) -> int | None:
    try:
        version, method = struct.unpack_from("<HH", head, 4)
        if version == 1:
            return None  # its header does not say where it ends
        form = struct.Struct("<IIQ" if version == 2 else "<QQQ")
        total = int(form.unpack_from(head, 8)[0])
    except struct.error:
        return None
    if total <= 8 + form.size:
        return None
    plain = _unpacked(method, stream.some(at + 8 + form.size, min(total - 8 - form.size, _PACKED_HEAD)))
    if plain is None:
        return None
    if not plain.startswith(_BUNDLE) or _plain(plain, found) is None:
        return None
    return total
