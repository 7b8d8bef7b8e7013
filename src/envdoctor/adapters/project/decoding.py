"""The bytes of a project's files as text, how long things in them may be, and files that only claim to be such.

What is longer is a mistake or mischief: Python itself refuses to convert numbers of more than 4,300 digits.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from packaging.specifiers import SpecifierSet

from envdoctor.adapters.read_files import special
from envdoctor.model.dataclass import dataclass
from envdoctor.model.project import ReadingProblem

__all__ = [
    "DEEPEST_INCLUDES",
    "NotText",
    "ProjectFileError",
    "beyond_limits",
    "bounded",
    "decode",
    "file_bytes",
    "impostor",
    "json_of",
    "legible",
    "overlong",
]

DEEPEST_INCLUDES = 50
"""Files that name each other, one inside the other."""
_LONGEST_LINE = 10_000
_LONGEST_VERSION = 200
_NUMBER = re.compile(rf"\d{{{_LONGEST_VERSION + 1}}}")
_SHOWN = 200
_SHOWN_MESSAGE = 600
_MOST_ALIKE = 100


def beyond_limits(text: str) -> str | None:
    """Return what is wrong with the length of a requirement, None where nothing is."""
    if len(text) > _LONGEST_LINE:
        return f"it is longer than {_LONGEST_LINE:,} characters"
    if len(text) > _LONGEST_VERSION and _NUMBER.search(text):
        return f"it has a number of more than {_LONGEST_VERSION} digits"
    return None


def overlong(specifier: SpecifierSet) -> str | None:
    """Return what is wrong with the length of a specifier's versions, None where nothing is."""
    if any(len(clause.version) > _LONGEST_VERSION for clause in specifier):
        return f"it has a version of more than {_LONGEST_VERSION} characters"
    return None


def legible(problem: ReadingProblem) -> ReadingProblem:
    """Return a problem that repeats no more of a line than a person would look at."""
    if len(problem.text) <= _SHOWN and len(problem.message) <= _SHOWN_MESSAGE:
        return problem
    text = _cut(problem.text, _SHOWN)
    message = problem.message.replace(problem.text, text) if len(problem.text) > _SHOWN else problem.message
    suggestions = tuple(each for each in problem.suggestions if len(each) <= _SHOWN)
    return replace(problem, text=text, message=_cut(message, _SHOWN_MESSAGE), suggestions=suggestions)


def bounded(problems: Sequence[ReadingProblem]) -> tuple[ReadingProblem, ...]:
    """Return the problems, of each kind no more than a hundred; the last of a kind says how many more there are."""
    kept: list[ReadingProblem] = []
    counts: dict[object, int] = {}
    for problem in problems:
        counts[problem.kind] = counts.get(problem.kind, 0) + 1
        if counts[problem.kind] <= _MOST_ALIKE:
            kept.append(problem)
    for at, problem in enumerate(kept):
        more = counts.pop(problem.kind, 0) - _MOST_ALIKE
        last = max((place for place, other in enumerate(kept) if other.kind is problem.kind), default=at)
        if more > 0:
            kept[last] = replace(kept[last], message=f"{kept[last].message} (and {more:,} more like this one)")
    return tuple(kept)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "\N{HORIZONTAL ELLIPSIS}"


_LARGEST = 8 * 1024 * 1024


class ProjectFileError(Exception):
    """A path that cannot be read as a project: not there, not readable, or not what it claims to be."""

    def __init__(self, path: str, line: int | None, message: str, *, empty: bool = False, denied: bool = False) -> None:
        where = path if line is None else f"{path}:{line}"
        super().__init__(f"{where}: {message}")
        self.path = path
        self.line = line
        self.message = message
        self.empty = empty
        """There is no fault: nothing there says what is needed."""
        self.denied = denied
        """It is there, and this user may not read it."""


def file_bytes(path: Path, shown: str) -> bytes:
    """Return a file whole. Raises ProjectFileError for what is no file, may not be read or is too large."""
    try:
        what = special(path.stat().st_mode)
        if what is not None:
            raise ProjectFileError(shown, None, f"this is {what}, not a file")
        with path.open("rb") as stream:
            data = stream.read(_LARGEST + 1)
    except FileNotFoundError as error:
        what = "this is a symbolic link to nothing" if path.is_symlink() else "there is no such file"
        raise ProjectFileError(shown, None, what) from error
    except IsADirectoryError as error:
        raise ProjectFileError(shown, None, "this is a directory, not a file") from error
    except PermissionError as error:
        raise ProjectFileError(shown, None, "the file may not be read (permission denied)", denied=True) from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ProjectFileError(shown, None, f"the file cannot be read: {reason}") from error
    if len(data) > _LARGEST:
        raise ProjectFileError(shown, None, "not what it claims to be: it is larger than 8 MiB")
    return data


def json_of(text: str, shown: str) -> Any:
    """Return what a file of JSON says. Raises ProjectFileError, with the line, where it is none."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ProjectFileError(shown, error.lineno, f"not JSON: {error.msg[:1].lower()}{error.msg[1:]}") from error
    except (ValueError, RecursionError) as error:
        raise ProjectFileError(shown, None, "not JSON that can be read: nested too deeply, or too long") from error


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
_MARKUP = re.compile(rb"\s*(<!--(?:[^-]|-(?!->))*-->\s*)*<(!doctype\s+html|html|head|body|\?xml|error)\b", re.I | re.S)
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
    mark_alone: bool = False
    """It is UTF-8, and begins with a byte order mark."""


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
    return DecodedText(text, note, mark_alone=codec == "utf-8")


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
