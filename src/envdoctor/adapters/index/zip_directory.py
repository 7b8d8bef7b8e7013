"""The directory of a zip archive, read from its last bytes, and single members out of it.

Only what a wheel needs is read, so that a wheel of gigabytes costs two small requests. Source: PKWARE's APPNOTE,
4.3.7 (local header), 4.3.12 (central directory), 4.3.14 to 4.3.16 (end records, zip64).
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable
from typing import NamedTuple

from envdoctor.model.dataclass import dataclass

__all__ = ["BadArchive", "Member", "Window", "ZipDirectory", "read_directory", "read_member"]

_END = b"PK\x05\x06"
_END64 = b"PK\x06\x06"
_LOCATOR64 = b"PK\x06\x07"
_ENTRY = struct.Struct("<4s6H3I5H2I")
_LOCAL = struct.Struct("<4s5H3I2H")
_MOST = 128 * 1024 * 1024
_BEFORE = 48 * 1024
"""Bytes taken before a directory that has to be fetched anyway: the dist-info folder usually lies there."""
_SLACK = 512
"""Room for the extra field of a local header, whose length the directory does not tell."""


class BadArchive(Exception):
    """The bytes are not a zip archive, or one that tries something; the text is the reason."""


class Member(NamedTuple):
    """One entry of the directory; offsets and sizes in bytes."""

    offset: int
    packed: int
    size: int
    method: int
    checksum: int


class Window(NamedTuple):
    """Bytes of the archive that are at hand, from ``start`` on."""

    start: int
    data: bytes


Fetch = Callable[[int, int], bytes]
"""Return the bytes from the first offset up to, not including, the second."""


@dataclass(frozen=True, slots=True)
class ZipDirectory:
    """Names and places of all members."""

    members: dict[str, Member]

    def encode(self) -> bytes:
        """Return the compact form for the cache."""
        columns = [list(column) for column in zip(*self.members.values(), strict=True)]
        return zlib.compress(json.dumps([list(self.members), *columns], separators=(",", ":")).encode(), 1)

    @classmethod
    def decode(cls, body: bytes) -> ZipDirectory:
        """Read the compact form. Raises ValueError or zlib.error."""
        names, *columns = json.loads(zlib.decompress(body))
        return cls({name: Member(*row) for name, row in zip(names, zip(*columns, strict=True), strict=True)})


def read_directory(tail: Window, fetch: Fetch) -> tuple[ZipDirectory, Window]:
    """Read the directory from an archive's last bytes, fetching more only where they do not reach.

    Returns the bytes then at hand, too. Raises BadArchive.
    """
    end = tail.data.rfind(_END)
    if end < 0 or end + 22 > len(tail.data):
        raise BadArchive("it is not a zip archive (no end record)")
    count, size, offset = struct.unpack_from("<HII", tail.data, end + 10)
    if count == 0xFFFF or size == 0xFFFFFFFF or offset == 0xFFFFFFFF:
        count, size, offset = _zip64(tail, end, fetch)
    if size > _MOST or offset + size > tail.start + end:
        raise BadArchive("its directory is damaged")
    if offset < tail.start:
        start = max(0, offset - _BEFORE)
        tail = Window(start, fetch(start, tail.start) + tail.data)
    return ZipDirectory(_entries(tail.data, offset - tail.start, size, count)), tail


def _zip64(tail: Window, end: int, fetch: Fetch) -> tuple[int, int, int]:
    place = end - 20
    if place < 0 or tail.data[place : place + 4] != _LOCATOR64:
        raise BadArchive("its zip64 record is missing")
    (at,) = struct.unpack_from("<Q", tail.data, place + 8)
    record = tail.data[at - tail.start :][:56] if at >= tail.start else fetch(at, at + 56)
    if len(record) < 56 or record[:4] != _END64:
        raise BadArchive("its zip64 record is damaged")
    count, size, offset = struct.unpack_from("<QQQ", record, 32)
    return count, size, offset


def _entries(data: bytes, at: int, size: int, count: int) -> dict[str, Member]:
    members: dict[str, Member] = {}
    stop = at + size
    while at + _ENTRY.size <= stop and len(members) < count:
        fields = _ENTRY.unpack_from(data, at)
        if fields[0] != b"PK\x01\x02":
            raise BadArchive("its directory is damaged")
        flags, method = fields[3], fields[4]
        checksum, packed, full = fields[7:10]
        name_length, extra_length, comment_length = fields[10:13]
        offset = fields[16]
        start = at + _ENTRY.size
        name = data[start : start + name_length].decode("utf-8" if flags & 0x800 else "cp437", "replace")
        if 0xFFFFFFFF in (packed, full, offset):
            extra = data[start + name_length : start + name_length + extra_length]
            full, packed, offset = _wide(extra, full, packed, offset)
        members[name] = Member(offset, packed, full, method, checksum)
        at = start + name_length + extra_length + comment_length
    return members


def _wide(extra: bytes, size: int, packed: int, offset: int) -> tuple[int, int, int]:
    """Return sizes and offset from the zip64 extra field, which holds those that did not fit, in this order."""
    at = 0
    while at + 4 <= len(extra):
        kind, length = struct.unpack_from("<HH", extra, at)
        if kind == 1:
            numbers = list(struct.unpack_from(f"<{length // 8}Q", extra[: at + 4 + length], at + 4))
            values = [numbers.pop(0) if value == 0xFFFFFFFF and numbers else value for value in (size, packed, offset)]
            return values[0], values[1], values[2]
        at += 4 + length
    return size, packed, offset


def read_member(member: Member, name: str, window: Window, fetch: Fetch, limit: int) -> bytes:
    """Return one member's bytes. Raises BadArchive where it is damaged, encrypted, odd or over the limit."""
    if member.size > limit or member.packed > limit:
        raise BadArchive(f"`{name}` is larger than {limit} bytes")
    start = member.offset
    wanted = start + _LOCAL.size + len(name.encode()) + member.packed
    data = _slice(window, start, wanted + _SLACK) or fetch(start, wanted + _SLACK)
    if len(data) < _LOCAL.size or data[:4] != b"PK\x03\x04":
        raise BadArchive(f"`{name}` is damaged")
    fields = _LOCAL.unpack_from(data)
    body = _LOCAL.size + fields[9] + fields[10]
    if len(data) < body + member.packed:
        data = fetch(start, start + body + member.packed)
    packed = data[body : body + member.packed]
    if member.method == 8:
        try:
            content = zlib.decompressobj(-15).decompress(packed, limit + 1)
        except zlib.error:
            raise BadArchive(f"`{name}` is damaged") from None
    elif member.method == 0:
        content = packed
    else:
        raise BadArchive(f"`{name}` is packed by a method ({member.method}) that is not read here")
    if len(content) != member.size or zlib.crc32(content) != member.checksum:
        raise BadArchive(f"`{name}` is damaged")
    return content


def _slice(window: Window, start: int, stop: int) -> bytes | None:
    """Return bytes at hand; fewer than asked where the archive ends, None where they are not all at hand."""
    if start < window.start or start >= window.start + len(window.data):
        return None
    return window.data[start - window.start : stop - window.start]
