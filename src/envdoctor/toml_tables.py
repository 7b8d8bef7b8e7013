"""One strict reader of TOML: tables whose values are taken by type, and faults with their key paths and lines."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

import tomli
from packaging.specifiers import SpecifierSet

from envdoctor.model.dataclass import dataclass
from envdoctor.toml_lines import Lines

__all__ = ["Document", "Fault", "Faults", "Table", "TomlError", "did_you_mean", "read_toml"]

_POSITION = re.compile(r"(?<!\s)\s*\(at (?:line (\d+), column \d+|end of document)\)$")


class TomlError(ValueError):
    """A text that is no TOML."""

    def __init__(self, message: str, text: str = "", *, too_deep: bool = False) -> None:
        super().__init__(message)
        self.reason = _POSITION.sub("", message)
        self.too_deep = too_deep
        found = _POSITION.search(message)
        self.line = (int(found[1]) if found[1] else text.count("\n") + 1) if found else None


def read_toml(text: str) -> dict[str, Any]:
    """Return the tables of a text, a byte order mark left aside. Raises TomlError, with the line where it is known."""
    try:
        return tomli.loads(text.removeprefix("\ufeff"))
    except RecursionError:
        raise TomlError("nested too deeply", too_deep=True) from None
    except ValueError as error:  # a number of thousands of digits is none of the parser's own errors
        raise TomlError(str(error), text) from None


@dataclass(frozen=True, slots=True)
class Fault:
    """One mistake in a file that somebody wrote for us."""

    key_path: str
    """``requires[0].because``; empty for the file as a whole."""
    message: str
    line: int | None = None
    """1-based; None where the fault has no line of its own."""

    def __str__(self) -> str:
        return f"`{self.key_path}`: {self.message}" if self.key_path else self.message

    def in_file(self, source: str) -> str:
        """Return ``file:line: `key path`: what is wrong``."""
        return f"{source}:{self.line}: {self}" if self.line else f"{source}: {self}"

    def placed(self, lines: Lines) -> Fault:
        """Return the fault with the line of its key path, or of the nearest table around it."""
        return replace(self, line=self.line or lines.of_text(self.key_path))


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ``; did you mean `x`?`` for the nearest of ``known``, or an empty string."""
    close = get_close_matches(word.lower(), sorted(known), n=1, cutoff=0.6)
    return f"; did you mean `{close[0]}`?" if close else ""


class Faults:
    """Collects all faults of one document; ``source`` is how its file is called in them.

    ``tried``: regular expressions of this one are known to be some; a try costs more than all the rest of the reading.
    """

    def __init__(self, source: str, lines: Lines | None = None, *, tried: bool = False) -> None:
        self.source = source
        self.tried = tried
        self.found: list[Fault] = []
        self._lines = lines

    def add(self, key_path: str, message: str) -> None:
        """Note one fault."""
        fault = Fault(key_path, message)
        self.found.append(fault.placed(self._lines) if self._lines is not None else fault)

    def texts(self) -> list[str]:
        """Return each as ``file:line: `key path`: what is wrong``."""
        return [fault.in_file(self.source) for fault in self.found]


class Document:
    """A text as tables, and the faults that are found in it."""

    def __init__(self, text: str, source: str) -> None:
        """Parse. Raises TomlError."""
        self.data = read_toml(text)
        self.lines = Lines(text)
        self.faults = Faults(source, self.lines)

    def table(self, *path: str) -> Table:
        """Return a table, empty where it is missing; a fault where something else stands there."""
        data: object = self.data
        for key in path:
            data = data.get(key, {}) if isinstance(data, Mapping) else data
        return Table(data, ".".join(path), self.faults)


