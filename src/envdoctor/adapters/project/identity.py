"""Files that are not what their name claims: pointers, archives, error pages."""

from __future__ import annotations

import json
import re

__all__ = ["impostor"]

_MAGIC = (
    (b"PK\x03\x04", "a zip archive (a wheel, perhaps)"),
    (b"PK\x05\x06", "an empty zip archive"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ", "an xz archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"\x28\xb5\x2f\xfd", "a zstd archive"),
    (b"Rar!", "a rar archive"),
    (b"\x7fELF", "an ELF binary"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF-", "a PDF document"),
    (b"{\\rtf", "an RTF document"),
    (b"\xd0\xcf\x11\xe0", "an Office document"),
)
_POINTER = b"version https://git-lfs.github.com/spec/"
_ANNEX = re.compile(rb"^[./]*(\.git)?/annex/objects/\S+\s*$")
_MARKUP = re.compile(rb"\s*(<!--.*?-->\s*)*<(!doctype\s+html|html|head|body|\?xml|error)\b", re.I | re.S)
_ERROR_PAGE = re.compile(rb"\s*(404: Not Found|400: Invalid request|403: Forbidden|429: Too Many Requests)\s*$", re.I)
_START = 2048


def impostor(data: bytes, *, json_refused: bool = True) -> str | None:
    """Say what a text file's bytes really are, None where nothing speaks against text."""
    start = data[:_START].removeprefix(b"\xef\xbb\xbf")
    for magic, what in _MAGIC:
        if start.startswith(magic):
            return what
    # "MZ" alone could start a requirement; a DOS header has NUL bytes.
    if start.startswith(b"MZ") and b"\0" in start[:64]:
        return "a Windows executable"
    if start.startswith(_POINTER):
        return "a Git LFS pointer, not the file itself (`git lfs pull` fetches it)"
    if _ANNEX.match(start):
        return "a git-annex pointer, not the file itself (`git annex get` fetches it)"
    if _MARKUP.match(start):
        return "an HTML or XML page, not the file itself"
    if _ERROR_PAGE.match(start):
        return "a web server's error page, not the file itself"
    if json_refused and _is_json(data):
        return "a JSON document"
    return None


def _is_json(data: bytes) -> bool:
    body = data.removeprefix(b"\xef\xbb\xbf").strip()
    if body[:1] not in (b"{", b"[") or body[-1:] not in (b"}", b"]"):
        return False
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        return False
    return True
