"""Bounded reads at places in a file, and the error that all readers of binaries raise."""

from __future__ import annotations

import struct
from typing import IO

__all__ = ["BinaryUnreadable", "Stream", "section_text"]

_STRING_LIMIT = 4096
_BLOCK = 8192
"""Bytes that are read at once: headers, string tables and version needs mostly lie close together."""
_MOST_BLOCKS = 8


class BinaryUnreadable(Exception):
    """A file is not a binary that we know, or is cut short or contradicts itself."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


class Stream:
    """A file of any size, of which only the bytes asked for are read."""

    def __init__(self, file: IO[bytes], path: str, *, start: int = 0) -> None:
        self.file = file
        self.path = path
        self.start = start
        self.size = file.seek(0, 2) - start
        self._blocks: dict[int, bytes] = {}

    def at(self, start: int) -> Stream:
        """Return a view whose offset 0 is ``start`` (a slice of a universal Mach-O)."""
        return Stream(self.file, self.path, start=self.start + start)

    def fault(self, reason: str) -> BinaryUnreadable:
        """Return the error for this file."""
        return BinaryUnreadable(self.path, reason)

    def some(self, offset: int, length: int) -> bytes:
        """Return up to ``length`` bytes; fewer at the end of the file."""
        if offset < 0 or offset >= self.size or length <= 0:
            return b""
        place = self.start + offset
        within = place % _BLOCK
        if within + length > _BLOCK:
            self.file.seek(place)
            return self.file.read(length)
        block = self._blocks.get(place - within)
        if block is None:
            self.file.seek(place - within)
            block = self.file.read(_BLOCK)
            if len(self._blocks) >= _MOST_BLOCKS:
                self._blocks.clear()
            self._blocks[place - within] = block
        return block[within : within + length]

    def exactly(self, offset: int, length: int) -> bytes:
        """Return ``length`` bytes. Raises BinaryUnreadable where the file ends before that."""
        data = self.some(offset, length)
        if len(data) != length:
            raise self.fault("is cut short")
        return data

    def unpack(self, form: struct.Struct, offset: int) -> tuple[int, ...]:
        """Return the fields of a structure. Raises BinaryUnreadable at the end of the file."""
        return form.unpack(self.exactly(offset, form.size))

    def text(self, offset: int) -> str:
        """Return the NUL-ended string at ``offset``, cut at 4096 bytes."""
        data = self.some(offset, 256)
        if b"\0" not in data:
            data = self.some(offset, _STRING_LIMIT)
        return data.partition(b"\0")[0].decode("utf-8", "replace")


def section_text(data: bytes, offset: int) -> str:
    """Return the NUL-ended string at ``offset`` of a table that is in memory."""
    end = data.find(b"\0", offset)
    return data[offset : end if end >= 0 else None].decode("utf-8", "replace")
