"""A page drawn with rich: text wrapped by cells, tables, trees, sixteen colours, links, and a fallback to ASCII.

Whatever is written here is text and never markup: names and messages come from packages and logs that nobody trusts.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.style import Style
from rich.text import Text
from rich.theme import Theme

from envdoctor.model.origin import FileOrigin

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from envdoctor.render import RenderOptions

__all__ = ["Page", "Span"]

Span: TypeAlias = "str | tuple[str, str] | Text"
"""Text, text with the name of a style, or what ``Page.linked`` returns."""

_THEME = Theme(
    {
        "error": "bold red",
        "warning": "bold yellow",
        "info": "bold cyan",
        "good": "bold green",
        "strong": "bold",
        "dim": "dim",
        "code": "cyan",
    },
)
_ASCII = str.maketrans(
    {"…": "...", "–": "-", "—": "-", "‘": "'", "’": "'", "“": '"', "”": '"', "→": "->", "×": "x", "·": "-", "█": "#"}
    | {"✔": "+", "✖": "x", "▲": "!"}
)
_TRAILING = re.compile(r"(?: |\x1b\[[0-9;]*m)+$", re.MULTILINE)
_SPACE = re.compile(r"\s+")
_WEB = re.compile(r"https?://[!-~]+[\w/]")
_ADDRESS = re.compile(r"(?:https?|file)://[!-~]+")
_MIN_WIDTH, _MAX_WIDTH = 40, 200
_PROSE = 100
"""Columns of running text: longer lines are hard to read. Tables and trees take what there is."""


class Page:
    """Collects what is written, no wider than the terminal."""

    def __init__(self, options: RenderOptions) -> None:
        self.width = max(_MIN_WIDTH, min(options.width, _MAX_WIDTH))
        self.verbose = options.verbose
        self._encoding = "utf-8" if options.unicode else options.encoding
        self._folder = options.folder if options.links else None
        self._prefix = options.folder_shown
        self._links = options.links
        # rich draws boxes and guides as the encoding of its file can show them.
        self._file = io.TextIOWrapper(io.BytesIO(), self._encoding, "replace", newline="\n")
        self._console = Console(
            file=self._file,
            width=self.width,
            height=100,
            theme=_THEME,
            color_system="standard" if options.colour else None,
            force_terminal=options.colour,
            force_interactive=False,
            force_jupyter=False,
            legacy_windows=False,
            markup=False,
            emoji=False,
            highlight=False,
            _environ={},
        )
        self._ends_blank = True

    def text(self) -> str:
        """Return everything written, with one newline at the end."""
        self._file.seek(0)
        return _TRAILING.sub(lambda found: found[0].replace(" ", ""), self._file.read()).strip("\n") + "\n"

    def blank(self) -> None:
        """Leave one empty line, unless there is one."""
        if not self._ends_blank:
            self._console.print()
        self._ends_blank = True

    def line(self, *spans: Span, first: str = "", rest: str | None = None) -> None:
        """Write spans as one paragraph; ``first`` stands before its first line, ``rest`` before the others."""
        rest = " " * cell_len(first) if rest is None else rest
        room = min(self.width, _PROSE) - max(cell_len(first), cell_len(rest))
        lead = first
        for wrapped in self.styled(*spans).wrap(self._console, max(8, room)):
            self._print(Text.assemble(self._plain(lead), wrapped))
            lead = rest

    def verbatim(self, text: str, first: str = "") -> None:
        """Write a command to copy: one line whatever its length, for a break would change what it does."""
        self._print(Text.assemble(first, (self._plain(text), "code")), soft_wrap=True)

    def columns(self, rows: Sequence[Sequence[Span]], indent: int, *, whole: bool = False) -> None:
        """Write rows of cells below each other; a cell that does not fit is wrapped in its column.

        ``whole``: then the cells of each row stand below each other instead, for a wrapped path is none to copy.
        """
        widths = [max(self.styled(cell).cell_len for cell in column) for column in zip(*rows, strict=True)]
        if whole and indent + sum(widths) + 2 * (len(widths) - 1) > self.width:
            for row in rows:
                for depth, cell in enumerate(row):
                    self.line(cell, first=" " * (indent + 2 * depth))
            return
        from rich.table import Table  # with fractions and decimals; most reports have none

        grid = Table.grid(*("" for _ in rows[0]), padding=(0, 2, 0, 0))
        for column in grid.columns:
            column.overflow = "fold"
        for row in rows:
            grid.add_row(*map(self.styled, row))
        self._print(Padding(grid, (0, 0, 0, indent), expand=False))

    def table(self, names: Sequence[str], rows: Sequence[Sequence[Span]], indent: int) -> None:
        """Write a table with a line below its header."""
        table = self._table(names, rows)
        self._print(Padding(table, (0, 0, 0, indent), expand=False))

    def fits(self, names: Sequence[str], rows: Sequence[Sequence[Span]], indent: int) -> bool:
        """Return whether a table needs no line to be wrapped."""
        from rich.measure import Measurement

        measured = Measurement.get(self._console, self._console.options.update(width=1000), self._table(names, rows))
        return measured.maximum <= self.width - indent

    def tree(self, label: Sequence[Span], chains: Iterable[Sequence[Span]], indent: int) -> None:
        """Draw chains under one root: each one's first entry is a branch, every further one hangs below it."""
        from rich.tree import Tree

        tree = Tree(self.styled(*label), guide_style="dim")
        for chain in chains:
            below = tree
            for step in chain:
                below = below.add(self.styled(step))
        self._print(Padding(tree, (0, 0, 0, indent), expand=False))

    def bar(self, share: float, cells: int) -> str:
        """Return a bar of ``share`` (0 to 1) of ``cells``, at least one."""
        return "█" * max(1, round(share * cells))

    def place(self, origin: object) -> Text:
        """Return where something was written, as a link to the file where the terminal follows links."""
        target = None
        if isinstance(origin, FileOrigin) and origin.elsewhere:
            target = origin.path
        elif self._folder is not None and isinstance(origin, FileOrigin):
            target = (Path(self._folder) / origin.path.removeprefix(self._prefix)).absolute().as_uri()
        return self._linked(str(origin), target)

    def _linked(self, text: str, target: str | None) -> Text:
        """Return text that leads to an address, where the terminal follows links and the address is a plain one."""
        found = self.styled((text, "dim"))
        if self._links and target is not None and _ADDRESS.fullmatch(target):
            found.stylize(Style(link=target))
        return found

    def styled(self, *spans: Span) -> Text:
        """Return spans as one text; every run of white space becomes one space, and addresses become links."""
        text = Text()
        for span in spans:
            if isinstance(span, Text):
                text.append_text(span)
            else:
                words, style = (span, "") if isinstance(span, str) else span
                text.append(_SPACE.sub(" ", self._plain(words)), style)
        if self._links:
            for found in _WEB.finditer(text.plain):
                text.stylize(Style(link=found[0]), *found.span())
        return text

    def cut(self, text: str, cells: int) -> str:
        """Return a text of at most this many cells: its last clauses, or words, give way to dots."""
        text = self._plain(text)
        if cell_len(text) <= cells:
            return text
        kept = ""
        for word in text.split():
            longer = f"{kept} {word}".strip()
            if cell_len(longer) + 4 > cells:
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

    def _table(self, names: Sequence[str], rows: Sequence[Sequence[Span]]) -> Table:
        from rich.box import SIMPLE_HEAD
        from rich.table import Table

        table = Table(*names, box=SIMPLE_HEAD, header_style="dim", border_style="dim", show_edge=False, pad_edge=False)
        for column in table.columns:
            column.overflow = "fold"
        for row in rows:
            table.add_row(*map(self.styled, row))
        return table

    def _print(self, what: RenderableType, *, soft_wrap: bool = False) -> None:
        self._console.print(what, soft_wrap=soft_wrap, end="" if isinstance(what, Padding) else "\n")
        self._ends_blank = False
