"""Sections and options, as ``configparser`` reads them, in a time that grows as the text does."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from configparser import RawConfigParser

__all__ = ["read_ini"]

_LONG_BLANKS = re.compile(r"(?<=\S)[^\S\n]{100,}(?=\S)")


def read_ini(parser: RawConfigParser, text: str) -> None:
    """Read a text into a parser. Raises ``configparser.Error``.

    For a run of blanks within a line ``configparser`` takes its square in time; it counts as one.
    """
    parser.read_string(_LONG_BLANKS.sub(" ", text))
