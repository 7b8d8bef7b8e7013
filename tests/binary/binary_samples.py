"""Minimal binaries of each format, written from the documents that describe them."""

from __future__ import annotations

import struct

from envdoctor.model.target import Arch, OperatingSystem, Target

LINUX = Target(OperatingSystem.LINUX, Arch.X86_64, (3, 11))


def elf(
    *,
    machine: int = 62,
    needed: tuple[str, ...] = (),
    soname: str | None = None,
    runpath: str | None = None,
    glibc: tuple[str, ...] = (),
    sections: dict[str, bytes] | None = None,
    wide: bool = True,
    order: str = "<",
) -> bytes:
    """Return a shared object: one PT_LOAD over the whole file (address = offset), one PT_DYNAMIC, section headers."""
    strings = bytearray(b"\0")

    def name(text: str) -> int:
        at = len(strings)
        strings.extend(text.encode() + b"\0")
        return at

    entries = [(1, name(item)) for item in needed]
    if soname:
        entries.append((14, name(soname)))
    if runpath:
        entries.append((29, name(runpath)))
    libc, versions = name("libc.so.6"), [name(item) for item in glibc]
    dynamic_form = order + ("qQ" if wide else "iI")
    header_size, segment_size, section_size = (64, 56, 64) if wide else (52, 32, 40)
    base = header_size + 2 * segment_size
    strings_at = base
    verneed_at = strings_at + len(strings)
    verneed = b""
    if versions:
        verneed = struct.pack(order + "HHIII", 1, len(versions), libc, 16, 0)
        for index, item in enumerate(versions):
            following = 16 if index + 1 < len(versions) else 0
            verneed += struct.pack(order + "IHHII", 0, 0, 2 + index, item, following)
        entries += [(0x6FFFFFFE, verneed_at), (0x6FFFFFFF, 1)]
    entries += [(5, strings_at), (10, len(strings)), (0, 0)]
    dynamic = b"".join(struct.pack(dynamic_form, *item) for item in entries)
    dynamic_at = verneed_at + len(verneed)
    body = bytes(strings) + verneed + dynamic
    places, names, at = [], bytearray(b"\0"), dynamic_at + len(dynamic)
    for title, data in (sections or {}).items():
        pad = -at % 8
        body += bytes(pad) + data
        places.append((len(names), at + pad, len(data)))
        names += title.encode() + b"\0"
        at += pad + len(data)
    places.append((len(names), at, 0))
    names += b".shstrtab\0"
    body += bytes(names)
    places[-1] = (places[-1][0], at, len(names))
    sections_at = at + len(names)
    section_form = order + ("IIQQQQIIQQ" if wide else "IIIIIIIIII")
    table = bytes(section_size) + b"".join(
        struct.pack(section_form, title, 1, 0, offset, offset, size, 0, 0, 1, 0) for title, offset, size in places
    )
    total = sections_at + len(table)
    if wide:
        load = struct.pack(order + "IIQQQQQQ", 1, 5, 0, 0, 0, total, total, 4096)
        dyn = struct.pack(order + "IIQQQQQQ", 2, 6, dynamic_at, dynamic_at, dynamic_at, len(dynamic), len(dynamic), 8)
    else:
        load = struct.pack(order + "IIIIIIII", 1, 0, 0, 0, total, total, 5, 4096)
        dyn = struct.pack(order + "IIIIIIII", 2, dynamic_at, dynamic_at, dynamic_at, len(dynamic), len(dynamic), 6, 8)
    ident = b"\x7fELF" + bytes([2 if wide else 1, 1 if order == "<" else 2, 1]) + bytes(9)
    shape = (3, machine, 1, 0, header_size, sections_at, 0, header_size, segment_size, 2, section_size, len(places) + 1)
    header = ident + struct.pack(order + ("HHIQQQIHHHHHH" if wide else "HHIIIIIHHHHHH"), *shape, len(places))
    return header + load + dyn + body + table


def fatbin(*entries: tuple[int, int, int], payload: int = 64, header: int = 64) -> bytes:
    """Return one CUDA fat binary; each entry is ``(kind, architecture, flags)``."""
    body = b""
    for kind, architecture, flags in entries:
        head = struct.pack("<HHIQIIHHIIIQ", kind, 0x101, header, payload, 0, 0, 8, 1, architecture, 0, 0, flags)
        body += head.ljust(header, b"\0") + b"\xa5" * payload
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


