"""The line of each key path of a TOML text, found without a second parser."""

from __future__ import annotations

import re
from collections import Counter

__all__ = ["Lines"]

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
