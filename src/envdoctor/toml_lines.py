"""The line of each key and array entry of a TOML text, found without a second parser."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from typing import TypeAlias

__all__ = ["KeyPath", "Lines", "key_path_text"]

KeyPath: TypeAlias = tuple[str | int, ...]

_BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_SCALAR = re.compile(r"[^,\]}\n#]*")
_REST = {
    '"': re.compile(r'[^"\\]*(?:\\.[^"\\]*)*(?=")', re.DOTALL),
    "'": re.compile(r"[^']*(?=')"),
    '"""': re.compile(r'[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*(?=""")', re.DOTALL),
    "'''": re.compile(r"[^']*(?:'(?!'')[^']*)*(?=''')"),
}
"""By what a string begins with: all up to its end."""


def key_path_text(path: KeyPath) -> str:
    """Return ``requires[0].because`` for a key path."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")


class Lines:
    """The 1-based lines of a text's key paths; the text is looked through when a line is asked for.

    Good for pointing a person to a place, not a parser: of a text that cannot be followed to its end, the rest is not
    known.
    """

    def __init__(self, text: str) -> None:
        self._text = text

    def of(self, path: KeyPath) -> int | None:
        """Return the line of a path, or of the nearest table around it."""
        while path:
            if path in self._by_path:
                return self._by_path[path]
            path = path[:-1]
        return None

    def of_text(self, key_path: str) -> int | None:
        """Return the line of a path that is written out, or of the nearest table around it: ``requires[0].because``."""
        while key_path:
            if key_path in self._by_text:
                return self._by_text[key_path]
            key_path = key_path[: key_path.rfind("[")] if key_path.endswith("]") else key_path.rpartition(".")[0]
        return None

    @cached_property
    def _by_path(self) -> dict[KeyPath, int]:
        scan = _Scan(self._text.removeprefix("\ufeff"))
        try:
            scan.document()
        except (IndexError, RecursionError):
            return scan.lines
        return scan.lines

    @cached_property
    def _by_text(self) -> dict[str, int]:
        return {key_path_text(path): line for path, line in self._by_path.items()}


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
        for position in self._entries("]"):
            entry = (*path, position)
            self.lines[entry] = self._line()
            self._value(entry)

    def _inline_table(self, path: KeyPath) -> None:
        for _ in self._entries("}"):
            self._pair(path)

    def _entries(self, end: str) -> Iterator[int]:
        """Yield the number of each entry between brackets, which is read by whoever asks; step over the rest."""
        self.at += 1
        self._skip()
        position = 0
        while self.text[self.at] != end:
            before = self.at
            yield position
            self._skip()
            if self.text[self.at] == ",":
                self.at += 1
                self._skip()
            if self.at == before:
                raise IndexError
            position += 1
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
        match = _REST[fence].match(self.text, start)
        if match is None:
            raise IndexError
        self.at = match.end() + len(fence)
        while len(fence) == 3 and self.text.startswith(quote, self.at):
            self.at += 1
        return match.group()

    def _skip(self) -> None:
        match = _BLANK.match(self.text, self.at)
        self.at = match.end() if match else self.at

    def _blanks(self) -> None:
        while self.at < len(self.text) and self.text[self.at] in " \t":
            self.at += 1

    def _line(self) -> int:
        return bisect_right(self._starts, self.at)
