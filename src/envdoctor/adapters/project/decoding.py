"""Bytes of a project's text file into text, the way pip does it and a little more forgiving."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

__all__ = ["DecodedText", "NotText", "decode"]

_MARKS = (
    (codecs.BOM_UTF8, "utf-8", "UTF-8"),
    # UTF-32 little endian starts with the mark of UTF-16 little endian.
    (codecs.BOM_UTF32_LE, "utf-32-le", "UTF-32 little endian"),
    (codecs.BOM_UTF32_BE, "utf-32-be", "UTF-32 big endian"),
    (codecs.BOM_UTF16_LE, "utf-16-le", "UTF-16 little endian"),
    (codecs.BOM_UTF16_BE, "utf-16-be", "UTF-16 big endian"),
)
_DECLARATION = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
# Codecs that are not character sets, or that warn and guess.
_REFUSED = frozenset({"unicode_escape", "raw_unicode_escape", "undefined", "idna", "punycode", "utf-7"})
_SAMPLE = 4096


class NotText(Exception):
    """The bytes are no text in any encoding that is tried."""


@dataclass(frozen=True, slots=True)
class DecodedText:
    """Text, and what was unusual about its encoding (None where it is plain UTF-8 or declared)."""

    text: str
    note: str | None = None


def decode(data: bytes) -> DecodedText:
    """Decode by byte order mark, PEP 263 declaration, UTF-8, then Latin-1. Raises NotText."""
    for mark, codec, label in _MARKS:
        if data.startswith(mark):
            return _marked(data[len(mark) :], codec, label)
    if b"\0" in data:
        return _unmarked_utf16(data)
    return _unmarked(data)


def _marked(data: bytes, codec: str, label: str) -> DecodedText:
    try:
        text = data.decode(codec)
    except UnicodeDecodeError as error:
        raise NotText(f"it starts with the byte order mark of {label} but is not {label}") from error
    if "\0" in text:
        raise NotText(f"it starts with the byte order mark of {label} and contains NUL characters")
    if codec == "utf-8":
        note = "the file starts with a byte order mark, which some tools take for a part of its first line"
    else:
        note = f"the file is {label}, not UTF-8, which many tools cannot read"
    return DecodedText(text, note)


def _unmarked_utf16(data: bytes) -> DecodedText:
    sample = data[:_SAMPLE]
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    for zeros, others, codec, label in (
        (odd, even, "utf-16-le", "UTF-16 little endian"),
        (even, odd, "utf-16-be", "UTF-16 big endian"),
    ):
        if len(data) % 2 == 0 and others == 0 and zeros * 4 > len(sample):
            try:
                text = data.decode(codec)
            except UnicodeDecodeError:
                continue
            if "\0" not in text:
                return DecodedText(text, f"the file is {label} without a byte order mark, not UTF-8")
    raise NotText("it contains NUL bytes, so it is a binary file")


def _unmarked(data: bytes) -> DecodedText:
    declared = _declared_codec(data)
    note = None
    if declared is not None:
        text = _try(data, declared)
        if text is not None:
            return DecodedText(text)
        note = f"the file declares the encoding `{declared}`, which does not fit its bytes"
    text = _try(data, "utf-8")
    if text is not None:
        return DecodedText(text, note)
    return DecodedText(data.decode("latin-1"), note or "the file is not UTF-8; it was read as Latin-1")


def _declared_codec(data: bytes) -> str | None:
    for line in data.split(b"\n", 2)[:2]:
        match = _DECLARATION.match(line[:200])
        if match:
            return match.group(1).decode("ascii", "replace")
    return None


def _try(data: bytes, codec: str) -> str | None:
    try:
        name = codecs.lookup(codec).name
        if name in _REFUSED:
            return None
        return data.decode(name)
    except (LookupError, ValueError):
        return None
