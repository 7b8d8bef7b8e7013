"""The JSON Schema of profiles, for editors, from the same grammar that the loader reads by."""

from __future__ import annotations

import json
from typing import Any

from envdoctor.profile.grammar import Format, Key, Section, SectionKind, Shape, Table
from envdoctor.profile.sections import SCHEMA_NUMBER, SECTIONS

__all__ = ["SCHEMA_FILE", "schema", "schema_text"]

SCHEMA_FILE = "profile.schema.json"
"""Its name beside the shipped profiles."""


def schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a profile's TOML.

    It says what one value can show; what holds between entries (duplicates, contradictions), PEP 508 in full and what
    a base profile supplies is for ``envdoctor profiles validate``.
    """
    properties = {name: _section(section) for name, section in SECTIONS.items()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "envdoctor profile",
        "description": "One stack on one kind of target",
        "type": "object",
        "properties": {"schema": {"const": SCHEMA_NUMBER}, **properties},
        "required": ["schema", "profile"],
        "additionalProperties": False,
        "if": {
            "properties": {
                "profile": {
                    "type": "object",
                    "not": {"anyOf": [{"required": ["extends"]}, {"required": ["abstract"]}]},
                }
            }
        },
        "then": {
            "required": ["target"],
            "properties": {"target": {"required": ["os", "arch", "python", "backend"]}},
        },
    }


def schema_text() -> str:
    """Return the text of the schema file that is shipped beside the profiles."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def _section(section: Section) -> dict[str, Any]:
    about: dict[str, Any] = {"description": section.doc}
    if section.kind is SectionKind.ARRAY:
        return {**about, "type": "array", "items": _table(section.table)}
    if section.kind is SectionKind.TABLE:
        return {**about, **_table(section.table)}
    inner = _table(section.table) if section.kind is SectionKind.NAMED else _text(section.value_format)
    return {**about, "type": "object", **_names(section.key_format), "additionalProperties": inner}


def _names(names: Format | None) -> dict[str, Any]:
    return {"propertyNames": {"pattern": names.pattern}} if names and names.pattern else {}


def _table(table: Table) -> dict[str, Any]:
    described: dict[str, Any] = {
        "type": "object",
        "properties": {name: {"description": key.doc, **_key(key)} for name, key in table.keys.items()},
        "additionalProperties": False,
    }
    required = [name for name, key in table.keys.items() if key.required]
    if required:
        described["required"] = required
    groups = [{"oneOf": [{"required": [name]} for name in group]} for group in table.one_of]
    needs_one = [
        {"if": {"required": [name]}, "then": {"anyOf": [{"required": [owner]} for owner in owners]}}
        for name, owners in (table.only_with or {}).items()
    ]
    if groups or needs_one:
        described["allOf"] = [*groups, *needs_one]
    if table.together:
        described["dependentRequired"] = {name: list(others) for name, others in table.together.items()}
    return described


def _text(format_: Format | None, choices: tuple[str, ...] = ()) -> dict[str, Any]:
    if choices:
        return {"enum": list(choices)}
    return {"type": "string", "pattern": format_.pattern} if format_ and format_.pattern else {"type": "string"}


def _key(key: Key) -> dict[str, Any]:
    text = _text(key.format, key.choices)
    many = {"type": "array", "items": text, "uniqueItems": True}
    shapes: dict[Shape, dict[str, Any]] = {
        Shape.TEXT: text,
        Shape.TEXT_LIST: many,
        Shape.TEXT_OR_LIST: {"anyOf": [text, many]},
        Shape.TEXT_MAP: {"type": "object", "additionalProperties": text},
        Shape.BOOLEAN: {"type": "boolean"},
        Shape.INTEGER: {"type": "integer", "minimum": 1},
    }
    return _table(key.table) if key.table is not None else shapes[key.shape]
