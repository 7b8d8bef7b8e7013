"""What is wrong with a profile, all of it at once."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet

__all__ = ["Fault", "Faults", "ProfileError", "Row", "did_you_mean"]


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault of a profile file."""

    key_path: str
    """``requires[0].because``; empty for the file as a whole."""
    message: str
    line: int | None = None
    """1-based; None where the fault has no line of its own."""

    def __str__(self) -> str:
        return f"`{self.key_path}`: {self.message}" if self.key_path else self.message


class ProfileError(Exception):
    """A profile that cannot be used, with every fault that was found in ``source``."""

    def __init__(self, source: str, faults: Iterable[Fault]) -> None:
        self.source = source
        self.faults = tuple(faults)
        super().__init__(source, self.faults)

    def __str__(self) -> str:
        return "\n".join(
            f"{self.source}:{fault.line}: {fault}" if fault.line else f"{self.source}: {fault}" for fault in self.faults
        )


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ``; did you mean `x`?`` for the nearest of ``known``, or an empty string."""
    close = get_close_matches(word.lower(), sorted(known), n=1, cutoff=0.6)
    return f"; did you mean `{close[0]}`?" if close else ""


class Faults:
    """Collects ``file: key path: what is wrong``."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.found: list[str] = []

    def add(self, path: str, message: str) -> None:
        """Note one fault."""
        self.found.append(f"{self.file}: {path}: {message}")


class Row:
    """One table; keys are taken out one by one, and what is left at the end is a fault."""

    def __init__(self, data: object, path: str, faults: Faults) -> None:
        self.path = path
        self.faults = faults
        self.data: Mapping[str, Any] = {}
        if isinstance(data, Mapping):
            self.data = data
        else:
            faults.add(path, "must be a table")
        self._taken: set[str] = set()

    def fault(self, key: str, message: str) -> None:
        """Note a fault of one key."""
        self.faults.add(f"{self.path}.{key}" if key else self.path, message)

    def has(self, key: str) -> bool:
        """Return whether the key is there."""
        return key in self.data

    def take(self, key: str) -> Any:
        """Return the raw value, None where there is none."""
        self._taken.add(key)
        return self.data.get(key)

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
            self.fault(key, f"`{value}` is not one of {', '.join(known)}{_meant(value, known)}")
            return default or known[0]
        return value

    def choices(self, key: str, known: Iterable[str]) -> frozenset[str]:
        """Return some of ``known``."""
        allowed = tuple(known)
        values = self.texts(key, required=True)
        for value in values:
            if value not in allowed:
                self.fault(key, f"`{value}` is not one of {', '.join(allowed)}{_meant(value, allowed)}")
        return frozenset(values)

    def specifier(self, key: str) -> str:
        """Return a version specifier as text; empty where there is none."""
        value = self.text(key)
        try:
            SpecifierSet(value)
        except InvalidSpecifier:
            self.fault(key, f"`{value}` is not a version specifier")
            return ""
        return value

    def pattern(self, key: str, *, required: bool = False) -> str:
        """Return a regular expression as text."""
        value = self.text(key, required=required)
        try:
            re.compile(value)
        except re.error as error:
            self.fault(key, f"is not a regular expression: {error}")
            return ""
        return value

    def done(self, known: Iterable[str] = ()) -> None:
        """Report keys that nobody took."""
        allowed = {*self._taken, *known}
        for key in self.data:
            if key not in allowed:
                self.fault(key, f"unknown key{_meant(key, sorted(allowed))}")


def _meant(value: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(value, list(known), n=1)
    return f"; did you mean `{close[0]}`?" if close else ""
