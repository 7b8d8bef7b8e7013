"""The first bytes of a zstd frame, by whatever can read one: Python 3.14's own module, its backport, or libzstd.

ROCm compresses its code objects with zstd. Where nothing on the host can read it, the architectures stay unknown.
Source: the zstd manual (streaming decompression).
"""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from typing import Any

__all__ = ["zstd_head"]

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
