"""One file against the grammar: every fault with its key path, and what is left without the faulty values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from envdoctor.profile.grammar import Format, Key, Section, SectionKind, Shape, Table, control_characters
from envdoctor.profile.sections import SCHEMA_NUMBER, SECTIONS
from envdoctor.toml_tables import Fault, did_you_mean

__all__ = ["ProfileError", "check_document"]

_TYPES: dict[type, str] = {
    str: "a string",
    bool: "true or false",
    int: "an integer",
    float: "a number",
    list: "a list",
    dict: "a table",
}


_MOST_TOLD = 200
"""Faults of one file that its message tells."""


class ProfileError(Exception):
    """A profile that cannot be used, with every fault that was found in ``source``."""

    def __init__(self, source: str, faults: Iterable[Fault]) -> None:
        self.source = source
        self.faults = tuple(faults)
        super().__init__(source, self.faults)

    def __str__(self) -> str:
        told = [fault.in_file(self.source) for fault in self.faults[:_MOST_TOLD]]
        left = len(self.faults) - len(told)
        return "\n".join([*told, *([f"{self.source}: and {left} more like these"] if left else ())])


def check_document(document: Mapping[str, Any]) -> tuple[dict[str, Any], list[Fault]]:
    """Return the valid part of a parsed profile, with text-or-list values as lists, and every fault of it."""
    check = _Check()
    return check.document(document), check.faults


class _Check:
    def __init__(self) -> None:
        self.faults: list[Fault] = []

    def fault(self, path: str, message: str) -> None:
        self.faults.append(Fault(path, message))

    def document(self, document: Mapping[str, Any]) -> dict[str, Any]:
        self._schema(document)
        clean: dict[str, Any] = {}
        for name, value in document.items():
            section = SECTIONS.get(name)
            if section is not None:
                clean[name] = self._section(name, section, value)
            elif name != "schema":
                self._unknown(name, name, [*SECTIONS, "schema"])
        if "profile" not in document:
            self.fault("profile", "is missing: a profile needs a `[profile]` table with `name` and `summary`")
        return clean

    def _schema(self, document: Mapping[str, Any]) -> None:
        if "schema" not in document:
            self.fault("schema", f"is missing: the first line is `schema = {SCHEMA_NUMBER}`")
        elif type(document["schema"]) is not int or document["schema"] != SCHEMA_NUMBER:
            self.fault("schema", f"must be {SCHEMA_NUMBER}, not `{document['schema']}`")

    def _unknown(self, path: str, key: str, known: list[str]) -> None:
        self.fault(path, f"unknown key `{key}`{did_you_mean(key, known)}")

    def _section(self, name: str, section: Section, value: Any) -> Any:
        if section.kind is SectionKind.ARRAY:
            if not isinstance(value, list):
                self.fault(name, f"must be an array of tables (`[[{name}]]`), not {_called(value)}")
                return []
            return [self._entry(f"{name}[{number}]", section.table, entry) for number, entry in enumerate(value)]
        if not isinstance(value, dict):
            self.fault(name, f"must be a table (`[{name}]`), not {_called(value)}")
            return {}
        if section.kind is SectionKind.MAP:
            return self._map(name, value, section.key_format, section.value_format)
        if section.kind is SectionKind.NAMED:
            named = self._keys_of_map(name, value, section.key_format)
            return {key: self._entry(f"{name}.{key}", section.table, value[key]) for key in named}
        return self._entry(name, section.table, value)

    def _entry(self, path: str, table: Table, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            self.fault(path, f"must be a table, not {_called(value)}")
            return {}
        clean: dict[str, Any] = {}
        for name, item in value.items():
            key = table.keys.get(name)
            if key is None:
                self._unknown(f"{path}.{name}", name, list(table.keys))
                continue
            before = len(self.faults)
            result = self._value(f"{path}.{name}", key, item)
            if len(self.faults) == before:
                clean[name] = result
        for name, key in table.keys.items():
            if key.required and name not in value:
                self.fault(f"{path}.{name}", f"missing required key `{name}`")
        self._combinations(path, table, value)
        return clean

    def _combinations(self, path: str, table: Table, value: Mapping[str, Any]) -> None:
        for group in table.one_of:
            present = [name for name in group if name in value]
            listed = ", ".join(f"`{name}`" for name in group)
            if not present:
                self.fault(path, f"needs one of {listed}")
            for extra in present[1:]:
                self.fault(f"{path}.{extra}", f"cannot stand beside `{present[0]}`: exactly one of {listed}")
        for name, others in (table.together or {}).items():
            for other in others:
                if name in value and other not in value:
                    self.fault(f"{path}.{other}", f"missing key `{other}`, which `{name}` needs")
        for name, owners in (table.only_with or {}).items():
            if name in value and not any(owner in value for owner in owners):
                self.fault(f"{path}.{name}", f"means something only beside {' or '.join(f'`{o}`' for o in owners)}")

    def _value(self, path: str, key: Key, value: Any) -> Any:
        if key.shape is Shape.TABLE:
            return self._entry(path, key.table or Table({}), value)
        if key.shape is Shape.TEXT_MAP:
            if isinstance(value, dict):
                return self._map(path, value, None, key.format)
        elif key.shape in (Shape.BOOLEAN, Shape.INTEGER):
            return self._scalar(path, key.shape, value)
        elif key.shape is Shape.TEXT:
            if isinstance(value, str):
                self._text(path, key, value)
                return value
        elif isinstance(value, list):
            return self._list(path, key, value)
        elif isinstance(value, str) and key.shape is Shape.TEXT_OR_LIST:
            self._text(path, key, value)
            return [value]
        self.fault(path, f"must be {key.shape.value}, not {_called(value)}")
        return None

    def _scalar(self, path: str, shape: Shape, value: Any) -> Any:
        wanted = bool if shape is Shape.BOOLEAN else int
        if type(value) is not wanted:
            self.fault(path, f"must be {shape.value}, not {_called(value)}")
        elif wanted is int and value < 1:
            self.fault(path, f"must be 1 or more, not {value}")
        return value

    def _list(self, path: str, key: Key, values: list[Any]) -> list[str]:
        seen: set[str] = set()
        for number, value in enumerate(values):
            if not isinstance(value, str):
                self.fault(f"{path}[{number}]", f"must be a string, not {_called(value)}")
                continue
            self._text(f"{path}[{number}]", key, value)
            if value in seen:
                self.fault(f"{path}[{number}]", f"`{value}` stands twice in this list")
            seen.add(value)
        return values

    def _map(self, path: str, value: dict[str, Any], keys: Format | None, values: Format | None) -> dict[str, str]:
        for name in self._keys_of_map(path, value, keys):
            if isinstance(value[name], str):
                self._text(f"{path}.{name}", Key("", format=values), value[name])
            else:
                self.fault(f"{path}.{name}", f"must be a string, not {_called(value[name])}: write it in quotes")
        return value

    def _keys_of_map(self, path: str, value: dict[str, Any], keys: Format | None) -> list[str]:
        good = []
        for name in value:
            message = keys.check(name) if keys else None
            if message:
                self.fault(f"{path}.{name}", message)
            else:
                good.append(name)
        return good

    def _text(self, path: str, key: Key, value: str) -> None:
        message = control_characters(value)
        if message is None and key.choices and value not in key.choices:
            listed = ", ".join(f"`{choice}`" for choice in key.choices)
            message = f"must be one of {listed}, not `{value}`{did_you_mean(value, key.choices)}"
        if message is None and key.format is not None:
            message = key.format.check(value)
        if message is not None:
            self.fault(path, message)


def _called(value: Any) -> str:
    return _TYPES.get(type(value), "a date or time")
