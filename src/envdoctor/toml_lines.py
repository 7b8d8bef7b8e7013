"""The line of each key path of a TOML text, found without a second parser."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping
from typing import TypeAlias

__all__ = ["KeyPath", "Lines", "key_lines", "line_of"]

_HEADER = re.compile(r"^\s*\[(?!\[)\s*([^\[\]]+?)\s*\]\s*(#.*)?$")
_ARRAY_HEADER = re.compile(r"^\s*\[\[\s*([^\[\]]+?)\s*\]\]\s*(#.*)?$")
_KEY = re.compile(r"""^\s*([A-Za-z0-9_.-]+|"[^"]*"|'[^']*')\s*=""")


class Lines:
    """Key paths (``requires[0].because``) of a text with their 1-based lines.

    Good for pointing a person to a fault, not a parser: text inside multi-line strings is skipped, keys of inline
    tables have the line of the table.
    """

    def __init__(self, text: str) -> None:
        self._lines = _scan(text)

    def of(self, key_path: str) -> int | None:
        """Return the line of a key path, or of the nearest table that holds it."""
        while key_path:
            if key_path in self._lines:
                return self._lines[key_path]
            shorter = key_path[: key_path.rfind("[")] if key_path.endswith("]") else key_path.rpartition(".")[0]
            key_path = shorter
        return None


def _scan(text: str) -> dict[str, int]:
    lines: dict[str, int] = {}
    seen: Counter[str] = Counter()
    prefix, quote = "", None
    for number, line in enumerate(text.splitlines(), start=1):
        if quote is None:
            if match := _ARRAY_HEADER.match(line):
                prefix = f"{match[1]}[{seen[match[1]]}]"
                seen[match[1]] += 1
                lines.setdefault(prefix, number)
            elif match := _HEADER.match(line):
                prefix = match[1]
                lines.setdefault(prefix, number)
            elif match := _KEY.match(line):
                key = match[1].strip("\"'")
                lines.setdefault(f"{prefix}.{key}" if prefix else key, number)
        quote = _open_quote(line, quote)
    return lines


def _open_quote(line: str, quote: str | None) -> str | None:
    """Return the multi-line quote that is still open at the end of the line."""
    position = 0
    while position < len(line):
        if quote is None:
            marks = [(at, mark) for mark in ('"""', "'''") if (at := line.find(mark, position)) != -1]
            found = min(marks, default=None)
            if found is None:
                return None
            position, quote = found[0] + 3, found[1]
        else:
            at = line.find(quote, position)
            if at == -1:
                return quote
            position, quote = at + 3, None
    return quote


KeyPath: TypeAlias = tuple[str | int, ...]

_BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_SCALAR = re.compile(r"[^,\]}\n#]*")


def key_lines(text: str) -> dict[KeyPath, int]:
    """Return the line, from 1, of every key and array entry by its path; empty where the text cannot be followed."""
    scan = _Scan(text)
    try:
        scan.document()
    except (IndexError, RecursionError):
        return scan.lines
    return scan.lines


def line_of(lines: Mapping[KeyPath, int], path: KeyPath) -> int | None:
    """Return the line of a path, or of the nearest table around it."""
    while path:
        if path in lines:
            return lines[path]
        path = path[:-1]
    return None


class _Scan:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.lines: dict[KeyPath, int] = {}
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self._arrays: dict[KeyPath, int] = {}

    def document(self) -> None:
        table: KeyPath = ()
        self._skip()
        while self.at < len(self.text):
            before = self.at
            if self.text.startswith("[[", self.at):
                table = self._header(2)
            elif self.text[self.at] == "[":
                table = self._header(1)
            else:
                self._pair(table)
            self._skip()
            if self.at == before:
                return

    def _header(self, brackets: int) -> KeyPath:
        line = self._line()
        self.at += brackets
        parts = self._key()
        self._blanks()
        self.at += brackets
        path: KeyPath = ()
        for position, part in enumerate(parts):
            path = (*path, part)
            if brackets == 2 and position == len(parts) - 1:
                self._arrays[path] = self._arrays.get(path, -1) + 1
            if path in self._arrays:
                path = (*path, self._arrays[path])
        self.lines.setdefault(path, line)
        return path

    def _pair(self, table: KeyPath) -> None:
        line = self._line()
        path: KeyPath = table
        for part in self._key():
            path = (*path, part)
            self.lines.setdefault(path, line)
        self._blanks()
        self.at += 1  # the equals sign
        self._blanks()
        self._value(path)

    def _value(self, path: KeyPath) -> None:
        character = self.text[self.at]
        if character in "\"'":
            self._string()
        elif character == "[":
            self._array(path)
        elif character == "{":
            self._inline_table(path)
        else:
            match = _SCALAR.match(self.text, self.at)
            self.at = match.end() if match else self.at + 1

    def _array(self, path: KeyPath) -> None:
        self.at += 1
        position = 0
        self._skip()
        while self.text[self.at] != "]":
            entry = (*path, position)
            self.lines[entry] = self._line()
            before = self.at
            self._value(entry)
            self._skip()
            if self.text[self.at] == ",":
                self.at += 1
                self._skip()
            if self.at == before:
                raise IndexError
            position += 1
        self.at += 1

    def _inline_table(self, path: KeyPath) -> None:
        self.at += 1
        self._skip()
        while self.text[self.at] != "}":
            before = self.at
            self._pair(path)
            self._skip()
            if self.text[self.at] == ",":
                self.at += 1
                self._skip()
            if self.at == before:
                raise IndexError
        self.at += 1

    def _key(self) -> list[str]:
        parts: list[str] = []
        while True:
            self._blanks()
            if self.text[self.at] in "\"'":
                parts.append(self._string())
            else:
                match = _BARE.match(self.text, self.at)
                if match is None:
                    raise IndexError
                parts.append(match.group())
                self.at = match.end()
            self._blanks()
            if self.at >= len(self.text) or self.text[self.at] != ".":
                return parts
            self.at += 1

    def _string(self) -> str:
        quote = self.text[self.at]
        fence = quote * 3 if self.text.startswith(quote * 3, self.at) else quote
        start = self.at + len(fence)
        end = start
        while not self.text.startswith(fence, end):
            end += 2 if quote == '"' and self.text[end] == "\\" else 1
            if end >= len(self.text):
                raise IndexError
        body = self.text[start:end]
        self.at = end + len(fence)
        while len(fence) == 3 and self.text.startswith(quote, self.at):
            self.at += 1
        return body

    def _skip(self) -> None:
        match = _BLANK.match(self.text, self.at)
        self.at = match.end() if match else self.at

    def _blanks(self) -> None:
        while self.at < len(self.text) and self.text[self.at] in " \t":
            self.at += 1

    def _line(self) -> int:
        return bisect_right(self._starts, self.at)
