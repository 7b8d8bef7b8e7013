"""What is wrong with an entry of another tool's lock: damage is said, and nothing is made of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from packaging.markers import InvalidMarker, Marker
from packaging.utils import NormalizedName, canonicalize_name

__all__ = ["OWN_SOURCES", "entry_damage", "is_elsewhere", "pinned_damage"]

OWN_SOURCES = ("editable", "virtual", "directory")
"""Sources of uv that are folders of the project itself."""
_KINDS: Mapping[type, str] = {str: "text", list: "list", dict: "table"}
_SHAPES: Mapping[str, tuple[tuple[str, tuple[type, ...]], ...]] = {
    "uv.lock": (
        *(("source", (dict,)), ("wheels", (list,)), ("dependencies", (list,)), ("optional-dependencies", (dict,))),
    ),
    "poetry.lock": (("source", (dict,)), ("files", (list,)), ("dependencies", (dict,)), ("markers", (str, dict))),
    "pdm.lock": (("files", (list,)), ("groups", (list,)), ("dependencies", (list,)), ("marker", (str,))),
    "pylock.toml": (("wheels", (list,)), ("dependencies", (list,)), ("marker", (str,))),
    "Pipfile.lock": (("hashes", (list,)), ("markers", (str,)), ("extras", (list,))),
}
"""Keys of an entry that are read, or that others of the lock depend on, with the kinds that they may have."""
_LINE = (("version", (str,)), ("extra", (list,)), ("marker", (str,)))
_POETRY_LINE = (("version", (str,)), ("extras", (list,)), ("markers", (str,)))


def entry_damage(entry: object, lock: str, names: frozenset[NormalizedName]) -> str:
    """Return what is wrong with an entry, an empty text where nothing is; ``names``: all that the lock has."""
    lock = "pylock.toml" if lock.startswith("pylock.") else lock
    if not isinstance(entry, dict):
        return "is not a table"
    name, version = entry.get("name"), entry.get("version")
    if not isinstance(name, str):
        return "has no `name`" if name is None else "has a `name` that is not a text"
    if version is None:
        needed = lock != "pylock.toml" and not is_elsewhere(entry)
        why = "has no `version`" if needed else ""
    else:
        why = "" if isinstance(version, str) else "has a `version` that is not a text"
    why = why or _misshapen(entry, _SHAPES[lock]) or next(_lines(entry, lock, names), "")
    return f"(`{name}`) {why}" if why else ""


def pinned_damage(entry: object) -> str:
    """Return what is wrong with a package of Pipenv's lock, an empty text where nothing is."""
    if not isinstance(entry, dict):
        return "is not a table"
    version = entry.get("version")
    if version is None and not any(key in entry for key in ("git", "hg", "svn", "path", "file", "editable")):
        return "has no `version`"
    if not isinstance(version, str | None):
        return "has a `version` that is not a text"
    return _misshapen(entry, _SHAPES["Pipfile.lock"])


def is_elsewhere(entry: Mapping[str, Any]) -> bool:
    """Return whether an entry is taken from a folder, a URL or version control: it is no version of an index."""
    source = entry.get("source")
    source = source if isinstance(source, dict) else {}
    elsewhere = any(key in source for key in (*OWN_SOURCES, "git", "url", "path")) or source.get("type") in (
        *("git", "directory", "file", "url"),
    )
    return elsewhere or any(key in entry for key in ("vcs", "directory", "archive", "git", "path", "url"))


def _misshapen(table: Mapping[str, Any], shapes: tuple[tuple[str, tuple[type, ...]], ...]) -> str:
    """Return which key has a value of another kind, or a marker that nobody can read."""
    for key, kinds in shapes:
        value = table.get(key)
        if value is not None and not isinstance(value, kinds):
            return f"has a `{key}` that is not a {' or a '.join(_KINDS[kind] for kind in kinds)}"
        markers = value.values() if isinstance(value, dict) else [value]
        if key.startswith("marker") and not all(map(_is_marker, markers)):
            return f"has a `{key}` that cannot be read"
    return ""


def _is_marker(value: object) -> bool:
    if value is None or value == "":
        return True
    try:
        return isinstance(value, str) and bool(Marker(value))
    except (InvalidMarker, RecursionError):
        return False


def _lines(entry: Mapping[str, Any], lock: str, names: frozenset[NormalizedName]) -> Iterator[str]:
    """Yield what is wrong with what an entry depends on."""
    if lock == "poetry.lock":
        for name, value in entry.get("dependencies", {}).items():
            for one in value if isinstance(value, list) else [value]:
                if why := "" if isinstance(one, str) else _line_damage(one, _POETRY_LINE):
                    yield f"depends on `{name}` with an entry that {why}"
        return
    listed = [("dependencies", entry.get("dependencies", []))]
    listed += [(f"optional-dependencies.{key}", value) for key, value in entry.get("optional-dependencies", {}).items()]
    for key, value in listed if lock != "pdm.lock" else []:
        if not isinstance(value, list):
            yield f"has a `{key}` that is not a list"
            continue
        for at, line in enumerate(value):
            why = _line_damage(line, _LINE)
            if not why and lock == "uv.lock":
                why = _unnamed(line.get("name"), names)
            if why:
                yield f"is not whole: `{key}[{at}]` {why}"


def _unnamed(name: object, names: frozenset[NormalizedName]) -> str:
    if not isinstance(name, str):
        return "has no `name`"
    return "" if canonicalize_name(name) in names else f"asks for `{name}`, which the lock does not have"


def _line_damage(line: object, shapes: tuple[tuple[str, tuple[type, ...]], ...]) -> str:
    return _misshapen(line, shapes) if isinstance(line, dict) else "is not a table"
