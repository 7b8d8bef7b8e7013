"""CUDA fat binaries: which architectures a library carries kernels for, from their headers alone.

A section holds fat binaries one after another, each aligned to 8 bytes: a header (magic 0xBA55ED50, version, size of
the header, size of what follows) and entries (kind, size of the entry's header, size of its payload, architecture,
flags). Payloads, compressed or not, are passed over by seek. The layout was checked against what nvcc 13.0 writes.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from envdoctor.model.binary import GpuCode

if TYPE_CHECKING:
    from envdoctor.adapters.probe.binary_stream import Stream

__all__ = ["CUDA_SECTIONS", "read_fatbins"]

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