class Table:
    """A table of a document; keys are taken out one by one, and what is left at the end is a fault."""

    def __init__(self, data: object, path: str, faults: Faults) -> None:
        self.path = path
        self.faults = faults
        self.data: Mapping[str, Any] = {}
        if isinstance(data, Mapping):
            self.data = data
        else:
            faults.add(path, "must be a table")
        self._taken: dict[str, None] = {}

    def fault(self, key: str, message: str) -> None:
        """Note a fault of one key."""
        self.faults.add(self._path_of(key), message)

    def has(self, key: str) -> bool:
        """Return whether the key is there."""
        return key in self.data

    def take(self, key: str) -> Any:
        """Return the raw value, None where there is none."""
        self._taken[key] = None
        return self.data.get(key)

    def tables(self, key: str) -> tuple[Table, ...]:
        """Return the tables of a list, none where there is none."""
        value = self.take(key)
        if value is not None and not isinstance(value, list):
            self.fault(key, "must be a list of tables")
            return ()
        return tuple(Table(data, f"{self._path_of(key)}[{at}]", self.faults) for at, data in enumerate(value or ()))

    def text(self, key: str, default: str = "", *, required: bool = False) -> str:
        """Return a string."""
        value = self.take(key)
        if value is None:
            if required:
                self.fault(key, "is missing")
            return default
        if not isinstance(value, str) or (required and not value.strip()):
            self.fault(key, "must be a string that says something")
            return default
        return value

    def texts(self, key: str, *, required: bool = False) -> tuple[str, ...]:
        """Return strings; a single string counts as a list of one."""
        value = self.take(key)
        if isinstance(value, str):
            value = [value]
        if value is None and not required:
            return ()
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value) or (required and not value):
            self.fault(key, "must be a string or a list of strings")
            return ()
        return tuple(value)

    def flag(self, key: str, *, default: bool) -> bool:
        """Return a boolean."""
        value = self.take(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            self.fault(key, "must be true or false")
            return default
        return value

    def number(self, key: str, default: int) -> int:
        """Return an integer."""
        value = self.take(key)
        if value is None:
            return default
        if not isinstance(value, int) or isinstance(value, bool):
            self.fault(key, "must be an integer")
            return default
        return value

    def choice(self, key: str, choices: Iterable[str], default: str = "") -> str:
        """Return one of ``choices``."""
        value = self.text(key, default, required=not default)
        known = tuple(choices)
        if value and value not in known:
            self.fault(key, f"`{value}` is not one of {', '.join(known)}{did_you_mean(value, known)}")
            return default or known[0]
        # One that is missing is a fault, and what is made of the row is not used.
        return value or known[0]

    def choices(self, key: str, known: Iterable[str]) -> frozenset[str]:
        """Return some of ``known``."""
        allowed = tuple(known)
        values = self.texts(key, required=True)
        for value in values:
            if value not in allowed:
                self.fault(key, f"`{value}` is not one of {', '.join(allowed)}{did_you_mean(value, allowed)}")
        return frozenset(values)

    def specifier(self, key: str) -> str:
        """Return a version specifier as text; empty where there is none."""
        value = self.text(key)
        try:
            # Some numbers are only read, and refused, where something is compared with them.
            SpecifierSet(value).contains("1")
        except ValueError:
            self.fault(key, f"`{value}` is not a version specifier")
            return ""
        return value

    def pattern(self, key: str, *, required: bool = False) -> str:
        """Return a regular expression as text."""
        value = self.text(key, required=required)
        if self.faults.tried:
            return value
        try:
            re.compile(value)
        except re.error as error:
            self.fault(key, f"is not a regular expression: {error}")
            return ""
        except (RecursionError, OverflowError, ValueError):
            self.fault(
                key, "is not a regular expression that can be used: it is nested too deeply, or a number is too large"
            )
            return ""
        if _may_not_end(value):
            self.fault(key, f"`{value}` may take for ever: one repetition without an end stands in another; bound one")
            return ""
        return value

    def done(self) -> None:
        """Report keys that nobody took."""
        for key in self.data:
            if key not in self._taken:
                known = f"; known keys: {', '.join(self._taken)}"
                self.fault(key, f"unknown key{did_you_mean(key, self._taken) or known}")

    def _path_of(self, key: str) -> str:
        """Return the path of a key; a document's own table has none."""
        return f"{self.path}.{key}" if self.path and key else self.path or key


def _may_not_end(pattern: str) -> bool:
    """Return whether a repetition without an end stands in another: some texts take such a one years to refuse."""
    parser: Any = importlib.import_module("re._parser" if sys.version_info >= (3, 11) else "sre_parse")

    def nested(parsed: Any, repeated: bool) -> bool:
        for operation, value in parsed:
            endless = str(operation) in ("MAX_REPEAT", "MIN_REPEAT") and value[1] is parser.MAXREPEAT
            if endless and repeated:
                return True
            if any(nested(part, repeated or endless) for part in _parts(value, parser.SubPattern)):
                return True
        return False

    return nested(parser.parse(pattern), repeated=False)


def _parts(value: Any, kind: type) -> Iterator[Any]:
    """Yield the patterns inside of what an operation of a pattern holds."""
    if isinstance(value, kind):
        yield value
    elif isinstance(value, tuple | list):
        for each in value:
            yield from _parts(each, kind)
