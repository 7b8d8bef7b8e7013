"""The pieces that a profile's grammar is written in; the loader and the JSON Schema are both driven by them."""

from __future__ import annotations

import ast
import enum
import ipaddress
import re
from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet

from envdoctor.model.dataclass import dataclass
from envdoctor.model.requirement import endless_number

__all__ = [
    "CONDITION",
    "DOTTED",
    "DOTTED_VERSION",
    "EXPRESSION",
    "GPU_ARCHITECTURE",
    "PACKAGE",
    "PATH",
    "PROFILE_NAME",
    "REQUIREMENT",
    "SLUG",
    "SLUG_DOTTED",
    "SOURCE_CODE",
    "SPECIFIER",
    "TEXT",
    "URL",
    "VALUE",
    "VARIABLE",
    "Format",
    "Key",
    "Section",
    "SectionKind",
    "Shape",
    "Table",
    "control_characters",
]


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


_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_PACKAGE = r"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$"
# Relative, forward slashes, no drive letter, no `..` component: the same rule as the check below, for editors.
_PATH = r"^(?!/)(?!~)(?![A-Za-z]:)(?!(.*/)?\.\.(/|$))[^\\\u0000-\u001f]+$"
_URL = r"^(https://|file://|http://(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?(/|$))"


def control_characters(value: str) -> str | None:
    """Return a fault where a text holds control characters other than tab and newline."""
    return "must not hold control characters" if _CONTROL.search(value) else None


def _text(value: str) -> str | None:
    return None if value.strip() else "must not be empty"


def _matching(pattern: str, wanted: str) -> Format:
    compiled = re.compile(pattern)
    return Format(wanted, lambda value: None if compiled.search(value) else f"`{value}` is not {wanted}", pattern)


_ENDLESS = "it has a number of more than 200 digits"


def _requirement(value: str) -> str | None:
    if endless_number(value):
        return _ENDLESS
    try:
        requirement = Requirement(value)
    except InvalidRequirement as error:
        return f"`{value}` is not a PEP 508 requirement: {_first_line(error)}"
    return _url(requirement.url) if requirement.url else None


def _condition(value: str) -> str | None:
    if endless_number(value):
        return _ENDLESS
    try:
        requirement = Requirement(value)
    except InvalidRequirement as error:
        return f"`{value}` is not a condition such as `torch>=2.6`: {_first_line(error)}"
    if requirement.url or requirement.marker or requirement.extras:
        return f"`{value}` is not a condition such as `torch>=2.6`"
    return None


def _specifier(value: str) -> str | None:
    if endless_number(value):
        return _ENDLESS
    try:
        SpecifierSet(value)
    except InvalidSpecifier:
        return f"`{value}` is not a PEP 440 version specifier such as `>=3.10,<3.12`"
    return None if value.strip() else "must not be empty"


def _path(value: str) -> str | None:
    if not value.strip():
        return "must not be empty"
    if "\\" in value:
        return f"`{value}` must be written with forward slashes"
    if re.match(r"[A-Za-z]:", value):
        return f"`{value}` must not name a drive"
    if value.startswith(("/", "~")):
        return f"`{value}` must be relative"
    if ".." in value.split("/"):
        return f"`{value}` must not leave its folder (`..`)"
    return None


def _loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _url(value: str) -> str | None:
    try:
        parts = urlsplit(value)
        host = parts.hostname or ""
    except ValueError:
        return f"`{value}` is not a URL"
    scheme = parts.scheme.lower()
    if scheme == "file" or (scheme == "http" and _loopback(host)) or (scheme.split("+")[-1] == "https" and host):
        return None
    return f"`{value}` must be an https URL (file and loopback URLs are allowed too)"


def _parses(mode: str, what: str) -> Format:
    def check(value: str) -> str | None:
        try:
            ast.parse(value.strip() if mode == "eval" else value, mode=mode)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            return f"is not {what}: {_first_line(error)}"
        return None if value.strip() else "must not be empty"

    return Format(what, check)


def _value(value: str) -> str | None:
    return "must be on one line" if "\n" in value else None


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__


TEXT = Format("text", _text, r"\S")
VALUE = Format("a value on one line", _value, r"^[^\n]*$")
REQUIREMENT = Format("a PEP 508 requirement", _requirement, r"^\s*[A-Za-z0-9]")
CONDITION = Format("a condition such as `torch>=2.6`", _condition, r"^\s*[A-Za-z0-9][^;@\[\]]*$")
SPECIFIER = Format("a PEP 440 version specifier", _specifier, r"^\s*(===|==|!=|~=|<=|>=|<|>)")
PATH = Format("a relative path", _path, _PATH)
URL = Format("an https URL", _url, _URL)
PACKAGE = _matching(_PACKAGE, "a project name")
PROFILE_NAME = _matching(r"^[a-z0-9]+(-[a-z0-9]+)*$", "a profile name (lower-case words joined by `-`)")
SLUG = _matching(r"^[a-z0-9]+(-[a-z0-9]+)*$", "a name of lower-case words joined by `-`")
SLUG_DOTTED = _matching(r"^[a-z0-9]+(\.[a-z0-9]+)*$", "a local version label such as `cu118`")
VARIABLE = _matching(r"^[A-Za-z_][A-Za-z0-9_]*$", "the name of an environment variable")
DOTTED = _matching(r"^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$", "a dotted Python name")
DOTTED_VERSION = _matching(r"^[0-9]{1,6}\.[0-9]{1,6}$", "a version such as `3.11`")
GPU_ARCHITECTURE = _matching(r"^(sm_[0-9]+[a-z]?|gfx[0-9a-f]+)$", "a GPU architecture such as `sm_110` or `gfx1030`")
EXPRESSION = _parses("eval", "a Python expression")
SOURCE_CODE = _parses("exec", "Python source")
