"""Headers of ELF files: what a library asks of the loader, and where its GPU code lies.

Sources: the System V ABI (gABI, chapters 4 and 5); the Linux Standard Base on symbol versions; the psABI machine
numbers. Only headers, the dynamic section and version needs are read, by seek: about 15 reads a file of any size.
"""

from __future__ import annotations

import re
import struct
from dataclasses import field

from envdoctor.adapters.probe.binary_stream import Stream, section_text
from envdoctor.model.dataclass import dataclass

__all__ = ["ELF_MAGIC", "read_elf"]

ELF_MAGIC = b"\x7fELF"

_MACHINES = {3: "i386", 40: "armv7l", 62: "x86_64", 183: "aarch64", 243: "riscv64", 21: "ppc64le", 22: "s390x"}
_PT_LOAD, _PT_DYNAMIC = 1, 2
_DT_NEEDED, _DT_STRTAB, _DT_SONAME, _DT_RPATH, _DT_RUNPATH = 1, 5, 14, 15, 29
_DT_VERNEED, _DT_VERNEEDNUM = 0x6FFFFFFE, 0x6FFFFFFF
_GLIBC = re.compile(r"GLIBC_(\d+)\.(\d+)")
_MAX_ENTRIES = 4096


@dataclass(slots=True)
class ElfHeaders:
    """What the headers of one file say."""

    machine: str
    needed: list[str] = field(default_factory=list)
    soname: str | None = None
    search: list[str] = field(default_factory=list)
    versions: dict[str, list[str]] = field(default_factory=dict)
    """Symbol versions needed, by library."""
    sections: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Name to offset and size; sections without bytes in the file are left out."""

    @property
    def glibc(self) -> tuple[int, int] | None:
        """The highest glibc symbol version needed."""
        found = (_GLIBC.match(text) for texts in self.versions.values() for text in texts)
        return max(((int(match[1]), int(match[2])) for match in found if match), default=None)


@dataclass(frozen=True, slots=True)
class _Forms:
    header: struct.Struct
    section: struct.Struct
    segment: struct.Struct
    dynamic: struct.Struct
    verneed: struct.Struct
    vernaux: struct.Struct
    wide: bool


def _forms(ident: bytes, stream: Stream) -> _Forms:
    order = {1: "<", 2: ">"}.get(ident[5])
    if order is None or ident[4] not in (1, 2):
        raise stream.fault("has an ELF header of no known class")
    wide = ident[4] == 2
    header, section, segment, dynamic = (
        ("HHIQQQIHHHHHH", "IIQQQQIIQQ", "IIQQQQQQ", "qQ") if wide else ("HHIIIIIHHHHHH", "IIIIIIIIII", "IIIIIIII", "iI")
    )
    return _Forms(
        header=struct.Struct(order + header),
        section=struct.Struct(order + section),
        segment=struct.Struct(order + segment),
        dynamic=struct.Struct(order + dynamic),
        verneed=struct.Struct(order + "HHIII"),
        vernaux=struct.Struct(order + "IHHII"),
        wide=wide,
    )


def read_elf(stream: Stream) -> ElfHeaders:
    """Read the headers. Raises BinaryUnreadable."""
    ident = stream.exactly(0, 16)
    forms = _forms(ident, stream)
    fields = stream.unpack(forms.header, 16)
    machine, segments_at, sections_at = fields[1], fields[4], fields[5]
    headers = ElfHeaders(_MACHINES.get(machine, f"machine {machine}"))
    segments = [_segment(forms, item) for item in _table(stream, forms.segment, segments_at, fields[8], fields[9])]
    _read_sections(stream, forms, headers, sections_at, fields[10:13])
    _read_dynamic(stream, forms, headers, segments)
    return headers


def _table(stream: Stream, form: struct.Struct, offset: int, entry: int, count: int) -> list[tuple[int, ...]]:
    if not offset or not count:
        return []
    if entry != form.size:
        raise stream.fault("has a table whose entries are of another size than its class says")
    return list(form.iter_unpack(stream.exactly(offset, entry * count)))


def _segment(forms: _Forms, fields: tuple[int, ...]) -> tuple[int, int, int, int]:
    """Return type, offset, address and size in the file."""
    kind = fields[0]
    return (kind, fields[2], fields[3], fields[5]) if forms.wide else (kind, fields[1], fields[2], fields[4])


def _read_sections(stream: Stream, forms: _Forms, headers: ElfHeaders, offset: int, shape: tuple[int, ...]) -> None:
    entry, count, names_at = shape
    table = _table(stream, forms.section, offset, entry, count)
    if not table or names_at >= len(table):
        return
    names = stream.some(table[names_at][4], min(table[names_at][5], 1 << 20))
    for item in table:
        if item[1] not in (0, 8):  # SHT_NULL, SHT_NOBITS
            headers.sections.setdefault(section_text(names, item[0]), (item[4], item[5]))


def _read_dynamic(
    stream: Stream, forms: _Forms, headers: ElfHeaders, segments: list[tuple[int, int, int, int]]
) -> None:
    place = next((item for item in segments if item[0] == _PT_DYNAMIC), None)
    if place is None:
        return
    data = stream.some(place[1], min(place[3], _MAX_ENTRIES * forms.dynamic.size))
    entries: list[tuple[int, int]] = []
    for tag, value in forms.dynamic.iter_unpack(data[: len(data) - len(data) % forms.dynamic.size]):
        if tag == 0:
            break
        entries.append((tag, value))
    values = dict(entries)
    if data and not data.strip(b"\0"):
        # The first entry of a real one is no null, and every one has a table of strings.
        raise stream.fault("has NULs where its dynamic section is")
    strings = _offset(segments, values.get(_DT_STRTAB, 0))
    if strings is None:
        return
    for tag, value in entries:
        if tag == _DT_NEEDED:
            headers.needed.append(stream.text(strings + value))
        elif tag == _DT_SONAME:
            headers.soname = stream.text(strings + value)
        elif tag in (_DT_RPATH, _DT_RUNPATH):
            headers.search += [item for item in stream.text(strings + value).split(":") if item]
    needs = _offset(segments, values.get(_DT_VERNEED, 0))
    if needs is not None:
        _read_versions(stream, forms, headers, (needs, strings, values.get(_DT_VERNEEDNUM, 0)))


def _offset(segments: list[tuple[int, int, int, int]], address: int) -> int | None:
    """Return where an address lies in the file."""
    if not address:
        return None
    for kind, offset, start, size in segments:
        if kind == _PT_LOAD and start <= address < start + size:
            return address - start + offset
    return None


def _read_versions(stream: Stream, forms: _Forms, headers: ElfHeaders, where: tuple[int, int, int]) -> None:
    at, strings, count = where
    left = _MAX_ENTRIES
    for _ in range(min(count, _MAX_ENTRIES)):
        _version, auxiliaries, file, first, following = stream.unpack(forms.verneed, at)
        names = headers.versions.setdefault(stream.text(strings + file), [])
        entry = at + first
        for _ in range(min(auxiliaries, left)):
            _hash, _flags, _other, name, next_entry = stream.unpack(forms.vernaux, entry)
            names.append(stream.text(strings + name))
            left -= 1
            if not next_entry:
                break
            entry += next_entry
        if not following or not left:
            break
        at += following
