"""A requirements file's physical lines into the lines that pip sees.

The rules are those of pip's documentation, "Requirements File Format": a backslash at the end joins lines, a comment
starts with ``#`` at the line's start or after white space, and ``${NAME}`` stands for an environment variable.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

__all__ = ["LogicalLine", "expand", "logical_lines", "without_comment"]

_VARIABLE = re.compile(r"\$\{([A-Z0-9_]+)\}")


@dataclass(frozen=True, slots=True)
class LogicalLine:
    """A joined line without its comment; ``number`` is that of its first physical line, from 1."""

    number: int
    text: str


def logical_lines(text: str) -> Iterator[LogicalLine]:
    """Yield the lines that say something."""
    start = 0
    parts: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        comment_only = line.lstrip().startswith("#")
        start = start or number
        if line.endswith("\\") and not comment_only:
            parts.append(line.strip("\\"))
            continue
        # A comment that ends a continuation must stay apart from what it follows.
        parts.append(f" {line}" if comment_only else line)
        yield from _finished(start, parts)
        start, parts = 0, []
    if parts:
        yield from _finished(start, parts)


def _finished(number: int, parts: list[str]) -> Iterator[LogicalLine]:
    text = without_comment("".join(parts)).strip()
    if text:
        yield LogicalLine(number, text)


def without_comment(line: str) -> str:
    """Cut a comment off: ``#`` at the start or after white space, so that ``#egg=`` of a URL stays."""
    at = line.find("#")
    while at >= 0:
        if at == 0 or line[at - 1].isspace():
            return line[:at].rstrip()
        at = line.find("#", at + 1)
    return line


def expand(line: str, variables: Mapping[str, str]) -> tuple[str, tuple[str, ...]]:
    """Replace ``${NAME}``; return the line and the names that are not set, which stay as they are, as with pip."""
    missing: list[str] = []

    def value(match: re.Match[str]) -> str:
        found = variables.get(match.group(1))
        if found:
            return found
        missing.append(match.group(1))
        return match.group(0)

    return _VARIABLE.sub(value, line), tuple(missing)
