"""A page of text wrapped by cells, with tables, trees, sixteen colours and links, and a fallback to ASCII.

rich draws it. Plain text whose letters are one cell wide each needs only its lines broken, and that is all that most
checks write which nobody watches: it is written without rich, whose import takes longer than such a page.

Whatever is written here is text and never markup: names and messages come from packages and logs that nobody trusts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from envdoctor.model.origin import FileOrigin

if TYPE_CHECKING:
    from rich.text import Text

    from envdoctor.render import RenderOptions
    from envdoctor.render.human.drawing import Drawing

__all__ = ["Page", "Span"]

Span: TypeAlias = "str | tuple[str, str] | Text"
"""Text, text with the name of a style, or what ``Page.place`` and ``Page.styled`` return."""

_ASCII = str.maketrans(
    {"…": "...", "–": "-", "—": "-", "‘": "'", "’": "'", "“": '"', "”": '"', "→": "->", "×": "x", "·": "-", "█": "#"}
    | {"✔": "+", "✖": "x", "▲": "!"}
)
_NARROW = re.compile(f"[ -~{''.join(map(chr, _ASCII))}]*")
"""ASCII, and of the rest what we write ourselves."""
_WORD = re.compile(r" *[^ ]+ *")
_TRAILING = re.compile(r"(?: |\x1b\[[0-9;]*m)+$", re.MULTILINE)
_SPACE = re.compile(r"\s+")
_MIN_WIDTH, _MAX_WIDTH = 40, 200
_PROSE = 100
"""Columns of running text: longer lines are hard to read. Tables and trees take what there is."""
_LEAST_ROOM = 8


class Page:
    """Collects what is written, no wider than the terminal."""

    def __init__(self, options: RenderOptions) -> None:
        self.width = max(_MIN_WIDTH, min(options.width, _MAX_WIDTH))
        self.verbose = options.verbose
        self._encoding = "utf-8" if options.unicode else options.encoding
        self._folder = options.folder if options.links else None
        self._prefix = options.folder_shown
        self._colour, self._links = options.colour, options.links
        self._written: list[str] = []
        self._ends_blank = True

    @cached_property
    def _drawing(self) -> Drawing:
        from envdoctor.render.human.drawing import Drawing

        return Drawing(self.width, self._encoding, self._plain, colour=self._colour, links=self._links)

    @property
    def _is_plain(self) -> bool:
        return not (self._colour or self._links)

    def text(self) -> str:
        """Return everything written, with one newline at the end."""
        text = _TRAILING.sub(lambda found: found[0].replace(" ", ""), "".join(self._written))
        return text.strip("\n") + "\n"

    def blank(self) -> None:
        """Leave one empty line, unless there is one."""
        if not self._ends_blank:
            self._written.append("\n")
        self._ends_blank = True

    def line(self, *spans: Span, first: str = "", rest: str | None = None) -> None:
        """Write spans as one paragraph; ``first`` stands before its first line, ``rest`` before the others."""
        rest = " " * self._cells(first) if rest is None else rest
        room = min(self.width, _PROSE) - max(self._cells(first), self._cells(rest))
        text = self.styled(*spans)
        if isinstance(text, str) and room >= _LEAST_ROOM and _NARROW.fullmatch(f"{text}{first}{rest}"):
            between = f"\n{self._plain(rest)}"
            self._write(f"{self._plain(first)}{between.join(_broken(text, room))}\n")
        else:
            self._write(self._drawing.paragraph(text, max(_LEAST_ROOM, room), first, rest))

    def verbatim(self, text: str, first: str = "") -> None:
        """Write a command to copy: one line whatever its length, for a break would change what it does."""
        if self._is_plain and _NARROW.fullmatch(f"{first}{text}"):
            self._write(f"{first}{self._plain(text)}\n")
        else:
            self._write(self._drawing.verbatim(text, first))

    def columns(self, rows: Sequence[Sequence[Span]], indent: int, *, whole: bool = False) -> None:
        """Write rows of cells below each other; a cell that does not fit is wrapped in its column.

        ``whole``: then the cells of each row stand below each other instead, for a wrapped path is none to copy.
        """
        widths = [max(self._cells(self.styled(cell)) for cell in column) for column in zip(*rows, strict=True)]
        if whole and indent + sum(widths) + 2 * (len(widths) - 1) > self.width:
            for row in rows:
                for depth, cell in enumerate(row):
                    self.line(cell, first=" " * (indent + 2 * depth))
            return
        self._write(self._drawing.columns(rows, indent))

    def table(self, names: Sequence[str], rows: Sequence[Sequence[Span]], indent: int) -> None:
        """Write a table with a line below its header."""
        self._write(self._drawing.table(names, rows, indent))

    def fits(self, names: Sequence[str], rows: Sequence[Sequence[Span]], indent: int) -> bool:
        """Return whether a table needs no line to be wrapped."""
        return self._drawing.table_width(names, rows) <= self.width - indent

    def tree(self, label: Sequence[Span], chains: Iterable[Sequence[Span]], indent: int) -> None:
        """Draw chains under one root: each one's first entry is a branch, every further one hangs below it."""
        self._write(self._drawing.tree(label, chains, indent))

    def bar(self, share: float, cells: int) -> str:
        """Return a bar of ``share`` (0 to 1) of ``cells``, at least one."""
        return "█" * max(1, round(share * cells))

    def place(self, origin: object) -> Span:
        """Return where something was written, as a link to the file where the terminal follows links."""
        target = None
        if isinstance(origin, FileOrigin) and origin.elsewhere:
            target = origin.path
        elif self._folder is not None and isinstance(origin, FileOrigin):
            target = (Path(self._folder) / origin.path.removeprefix(self._prefix)).absolute().as_uri()
        return str(origin) if self._is_plain else self._drawing.linked(str(origin), target)

    def styled(self, *spans: Span) -> str | Text:
        """Return spans as one text; every run of white space becomes one space, and addresses become links."""
        if not self._is_plain:
            return self._drawing.text(*spans)
        words = (span if isinstance(span, str) else span[0] for span in spans if not hasattr(span, "plain"))
        return "".join(_SPACE.sub(" ", self._plain(each)) for each in words)

    def cut(self, text: str, cells: int) -> str:
        """Return a text of at most this many cells: its last clauses, or words, give way to dots."""
        text = self._plain(text)
        if self._cells(text) <= cells:
            return text
        kept = ""
        for word in text.split():
            longer = f"{kept} {word}".strip()
            if self._cells(longer) + 4 > cells:
                break
            kept = longer
        clause = max(kept.rfind(mark) for mark in (", ", "; ", ": "))
        if clause > len(kept) // 2:
            kept = kept[:clause]
        return f"{kept.rstrip(',;:')} ..."

    def _plain(self, text: str) -> str:
        if self._encoding == "utf-8" or text.isascii():
            return text
        return text.translate(_ASCII).encode(self._encoding, "backslashreplace").decode(self._encoding)

    def _cells(self, text: str | Text) -> int:
        if not isinstance(text, str):
            return text.cell_len
        if _NARROW.fullmatch(text):
            return len(text)
        from rich.cells import cell_len

        return cell_len(text)

    def _write(self, text: str) -> None:
        self._written.append(text)
        self._ends_blank = False


def _broken(text: str, room: int) -> list[str]:
    """Return the lines of a paragraph, as rich breaks it: before a word, and anywhere in one longer than a line."""
    begins = [0]
    used = 0
    for found in _WORD.finditer(text):
        word, begin = found[0], found.start()
        if used + len(word.rstrip(" ")) <= room:
            used += len(word)
            continue
        longer = len(word.rstrip(" ")) > room
        parts = range(begin, found.end(), room) if longer else (begin,)
        begins.extend(filter(None, parts))
        used = found.end() - parts[-1]
    return [text[begin:end] for begin, end in zip(begins, (*begins[1:], None), strict=True)]
