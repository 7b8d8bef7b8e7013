"""Which GPU architectures the fat binaries of CUDA and the code bundles of ROCm in a library are for.

ROCm compresses its code objects with zstd. What reads them is Python 3.14's own module, its backport or libzstd; where
none of them is there, the architectures stay unknown. Source: the zstd manual (streaming decompression).
"""

from __future__ import annotations

import ctypes
import importlib
import re
import struct
import zlib
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from typing import Any

from envdoctor.adapters.probe.binary_stream import Stream
from envdoctor.model.binary import GpuCode

__all__ = ["CUDA_SECTIONS", "HIP_SECTIONS", "read_fatbins", "read_hip_bundles", "zstd_head"]

_MODULES = ("compression.zstd", "backports.zstd")
_LIBRARIES = ("libzstd.so.1", "libzstd.1.dylib", "/opt/homebrew/lib/libzstd.1.dylib", "libzstd.dll", "zstd.dll")

_Reader = Callable[[bytes, int], bytes | None]


def zstd_head(data: bytes, limit: int) -> bytes | None:
    """Return up to ``limit`` bytes of what the start of a frame unpacks to; None where that cannot be read here."""
    reader = _reader()
    return reader(data, limit) if reader is not None else None


@lru_cache(maxsize=1)
def _reader() -> _Reader | None:
    for name in _MODULES:
        with suppress(ImportError):
            return _by_module(importlib.import_module(name))
    for name in _LIBRARIES:
        with suppress(OSError, AttributeError):
            return _by_library(ctypes.CDLL(name))
    return None


def _by_module(module: Any) -> _Reader:
    def read(data: bytes, limit: int) -> bytes | None:
        try:
            return bytes(module.ZstdDecompressor().decompress(data, max_length=limit))
        except module.ZstdError:
            return None

    return read


class _Buffer(ctypes.Structure):
    """``ZSTD_inBuffer`` and ``ZSTD_outBuffer`` alike: address, size, position."""

    _fields_ = (("address", ctypes.c_void_p), ("size", ctypes.c_size_t), ("position", ctypes.c_size_t))


def _by_library(library: ctypes.CDLL) -> _Reader:
    create, free, step, is_error = (
        getattr(library, name) for name in ("ZSTD_createDCtx", "ZSTD_freeDCtx", "ZSTD_decompressStream", "ZSTD_isError")
    )
    create.restype, create.argtypes = ctypes.c_void_p, ()
    free.restype, free.argtypes = ctypes.c_size_t, (ctypes.c_void_p,)
    step.restype = ctypes.c_size_t
    step.argtypes = (ctypes.c_void_p, ctypes.POINTER(_Buffer), ctypes.POINTER(_Buffer))
    is_error.restype, is_error.argtypes = ctypes.c_uint, (ctypes.c_size_t,)

    def read(data: bytes, limit: int) -> bytes | None:
        source, target = ctypes.create_string_buffer(data, len(data)), ctypes.create_string_buffer(limit)
        given = _Buffer(ctypes.addressof(source), len(data), 0)
        taken = _Buffer(ctypes.addressof(target), limit, 0)
        context = create()
        if not context:
            return None
        try:
            while given.position < given.size and taken.position < taken.size:
                before = given.position, taken.position
                left = step(context, ctypes.byref(taken), ctypes.byref(given))
                if is_error(left):
                    return None
                if left == 0 or before == (given.position, taken.position):
                    break
        finally:
            free(context)
        return target.raw[: taken.position]

    return read


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


CUDA_SECTIONS = (".nv_fatbin", "__nv_relfatbin", ".nv_fatb", "__nv_rel")
"""ELF's two (whole programs; relocatable device code) and how PE's eight characters cut them. What stands in
``.nvFatBinSegment`` are pointers to these."""

_MAGIC = 0xBA55ED50
_HEADER = struct.Struct("<IHHQ")
_ENTRY = struct.Struct("<HHIQIIHHIIIQ")
_PTX, _ELF = 1, 2
_ARCHITECTURE_SPECIFIC, _FAMILY_SPECIFIC = 0x100000, 0x200000
_MAX_CONTAINERS = 1_000_000
_MAX_ENTRIES = 4096
"""In one container; a container holds one per architecture."""
_SEARCH = 1 << 16


def read_fatbins(stream: Stream, sections: list[tuple[int, int]]) -> GpuCode:
    """Walk the sections, each given as offset and size. Never raises: what cannot be read makes it incomplete."""
    sass: set[str] = set()
    ptx: set[str] = set()
    whole = [_containers(stream, offset, min(offset + size, stream.size), sass, ptx) for offset, size in sections]
    fits = all(offset + size <= stream.size for offset, size in sections)
    return GpuCode(_sorted(sass), _sorted(ptx), (), fits and all(whole))


def _containers(stream: Stream, at: int, end: int, sass: set[str], ptx: set[str]) -> bool:
    """Add what the fat binaries between two places hold; return whether all of them could be read."""
    complete = True
    for _ in range(_MAX_CONTAINERS):
        if at + _HEADER.size > end:
            return complete
        magic, _version, header_size, size = _HEADER.unpack(stream.exactly(at, _HEADER.size))
        if magic != _MAGIC:
            # What lies between fat binaries is padding; anything else is a part that we could not read.
            between = stream.some(at, min(_SEARCH, end - at))
            found = between.find(struct.pack("<I", _MAGIC))
            complete = complete and not between[: found if found >= 0 else None].strip(b"\0")
            if found < 0:
                return complete
            at += found
            continue
        if header_size < _HEADER.size:
            return False
        last = at + header_size + size
        complete = _entries(stream, at + header_size, min(last, end), sass, ptx) and last <= end and complete
        at = (last + 7) // 8 * 8
    return False


def _entries(stream: Stream, at: int, end: int, sass: set[str], ptx: set[str]) -> bool:
    """Add what the entries say; return whether all of them could be read."""
    for _ in range(_MAX_ENTRIES):
        if at + _ENTRY.size > end:
            return end - at < 8
        fields = _ENTRY.unpack(stream.exactly(at, _ENTRY.size))
        kind, header_size, size, architecture, flags = fields[0], fields[2], fields[3], fields[8], fields[11]
        if header_size < 48 or not 10 <= architecture <= 999:
            return False
        suffix = "a" if flags & _ARCHITECTURE_SPECIFIC else "f" if flags & _FAMILY_SPECIFIC else ""
        if kind == _ELF:
            sass.add(f"sm_{architecture}{suffix}")
        elif kind == _PTX:
            ptx.add(f"compute_{architecture}{suffix}")
        at += header_size + size
    return False


def _sorted(names: set[str]) -> tuple[str, ...]:
    return tuple(sorted(names, key=_key))


def _key(name: str) -> tuple[int, str]:
    return int("".join(character for character in name if character.isdigit())), name
