"""Lines of a terminal: wrapping by cells, colour, and a fallback to ASCII.

Written here rather than with rich: importing ``rich.console``, ``table`` and ``tree`` takes about 45 ms of an entry
path that a commit hook pays every time, and this page needs wrapped lines and sixteen colours.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from envdoctor.render import RenderOptions

__all__ = ["Canvas", "Span", "cell_width"]

Span: TypeAlias = "str | tuple[str, str]"
"""Text, or text with the name of a style."""
_Word: TypeAlias = "list[tuple[str, str]]"

_SGR = {
    "error": "1;31",
    "warning": "1;33",
    "info": "1;36",
    "good": "1;32",
    "strong": "1",
    "dim": "2",
    "code": "36",
}
_ASCII = {"…": "...", "–": "-", "—": "-", "‘": "'", "’": "'", "“": '"', "”": '"', "→": "->", "×": "x", "·": "-"}
_TREE = {True: ("├─ ", "└─ ", "│  "), False: ("|- ", "`- ", "|  ")}
_MIN_WIDTH, _MAX_WIDTH = 40, 100


def cell_width(text: str) -> int:
    """Return how many terminal cells ``text`` takes: two for wide East Asian characters and emoji, none for marks."""
    if text.isascii():
        return len(text)
    return sum(_char_width(char) for char in text)


def _char_width(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


class Canvas:
    """Collects lines no wider than the terminal."""

    def __init__(self, options: RenderOptions) -> None:
        self.width = max(_MIN_WIDTH, min(options.width, _MAX_WIDTH))
        self.unicode = options.unicode
        self.verbose = options.verbose
        self._colour = options.colour
        self._lines: list[str] = []

    @property
    def narrow(self) -> bool:
        """True where columns would leave no room for words."""
        return self.width < 64

    def text(self) -> str:
        """Return everything written, with one newline at the end."""
        return "\n".join(self._lines).strip("\n") + "\n"

    def blank(self) -> None:
        """Leave one empty line, unless there is one."""
        if self._lines and self._lines[-1]:
            self._lines.append("")

    def line(self, *spans: Span, first: str = "", rest: str | None = None) -> None:
        """Write spans as one paragraph; ``first`` stands before its first line, ``rest`` before the others."""
        rest = " " * cell_width(first) if rest is None else rest
        lead = self.plain(first)
        for pieces in self._wrapped(spans, self.width - cell_width(first), self.width - cell_width(rest)):
            self._lines.append((lead + "".join(self._styled(*piece) for piece in pieces)).rstrip())
            lead = self.plain(rest)

    def columns(self, indent: str, rows: Sequence[Sequence[Span]]) -> None:
        """Write rows of cells in columns, or, where they do not fit, each row as a paragraph."""
        texts, widths = self._measured(rows)
        if not self.fits(indent, rows):
            for row in rows:
                self.line(*(piece for cell in row for piece in (cell, " ")), first=indent, rest=f"{indent}  ")
            return
        for row, cells in zip(rows, texts, strict=True):
            styles = ["" if isinstance(cell, str) else cell[1] for cell in row]
            padding = [" " * (width - cell_width(text) + 2) for text, width in zip(cells, widths, strict=True)]
            pieces = (self._styled(*item) + space for *item, space in zip(cells, styles, padding, strict=True))
            self._lines.append((indent + "".join(pieces)).rstrip())

    def fits(self, indent: str, rows: Sequence[Sequence[Span]]) -> bool:
        """Return whether rows of cells fit in columns."""
        _, widths = self._measured(rows)
        return len(indent) + sum(widths) + 2 * (len(widths) - 1) <= self.width

    def _measured(self, rows: Sequence[Sequence[Span]]) -> tuple[list[list[str]], list[int]]:
        texts = [[self.plain(cell if isinstance(cell, str) else cell[0]) for cell in row] for row in rows]
        return texts, [max(map(cell_width, column)) for column in zip(*texts, strict=True)]

    def verbatim(self, text: str, first: str = "") -> None:
        """Write a command to copy: one line whatever its length, for a break would change what it does."""
        self._lines.append(first + self._styled(self.plain(text), "code"))

    def tree(self, nodes: Sequence[Sequence[str]], indent: str) -> None:
        """Draw chains under one root: each chain's first entry is a branch, every further one hangs below it."""
        branch, last, bar = _TREE[self.unicode]
        for number, steps in enumerate(nodes):
            final = number == len(nodes) - 1
            margin = indent + ("   " if final else bar)
            for depth, step in enumerate(steps):
                inner = margin + "   " * (depth - 1)
                first = indent + (last if final else branch) if depth == 0 else inner + last
                rest = margin if depth == 0 else inner + "   "
                below = bar if depth + 1 < len(steps) and depth == 0 else ""
                self.line(step, first=first, rest=rest + below)

    def plain(self, text: str) -> str:
        """Return ``text`` as this terminal can show it."""
        if self.unicode or text.isascii():
            return text
        return "".join(_ASCII.get(char, char) for char in text).encode("ascii", "backslashreplace").decode("ascii")

    def bar(self, share: float, cells: int) -> str:
        """Return a bar of ``share`` (0 to 1) of ``cells``, at least one."""
        return ("█" if self.unicode else "#") * max(1, round(share * cells))

    def _styled(self, text: str, style: str) -> str:
        return f"\x1b[{_SGR[style]}m{text}\x1b[0m" if self._colour and style and text.strip() else text

    def _wrapped(self, spans: Iterable[Span], first: int, rest: int) -> list[_Word]:
        lines: list[_Word] = [[]]
        used, room = 0, first
        for word in self._words(spans, max(8, min(first, rest))):
            cells = sum(cell_width(text) for text, _ in word)
            if lines[-1] and used + 1 + cells > room:
                lines.append([])
                used, room = 0, rest
            if lines[-1]:
                _append(lines[-1], " ", lines[-1][-1][1] if lines[-1][-1][1] == word[0][1] else "")
                used += 1
            for text, style in word:
                _append(lines[-1], text, style)
            used += cells
        return lines

    def _words(self, spans: Iterable[Span], limit: int) -> list[_Word]:
        """Return the words of all spans; one wider than ``limit`` cells is broken."""
        words: list[_Word] = []
        glued = False
        for span in spans:
            text, style = (span, "") if isinstance(span, str) else span
            for token in re.findall(r"\s+|\S+", self.plain(text)):
                if token.isspace():
                    glued = False
                elif glued:
                    words[-1].append((token, style))
                else:
                    words.append([(token, style)])
                    glued = True
        return [part for word in words for part in _broken(word, limit)]


def _append(pieces: _Word, text: str, style: str) -> None:
    """Add text, to the last piece where that has the same style: one escape sequence then does for both."""
    if pieces and pieces[-1][1] == style:
        text = pieces.pop()[0] + text
    pieces.append((text, style))


def _broken(word: _Word, limit: int) -> list[_Word]:
    if sum(cell_width(text) for text, _ in word) <= limit:
        return [word]
    parts: list[_Word] = [[]]
    used = 0
    for text, style in word:
        for char in text:
            cells = cell_width(char)
            if parts[-1] and used + cells > limit:
                parts.append([])
                used = 0
            _append(parts[-1], char, style)
            used += cells
    return parts
