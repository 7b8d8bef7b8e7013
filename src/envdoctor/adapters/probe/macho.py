"""Headers of Mach-O files, thin and universal: the libraries they ask for and the macOS they are for.

Source: Apple's ``mach-o/loader.h`` and ``mach-o/fat.h``. Only headers and load commands are read.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import field

from envdoctor.adapters.probe.binary_stream import Stream, section_text
from envdoctor.model.dataclass import dataclass

__all__ = ["MACHO_MAGICS", "read_macho"]

_FAT = {b"\xca\xfe\xba\xbe": struct.Struct(">IIIII"), b"\xca\xfe\xba\xbf": struct.Struct(">IIQQII")}
_THIN = {
    b"\xce\xfa\xed\xfe": ("<", False),
    b"\xcf\xfa\xed\xfe": ("<", True),
    b"\xfe\xed\xfa\xce": (">", False),
    b"\xfe\xed\xfa\xcf": (">", True),
}
MACHO_MAGICS = (*_FAT, *_THIN)

_CPUS = {7: "i386", 0x01000007: "x86_64", 12: "arm", 0x0100000C: "arm64", 18: "ppc", 0x01000012: "ppc64"}
_LOAD_DYLIB, _ID_DYLIB, _LOAD_WEAK, _REEXPORT, _LAZY = 0xC, 0xD, 0x80000018, 0x8000001F, 0x20
_UPWARD, _RPATH, _VERSION_MIN_MACOS, _BUILD_VERSION = 0x80000023, 0x8000001C, 0x24, 0x32
_PLATFORM_MACOS = 1
_SEGMENT_64, _SEGMENT_SIZE = 0x19, 72
_MAX_COMMANDS_SIZE = 1 << 20
_MAX_SLICES = 16


@dataclass(slots=True)
class MachoHeaders:
    """What the headers of one file say; of a universal file, its slices together."""

    machines: list[str] = field(default_factory=list)
    needed: list[str] = field(default_factory=list)
    optional: list[str] = field(default_factory=list)
    name: str | None = None
    search: list[str] = field(default_factory=list)
    macos: tuple[int, int] | None = None
    sections: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Name to offset and size in the file, of the first slice."""


def read_macho(stream: Stream) -> MachoHeaders:
    """Read the headers. Raises BinaryUnreadable."""
    headers = MachoHeaders()
    magic = stream.exactly(0, 4)
    if magic not in _FAT:
        _read_thin(stream, headers)
        return headers
    form = _FAT[magic]
    (count,) = struct.unpack(">I", stream.exactly(4, 4))
    # A Java class file starts with the same four bytes; its "count" is a version above 40.
    if not 0 < count <= _MAX_SLICES:
        raise stream.fault("starts like a universal Mach-O file and is none")
    for index in range(count):
        offset = stream.unpack(form, 8 + index * form.size)[2]
        _read_thin(stream.at(offset), headers)
    return headers


def _read_thin(stream: Stream, headers: MachoHeaders) -> None:
    known = _THIN.get(stream.exactly(0, 4))
    if known is None:
        raise stream.fault("has a slice that is no Mach-O file")
    order, wide = known
    cpu, _subtype, _kind, count, size = struct.unpack(order + "IIIII", stream.exactly(4, 20))
    if size > _MAX_COMMANDS_SIZE:
        raise stream.fault("has load commands of more than 1 MiB")
    headers.machines.append(_CPUS.get(cpu, f"cpu 0x{cpu:x}"))
    data = stream.exactly(32 if wide else 28, size)
    sections = dict(_sections(data, count, order)) if wide else {}
    for name, (offset, length) in sections.items():
        headers.sections.setdefault(name, (stream.start + offset, length))
    at = 0
    for _ in range(count):
        if at + 8 > len(data):
            raise stream.fault("has load commands that run past their end")
        command, length = struct.unpack_from(order + "II", data, at)
        if length < 8 or at + length > len(data):
            raise stream.fault("has a load command of no possible size")
        _read_command(command, data[at : at + length], order, headers)
        at += length


def _sections(data: bytes, count: int, order: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield the sections of all 64-bit segments."""
    form = struct.Struct(order + "16s16sQQI28x")
    at = 0
    for _ in range(count):
        if at + 8 > len(data):
            return
        command, length = struct.unpack_from(order + "II", data, at)
        if command == _SEGMENT_64:
            for place in range(at + _SEGMENT_SIZE, min(at + length, len(data)) - form.size + 1, form.size):
                name, _segment, _address, size, offset = form.unpack_from(data, place)
                yield name.rstrip(b"\0").decode("ascii", "replace"), (offset, size)
        if length < 8:
            return
        at += length


def _read_command(command: int, data: bytes, order: str, headers: MachoHeaders) -> None:
    if command in (_LOAD_DYLIB, _REEXPORT, _UPWARD):
        _add(headers.needed, _string(data, order))
    elif command in (_LOAD_WEAK, _LAZY):
        _add(headers.optional, _string(data, order))
    elif command == _ID_DYLIB:
        headers.name = _string(data, order)
    elif command == _RPATH:
        _add(headers.search, _string(data, order))
    elif command == _VERSION_MIN_MACOS and len(data) >= 12:
        _raise_level(headers, struct.unpack_from(order + "I", data, 8)[0])
    elif command == _BUILD_VERSION and len(data) >= 16:
        platform, level = struct.unpack_from(order + "II", data, 8)
        if platform == _PLATFORM_MACOS:
            _raise_level(headers, level)


def _string(data: bytes, order: str) -> str:
    offset = struct.unpack_from(order + "I", data, 8)[0] if len(data) >= 12 else len(data)
    return section_text(data, offset) if offset < len(data) else ""


def _add(names: list[str], name: str) -> None:
    if name and name not in names:
        names.append(name)


def _raise_level(headers: MachoHeaders, packed: int) -> None:
    """Keep the highest level of all slices; it is packed as XXXX.YY.ZZ."""
    level = (packed >> 16, packed >> 8 & 0xFF)
    headers.macos = max(headers.macos, level) if headers.macos else level
