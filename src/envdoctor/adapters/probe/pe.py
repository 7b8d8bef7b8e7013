"""Headers of Windows' PE files: the DLLs they ask for, and where GPU code lies.

Source: Microsoft, "PE Format". Only headers and the two import tables are read, by seek.
"""

from __future__ import annotations

import struct
from dataclasses import field

from envdoctor.adapters.probe.binary_stream import Stream
from envdoctor.model.dataclass import dataclass

__all__ = ["PE_MAGIC", "read_pe"]

PE_MAGIC = b"MZ"

_MACHINES = {0x14C: "i386", 0x8664: "x86_64", 0xAA64: "arm64", 0x1C4: "armv7l"}
_COFF = struct.Struct("<HHIIIHH")
_SECTION = struct.Struct("<8sIIII16x")
_IMPORT = struct.Struct("<IIIII")
_DELAY = struct.Struct("<IIIIIIII")
_DIRECTORY = struct.Struct("<II")
_EXPORTS, _IMPORTS, _DELAY_IMPORTS = 0, 1, 13
_MAX_DLLS = 4096


@dataclass(slots=True)
class PeHeaders:
    """What the headers of one file say."""

    machine: str
    needed: list[str] = field(default_factory=list)
    delayed: list[str] = field(default_factory=list)
    """DLLs loaded at first use only."""
    name: str | None = None
    """The DLL's own name, by its export table."""
    sections: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Name to offset and size in the file."""
    spans: list[tuple[int, int, int]] = field(default_factory=list)
    """Address, size and offset of each section."""

    def offset(self, address: int) -> int | None:
        """Return where a relative virtual address lies in the file."""
        for start, size, at in self.spans:
            if start <= address < start + size:
                return at + address - start
        return None


def read_pe(stream: Stream) -> PeHeaders:
    """Read the headers. Raises BinaryUnreadable."""
    (at,) = struct.unpack("<I", stream.exactly(0x3C, 4))
    if stream.some(at, 4) != b"PE\0\0":
        raise stream.fault("starts like a DOS program and is no PE file")
    machine, count, _, _, _, optional_size, _ = stream.unpack(_COFF, at + 4)
    headers = PeHeaders(_MACHINES.get(machine, f"machine 0x{machine:x}"))
    optional = stream.exactly(at + 24, optional_size)
    _read_sections(stream, headers, at + 24 + optional_size, count)
    directories, base = _directories(optional)
    _read_imports(stream, headers, directories)
    _read_delayed(stream, headers, directories, base)
    _read_name(stream, headers, directories)
    return headers


def _read_sections(stream: Stream, headers: PeHeaders, at: int, count: int) -> None:
    for fields in _SECTION.iter_unpack(stream.exactly(at, count * _SECTION.size)):
        raw_name, virtual_size, address, raw_size, offset = fields
        name = raw_name.rstrip(b"\0").decode("ascii", "replace")
        headers.sections.setdefault(name, (offset, raw_size))
        headers.spans.append((address, max(virtual_size, raw_size), offset))


def _directories(optional: bytes) -> tuple[list[tuple[int, int]], int]:
    """Return the data directories (address and size) and the image base."""
    wide = optional[:2] == b"\x0b\x02"
    at = 112 if wide else 96
    if len(optional) < at:
        return [], 0
    base = struct.unpack_from("<Q", optional, 24)[0] if wide else struct.unpack_from("<I", optional, 28)[0]
    count = min(struct.unpack_from("<I", optional, at - 4)[0], (len(optional) - at) // _DIRECTORY.size, 16)
    return [_DIRECTORY.unpack_from(optional, at + index * _DIRECTORY.size) for index in range(count)], base


def _place(headers: PeHeaders, directories: list[tuple[int, int]], index: int) -> int | None:
    address = directories[index][0] if index < len(directories) else 0
    return headers.offset(address) if address else None


def _read_imports(stream: Stream, headers: PeHeaders, directories: list[tuple[int, int]]) -> None:
    at = _place(headers, directories, _IMPORTS)
    for _ in range(_MAX_DLLS if at is not None else 0):
        fields = stream.unpack(_IMPORT, at or 0)
        name = headers.offset(fields[3]) if fields[3] else None
        if name is None:
            return
        headers.needed.append(stream.text(name))
        at = (at or 0) + _IMPORT.size


def _read_delayed(stream: Stream, headers: PeHeaders, directories: list[tuple[int, int]], base: int) -> None:
    at = _place(headers, directories, _DELAY_IMPORTS)
    for _ in range(_MAX_DLLS if at is not None else 0):
        attributes, address = stream.unpack(_DELAY, at or 0)[:2]
        if not address:
            return
        # Attribute 1: addresses are relative; old linkers wrote absolute ones.
        name = headers.offset(address if attributes & 1 else address - base)
        if name is None:
            return
        headers.delayed.append(stream.text(name))
        at = (at or 0) + _DELAY.size


def _read_name(stream: Stream, headers: PeHeaders, directories: list[tuple[int, int]]) -> None:
    at = _place(headers, directories, _EXPORTS)
    if at is None:
        return
    (address,) = struct.unpack("<I", stream.exactly(at + 12, 4))
    place = headers.offset(address)
    headers.name = stream.text(place) if place is not None else None
