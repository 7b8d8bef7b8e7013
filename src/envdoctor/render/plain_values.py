"""Documents in JSON beside the report: each names its schema, and holds plain values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

__all__ = ["document", "plain"]


def document(kind: str, **values: Any) -> str:
    """Return a document with the schema ``envdoctor.KIND/1`` as text that ends with a newline."""
    return json.dumps({"schema": f"envdoctor.{kind}/1", **values}, indent=2, ensure_ascii=False) + "\n"


def plain(value: Any) -> Any:
    """Return a value of the model as JSON has it: tables for dataclasses, their words for versions and requirements."""
    if value is None or isinstance(value, str | bool | int | float):
        return value.value if isinstance(value, Enum) else value
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list | set | frozenset):
        return [plain(item) for item in (sorted(value) if isinstance(value, set | frozenset) else value)]
    if is_dataclass(value) and type(value).__str__ is object.__str__:
        return {item.name: plain(getattr(value, item.name)) for item in fields(value)}
    return str(value)
