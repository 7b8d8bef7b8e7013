"""Bytes of a source file as text and back, with its encoding, byte order mark and newlines kept."""

from __future__ import annotations

import codecs
import io
import tokenize
from dataclasses import dataclass

__all__ = ["SourceText", "read_source"]

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


@dataclass(frozen=True, slots=True)
class SourceText:
    """A text and how it was written."""

    text: str
    encoding: str
    mark: bytes = b""

    def encode(self, text: str) -> bytes:
        """Return another text in the same form. Raises UnicodeEncodeError where it cannot be."""
        return self.mark + text.encode(self.encoding)


def read_source(data: bytes, name: str) -> SourceText:
    """Return the text of a file. A file in no known encoding is read byte by byte, so that it comes out unchanged."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return SourceText(data[len(mark) :].decode(encoding), encoding, mark)
    encoding = "utf-8"
    if name.endswith((".py", ".pyi", ".pyx")):
        try:
            encoding = tokenize.detect_encoding(io.BytesIO(data).readline)[0]
        except SyntaxError:
            encoding = "latin-1"
    try:
        return SourceText(data.decode(encoding), encoding)
    except (UnicodeDecodeError, LookupError):
        return SourceText(data.decode("latin-1"), "latin-1")
