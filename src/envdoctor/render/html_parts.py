"""What the HTML page is made of: pieces that are escaped already."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

from envdoctor.model.finding import Severity
from envdoctor.render.untrusted import one_line

__all__ = ["FOLD_AT", "SEVERITY_WORDS", "code", "code_of_paths", "listing", "prose", "section", "table", "text_of"]

FOLD_AT = 10
"""Rows from which on a list is folded."""
SEVERITY_WORDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_CODE = re.compile(r"`([^`]+)`")


def text_of(text: str) -> str:
    """Return prose, what stands in backticks as code; each piece keeps its own direction of writing."""
    pieces = _CODE.split(one_line(text))
    return "".join(code(piece) if number % 2 else prose(piece) for number, piece in enumerate(pieces) if piece)


def prose(text: str) -> str:
    """Return words, escaped."""
    return escape(text) if text.isascii() else f"<bdi>{escape(text)}</bdi>"


def code(text: str) -> str:
    """Return code, escaped."""
    direction = "" if text.isascii() else ' dir="auto"'
    return f"<code{direction}>{escape(one_line(text))}</code>"


def code_of_paths(text: str) -> str:
    """Return a long name as code that may be broken where its parts meet, and not inside them."""
    broken = re.sub(r"([-_./])(?=[A-Za-z0-9])", r"\1<wbr>", escape(one_line(text)))
    return f"<code>{broken}</code>"


def listing(items: Iterable[str]) -> str:
    """Return a list of what is HTML already, nothing where it is empty."""
    inner = "".join(f"<li>{item}</li>" for item in items)
    return f"<ul>{inner}</ul>" if inner else ""


def table(caption: str, header: Sequence[str], rows: Sequence[Sequence[str]], *, find: str = "row") -> str:
    """Return a table of cells that are HTML already; the first of a row names it.

    ``find``: what kind of thing a row is, for the filter.
    """
    head = "".join(f'<th scope="col">{name}</th>' for name in header)
    lines = []
    for first, *others in rows:
        # On a phone a row is a block, and a cell says which column it was.
        named = zip(others, header[1:], strict=True)
        cells = "".join(f'<td data-label="{name}">{cell}</td>' if cell else "<td></td>" for cell, name in named)
        lines.append(f'<tr data-find="{find}"><th scope="row">{first}</th>{cells}</tr>')
    body = "\n".join(lines)
    return (
        f'<div class="wide"><table class="stacked"><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody></table></div>"
    )


def section(title: str, body: str, *, folded: bool = False) -> str:
    """Return a section, nothing where it has no body."""
    if not body:
        return ""
    if folded:
        body = f"<details><summary>Show</summary>\n{body}\n</details>"
    return f'<section id="{_id(title)}"><h2>{escape(title)}</h2>\n{body}\n</section>'


def _id(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