def hip_bundle(*targets: str, size: int = 100) -> bytes:
    """Return one uncompressed bundle of clang's, padded to a page."""
    names = [f"hipv4-amdgcn-amd-amdhsa--{item}" for item in targets]
    head = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(names))
    at = 4096
    for item in names:
        head += struct.pack("<QQQ", at, size, len(item)) + item.encode()
        at += size
    return (head.ljust(4096, b"\0") + b"\x5a" * (at - 4096)).ljust(-(-at // 4096) * 4096, b"\0")


def pe(
    *,
    machine: int = 0x8664,
    needed: tuple[str, ...] = (),
    delayed: tuple[str, ...] = (),
    sections: dict[str, bytes] | None = None,
) -> bytes:
    """Return a DLL (PE32+) with import tables in a section ``.rdata`` at address 0x1000 and further sections."""
    address, file_at = 0x1000, 0x400
    imports_size = 20 * (len(needed) + 1)
    delays_size = 32 * (len(delayed) + 1)
    names, offsets = b"", []
    for item in (*needed, *delayed):
        offsets.append(address + imports_size + delays_size + len(names))
        names += item.encode() + b"\0"
    # Each DLL gives one function, its ordinal 1.
    names = names.ljust(-(-len(names) // 8) * 8 + -(imports_size + delays_size) % 8, b"\0")
    thunk = address + imports_size + delays_size + len(names)
    names += struct.pack("<QQ", 1 << 63 | 1, 0)
    imports = b"".join(struct.pack("<IIIII", thunk, 0, 0, at, thunk) for at in offsets[: len(needed)]) + bytes(20)
    delays = b"".join(struct.pack("<IIIIIIII", 1, at, 0, 0, 0, 0, 0, 0) for at in offsets[len(needed) :]) + bytes(32)
    parts = {".rdata": imports + delays + names, **(sections or {})}
    directories = [(0, 0)] * 16
    directories[1] = (address, imports_size)
    directories[13] = (address + imports_size, delays_size)
    optional = struct.pack("<HBBIIIIIQ", 0x20B, 14, 0, 0, 0, 0, 0, 0x1000, 0x180000000).ljust(108, b"\0")
    optional += struct.pack("<I", 16) + b"".join(struct.pack("<II", *item) for item in directories)
    table, body, at, rva = b"", b"", file_at, address
    for title, data in parts.items():
        raw = data.ljust(-(-len(data) // 512) * 512, b"\0")
        table += struct.pack("<8sIIII16x", title.encode(), len(data), rva, len(raw), at)
        body, at, rva = body + raw, at + len(raw), rva + 0x100000
    head = b"MZ".ljust(0x3C, b"\0") + struct.pack("<I", 0x40) + b"PE\0\0"
    head += struct.pack("<HHIIIHH", machine, len(parts), 0, 0, 0, len(optional), 0x2022) + optional + table
    return head.ljust(file_at, b"\0") + body


def macho(
    *,
    cpu: int = 0x0100000C,
    needed: tuple[str, ...] = (),
    weak: tuple[str, ...] = (),
    rpath: str | None = None,
    macos: tuple[int, int] | None = None,
    constants: bytes = b"",
) -> bytes:
    """Return a thin 64-bit dylib of load commands, and of ``__TEXT,__cstring`` with ``constants``."""

    def text(command: int, fixed: bytes, value: str) -> bytes:
        offset = 12 + len(fixed)
        data = (value.encode() + b"\0").ljust(-(-(offset + len(value) + 1) // 8) * 8 - offset, b"\0")
        return struct.pack("<III", command, offset + len(data), offset) + fixed + data

    commands = [text(0xC, bytes(12), item) for item in needed]
    commands += [text(0x80000018, bytes(12), item) for item in weak]
    if rpath:
        commands.append(text(0x8000001C, b"", rpath))
    if macos:
        commands.append(struct.pack("<IIIIII", 0x32, 24, 1, macos[0] << 16 | macos[1] << 8, 0, 0))
    if constants:
        at, size = 32 + len(b"".join(commands)) + 152, len(constants)
        segment = struct.pack("<II16sQQQQiiII", 0x19, 152, b"__TEXT", 0, at + size, 0, at + size, 5, 5, 1, 0)
        commands.append(segment + struct.pack("<16s16sQQI28x", b"__cstring", b"__TEXT", at, size, at))
    body = b"".join(commands)
    header = b"\xcf\xfa\xed\xfe" + struct.pack("<IIIIIII", cpu, 0, 6, len(commands), len(body), 0, 0)
    return header + body + constants


def universal(*slices: tuple[int, bytes]) -> bytes:
    """Return a universal Mach-O of thin files, each ``(cpu, bytes)``."""
    head, body, at = b"", b"", 4096
    for cpu, data in slices:
        head += struct.pack(">IIIII", cpu, 0, at, len(data), 12)
        padded = data.ljust(-(-len(data) // 4096) * 4096, b"\0")
        body, at = body + padded, at + len(padded)
    return (b"\xca\xfe\xba\xbe" + struct.pack(">I", len(slices)) + head).ljust(4096, b"\0") + body
