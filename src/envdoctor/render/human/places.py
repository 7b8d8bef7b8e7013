"""Places of a project's files, as they lead there from where the reader stands."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from envdoctor.model.origin import FileOrigin

__all__ = ["seen_from"]

_T = TypeVar("_T")
_NO_PLACE_BELOW = (str, int, float, bool, type(None))


def seen_from(value: _T, prefix: str) -> _T:
    """Return a report, or what is in one, with ``prefix`` before each relative path of a file."""
    return value if not prefix else _moved(value, prefix)


def _moved(value: Any, prefix: str) -> Any:
    if isinstance(value, _NO_PLACE_BELOW):
        return value
    if isinstance(value, tuple):
        return tuple(_moved(item, prefix) for item in value)
    if isinstance(value, FileOrigin):
        included = _moved(value.included_from, prefix)
        whole = value.elsewhere or value.path.startswith("/") or value.path[1:2] == ":"
        return replace(value, path=value.path if whole else f"{prefix}{value.path}", included_from=included)
    if not is_dataclass(value) or isinstance(value, type):
        return value
    found = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
    moved = {name: _moved(item, prefix) for name, item in found.items()}
    changed = {name: item for name, item in moved.items() if item is not found[name] and item != found[name]}
    return replace(value, **changed) if changed else value
