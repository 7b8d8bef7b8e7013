"""The pieces that a profile's grammar is written in; the loader and the JSON Schema are both driven by them."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass

__all__ = ["Format", "Key", "Section", "SectionKind", "Shape", "Table"]


class Shape(enum.Enum):
    """The TOML form of a value."""

    TEXT = "a string"
    TEXT_LIST = "a list of strings"
    TEXT_OR_LIST = "a string or a list of strings"
    TEXT_MAP = "a table of strings"
    BOOLEAN = "true or false"
    INTEGER = "an integer"
    TABLE = "a table"


@dataclass(frozen=True, slots=True)
class Format:
    """What a string must look like."""

    name: str
    check: Callable[[str], str | None]
    """Return what is wrong with a value, or None."""
    pattern: str | None = None
    """A regular expression (ECMA 262) that says as much of it as one can, for the JSON Schema."""


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a table."""

    doc: str
    shape: Shape = Shape.TEXT
    required: bool = False
    format: Format | None = None
    choices: tuple[str, ...] = ()
    table: Table | None = None
    """The grammar of a value that is a table."""


@dataclass(frozen=True, slots=True)
class Table:
    """The keys of a table, and which of them exclude each other."""

    keys: Mapping[str, Key]
    one_of: tuple[tuple[str, ...], ...] = ()
    """Groups of keys of which exactly one must be there."""
    together: Mapping[str, tuple[str, ...]] | None = None
    """Keys that need others beside them."""
    only_with: Mapping[str, tuple[str, ...]] | None = None
    """Keys that mean something only beside one of others."""


class SectionKind(enum.Enum):
    """How a section stands in the file."""

    TABLE = "table"
    ARRAY = "array of tables"
    NAMED = "tables by name"
    MAP = "table of strings"


@dataclass(frozen=True, slots=True)
class Section:
    """One section of a profile."""

    kind: SectionKind
    doc: str
    table: Table = Table({})
    identity: str | None = None
    """The key by which an entry of an array is known, and by which a child profile may remove it."""
    key_format: Format | None = None
    """What the names in a map or of named tables must look like."""
    value_format: Format | None = None
