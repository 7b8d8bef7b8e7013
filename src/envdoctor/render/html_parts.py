"""What the HTML page is made of: escaped pieces, and the style sheet.

Its contrast is at least 4.5 to 1 (WCAG 2.2 AA) in both colour schemes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

from envdoctor.render.untrusted import one_line

__all__ = ["STYLE", "code", "listing", "prose", "section", "table", "text_of"]

_CODE = re.compile(r"`([^`]+)`")

STYLE = """\
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --soft: #f2f4f7; --line: #c4cad2;
  --error: #b3181e; --warning: #855300; --info: #0b5cad; --good: #116b32; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8eaed; --paper: #16191d; --soft: #23282e; --line: #4a525c;
  --error: #ff8a85; --warning: #f0b95a; --info: #7db8f5; --good: #6fd08c; } }
body { font: 1rem/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-inline-size: 60rem; margin: 0 auto; padding: 1rem; overflow-wrap: anywhere; }
header { border-block-end: 4px solid var(--line); }
header.healthy { border-color: var(--good); }
header.degraded, header.unknown { border-color: var(--warning); }
header.broken { border-color: var(--error); }
h1 { font-size: 1.6rem; } h2 { font-size: 1.25rem; margin-block-start: 2rem; } h3 { font-size: 1rem; margin: 0; }
article { border: 1px solid var(--line); border-inline-start: 6px solid var(--line); padding: .6rem .9rem;
  margin-block: .7rem; }
article.error { border-inline-start-color: var(--error); }
article.warning { border-inline-start-color: var(--warning); }
article.info { border-inline-start-color: var(--info); }
p, ul { margin-block: .4rem; }
code, pre { font-family: ui-monospace, monospace; font-size: .92em; background: var(--soft); }
code { padding: 0 .2em; } pre { padding: .6rem; overflow-x: auto; white-space: pre-wrap; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; inline-size: 100%; }
caption { text-align: start; padding-block: .3rem; }
th, td { border-block-end: 1px solid var(--line); padding: .3rem .6rem; text-align: start; vertical-align: top; }
tbody th { font-weight: normal; }
.bar { display: inline-block; block-size: .7em; background: var(--info); }
.good { color: var(--good); } .bad { color: var(--error); font-weight: bold; }
summary { cursor: pointer; }
@media print { details > * { display: block; } }
"""


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


def listing(items: Iterable[str]) -> str:
    """Return a list of what is HTML already, nothing where it is empty."""
    inner = "".join(f"<li>{item}</li>" for item in items)
    return f"<ul>{inner}</ul>" if inner else ""


def table(caption: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table of cells that are HTML already; the first of a row names it."""
    head = "".join(f'<th scope="col">{name}</th>' for name in header)
    lines = []
    for first, *others in rows:
        cells = "".join(f"<td>{cell}</td>" for cell in others)
        lines.append(f'<tr><th scope="row">{first}</th>{cells}</tr>')
    body = "\n".join(lines)
    return (
        f'<div class="wide"><table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody></table></div>"
    )


def section(title: str, body: str, *, folded: bool = False) -> str:
    """Return a section, nothing where it has no body."""
    if not body:
        return ""
    if folded:
        body = f"<details><summary>Show</summary>\n{body}\n</details>"
    return f"<section><h2>{escape(title)}</h2>\n{body}\n</section>"
