"""What rich draws on a page: colours, links, tables, trees, and text whose letters are not all one cell wide."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.style import Style
from rich.table import Table
from rich.text import Text
from rich.theme import Theme

__all__ = ["Drawing"]

_Span: TypeAlias = "str | tuple[str, str] | Text"
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
_SPACE = re.compile(r"\s+")
_WEB = re.compile(r"https?://[!-~]+[\w/]")
_ADDRESS = re.compile(r"(?:https?|file)://[!-~]+")


class Drawing:
    """Draws one thing after the other, no wider than the page."""

    def __init__(self, width: int, encoding: str, encoded: Callable[[str], str], *, colour: bool, links: bool) -> None:
        self._encoding = encoding
        self._encoded = encoded
        self._links = links
        self._console = Console(
            # rich draws boxes and guides as the encoding of its file can show them.
            file=io.TextIOWrapper(io.BytesIO(), encoding),
            width=width,
            height=100,
            theme=_THEME,
            color_system="standard" if colour else None,
            force_terminal=colour,
            force_interactive=False,
            force_jupyter=False,
            legacy_windows=False,
            markup=False,
            emoji=False,
            highlight=False,
            _environ={},
        )

    def text(self, *spans: _Span) -> Text:
        """Return spans as one text; every run of white space becomes one space, and addresses become links."""
        text = Text()
        for span in spans:
            if isinstance(span, Text):
                text.append_text(span)
            else:
                words, style = (span, "") if isinstance(span, str) else span
                text.append(_SPACE.sub(" ", self._encoded(words)), style)
        if self._links:
            for found in _WEB.finditer(text.plain):
                text.stylize(Style(link=found[0]), *found.span())
        return text

    def linked(self, text: str, target: str | None) -> Text:
        """Return text that leads to an address, where the terminal follows links and the address is a plain one."""
        found = self.text((text, "dim"))
        if self._links and target is not None and _ADDRESS.fullmatch(target):
            found.stylize(Style(link=target))
        return found

    def paragraph(self, text: str | Text, room: int, first: str, rest: str) -> str:
        """Return text wrapped; ``first`` stands before the first line, ``rest`` before the others."""
        drawn: list[str] = []
        for line in self.text(text).wrap(self._console, room):
            drawn.append(self._drawn(Text.assemble(self._encoded(rest if drawn else first), line)))
        return "".join(drawn)

    def verbatim(self, text: str, first: str) -> str:
        """Return one line, whatever its length."""
        return self._drawn(Text.assemble(first, (self._encoded(text), "code")), soft_wrap=True)

    def columns(self, rows: Sequence[Sequence[_Span]], indent: int) -> str:
        """Return rows of cells below each other; a cell that does not fit is wrapped in its column."""
        from rich.table import Table  # with fractions and decimals; most reports have none

        return self._below(self._filled(Table.grid(*("" for _ in rows[0]), padding=(0, 2, 0, 0)), rows), indent)

    def table(self, names: Sequence[str], rows: Sequence[Sequence[_Span]], indent: int) -> str:
        """Return a table with a line below its header."""
        return self._below(self._table(names, rows), indent)

    def table_width(self, names: Sequence[str], rows: Sequence[Sequence[_Span]]) -> int:
        """Return the cells of a table none of whose lines is wrapped."""
        from rich.measure import Measurement

        return Measurement.get(
            self._console, self._console.options.update(width=1000), self._table(names, rows)
        ).maximum

    def tree(self, label: Sequence[_Span], chains: Iterable[Sequence[_Span]], indent: int) -> str:
        """Return chains under one root: each one's first entry is a branch, every further one hangs below it."""
        from rich.tree import Tree

        tree = Tree(self.text(*label), guide_style="dim")
        for chain in chains:
            below = tree
            for step in chain:
                below = below.add(self.text(step))
        return self._below(tree, indent)

    def _table(self, names: Sequence[str], rows: Sequence[Sequence[_Span]]) -> Table:
        from rich.box import SIMPLE_HEAD
        from rich.table import Table

        table = Table(*names, box=SIMPLE_HEAD, header_style="dim", border_style="dim", show_edge=False, pad_edge=False)
        return self._filled(table, rows)

    def _filled(self, table: Table, rows: Sequence[Sequence[_Span]]) -> Table:
        for column in table.columns:
            column.overflow = "fold"
        for row in rows:
            table.add_row(*map(self.text, row))
        return table

    def _below(self, what: RenderableType, indent: int) -> str:
        return self._drawn(Padding(what, (0, 0, 0, indent), expand=False), end="")

    def _drawn(self, what: RenderableType, *, soft_wrap: bool = False, end: str = "\n") -> str:
        with self._console.capture() as captured:
            self._console.print(what, soft_wrap=soft_wrap, end=end)
        return captured.get().encode(self._encoding, "replace").decode(self._encoding)
