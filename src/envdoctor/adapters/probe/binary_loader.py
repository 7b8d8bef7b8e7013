"""What the dynamic loader of this machine finds by name.

Sources: ld.so(8), ldconfig(8); glibc's ``dl-cache.h`` for the layout of ``/etc/ld.so.cache``.
"""

from __future__ import annotations

import os
import platform
import re
import struct
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

__all__ = ["loader_gap", "loader_libraries", "parse_ld_cache"]

_CACHE = "/etc/ld.so.cache"
_MAGIC = b"glibc-ld.so.cache1.1"
_HEADER = struct.Struct("<II20x")
_ENTRY = struct.Struct("<iIIIQ")
_FOLDERS = ("/lib", "/usr/lib", "/lib64", "/usr/lib64", "/usr/local/lib", "/usr/lib/wsl/lib")
_SHARED = re.compile(r"\.so(\.\d+)*$")
_CACHE_LIMIT = 16 << 20
_MACHINE_BITS = 0xFF00
_OF_MACHINE = {"x86_64": 0x0300, "aarch64": 0x0A00}
"""What those bits of an entry say for a library of 64 bits."""


def parse_ld_cache(data: bytes, machine: str = "") -> frozenset[str]:
    """Return the library names of ``/etc/ld.so.cache``, either of its two layouts; empty where it is neither.

    ``machine``: those for it alone, where its mark is known. A system may hold libraries for several.
    """
    start = data.find(_MAGIC)
    if start < 0 or len(data) < start + len(_MAGIC) + _HEADER.size:
        return frozenset()
    count, _ = _HEADER.unpack_from(data, start + len(_MAGIC))
    at = start + len(_MAGIC) + _HEADER.size
    names: set[str] = set()
    wanted = _OF_MACHINE.get(machine)
    for _ in range(min(count, (len(data) - at) // _ENTRY.size)):
        flags, key = _ENTRY.unpack_from(data, at)[:2]
        if wanted is None or flags & _MACHINE_BITS == wanted:
            names.add(data[start + key : data.find(b"\0", start + key)].decode("utf-8", "replace"))
        at += _ENTRY.size
    return frozenset(names)


def loader_libraries(environ: Mapping[str, str] | None = None) -> frozenset[str] | None:
    """Return the names of the libraries that the loader finds: its cache, its folders and LD_LIBRARY_PATH.

    None on a system where libraries are not found by such names (Windows, macOS). A musl system has no cache; there
    the folders tell.
    """
    if not sys.platform.startswith("linux"):
        return None
    variables = os.environ if environ is None else environ
    names: set[str] = set()
    with suppress(OSError), Path(_CACHE).open("rb") as file:
        # The kernel tells of itself: a Python of 32 bits on it is of another machine.
        names |= parse_ld_cache(file.read(_CACHE_LIMIT), platform.machine() if sys.maxsize > 1 << 32 else "")
    folders = [item for item in variables.get("LD_LIBRARY_PATH", "").split(":") if item]
    for folder in (*folders, *_FOLDERS):
        with suppress(OSError):
            names.update(entry for entry in os.listdir(folder) if _SHARED.search(entry))  # noqa: PTH208 - names alone
    return frozenset(names)


def loader_gap(cache: str = _CACHE) -> str | None:
    """Return why ``loader_libraries`` may miss what the loader finds; None where its list is whole.

    glibc keeps a cache of more folders than are looked through here; musl has none.
    """
    try:
        with Path(cache).open("rb") as file:
            whole = bool(parse_ld_cache(file.read(_CACHE_LIMIT)))
    except FileNotFoundError:
        with suppress(OSError, ValueError, AttributeError):
            if os.confstr("CS_GNU_LIBC_VERSION"):
                return f"{cache} is not there"
        return None
    except OSError as error:
        return f"{cache}: {error.strerror or error}"
    return None if whole else f"{cache} is not a loader's cache"
