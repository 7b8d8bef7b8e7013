"""Pages that are no reports: a list of names, a page of documentation, lines below titles."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from envdoctor.render import RenderOptions
from envdoctor.render.human.console import Page, Span
from envdoctor.render.untrusted import clean

__all__ = ["document", "listing", "outline"]

_CODE = re.compile(r"`([^`]+)`")
_ROOM = 36
"""Columns that a sentence needs beside a name."""
_AS_ABOVE = "as above"
_SEVERITIES = ("error", "warning", "info")


def listing(rows: Sequence[Sequence[str]], options: RenderOptions) -> str:
    """Return rows in columns: a name first, what it is last and wrapped; below each other where there is no room.

    A sentence that the row above has already is not told again.
    """
    page = Page(options)
    rows = [
        (*row[:-1], _AS_ABOVE if above and row[-1] == above[-1] else row[-1])
        for row, above in zip(rows, ((), *rows), strict=False)
    ]
    before_last = sum(max(map(len, column)) + 2 for column in list(zip(*rows, strict=True))[:-1])
    told = [((clean(row[0]), "strong"), *map(_styled, row[1:-1]), page.styled(*_spans(clean(row[-1])))) for row in rows]
    if page.width - before_last >= _ROOM:
        page.columns(told, 0)
        return page.text()
    for *cells, last in told:
        page.line(*(part for cell in cells for part in (cell, "  ")), rest="    ")
        page.line(last, first="    ")
    return page.text()


def _styled(cell: str) -> Span:
    return (clean(cell), cell if cell in _SEVERITIES else "dim")


def outline(text: str, options: RenderOptions) -> str:
    """Return lines as they are indented, wrapped; those that others stand below are titles."""
    page = Page(options)
    lines = clean(text).splitlines()
    for line, after in zip(lines, (*lines[1:], ""), strict=True):
        words = line.lstrip(" ")
        indent = " " * (len(line) - len(words))
        if not words:
            page.blank()
        elif not indent and after.startswith(" "):
            page.line((words, "strong"))
        else:
            page.line(*_spans(words), first=indent, rest=f"{indent}  ")
    return page.text()


def document(markdown: str, options: RenderOptions) -> str:
    """Return Markdown with headings, paragraphs, lists and code as a page."""
    page = Page(options)
    paragraph: list[str] = []
    fenced = False
    for line in [*clean(markdown).splitlines(), ""]:
        fence = line.startswith("```")
        if paragraph and (fence or not line.strip() or line.startswith(("- ", "#"))):
            item = paragraph[0].startswith("- ")
            page.line(*_spans(" ".join(paragraph)[2 * item :]), first="  - " if item else "  ")
            paragraph = []
        if fence:
            fenced = not fenced
        elif fenced or (line.startswith("    ") and not paragraph):
            page.verbatim(line.strip() if not fenced else line, "    ")
        elif line.startswith("#"):
            page.blank()
            page.line((line.lstrip("# "), "strong"))
        elif not line.strip():
            page.blank()
        else:
            paragraph.append(line.strip())
    return page.text()


def _spans(text: str) -> Iterator[Span]:
    """Yield text with what stands between backticks as code; the backticks stay, for pages without colour."""
    for number, part in enumerate(_CODE.split(text)):
        if part:
            yield (f"`{part}`", "code") if number % 2 else part
