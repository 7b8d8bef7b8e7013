"""Poetry's tables: ``[tool.poetry.dependencies]``, groups, extras and sources."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from packaging.markers import InvalidMarker, Marker
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from envdoctor.adapters.project.decoding import beyond_limits
from envdoctor.adapters.project.draft import Circumstances, Draft
from envdoctor.adapters.project.group_choice import Wanted, groups_of
from envdoctor.adapters.project.poetry_versions import Alternatives, poetry_specifier, python_marker
from envdoctor.adapters.project.toml_document import TomlDocument
from envdoctor.model.index_url import with_user
from envdoctor.model.project import IndexOptionKind, ReadingProblemKind
from envdoctor.model.requirement import GroupKind, Requirement

__all__ = ["read_entry", "read_poetry"]

_MARKER_KEYS = (
    "sys_platform",
    "os_name",
    "platform_machine",
    "platform_system",
    "python_version",
    "implementation_name",
)
_BASE = ("tool", "poetry")
_PLACES = ("git", "path", "url", "file")


def read_poetry(
    draft: Draft, document: TomlDocument, circumstances: Circumstances, wanted: Wanted, *, main: bool
) -> None:
    """Read the main table, where ``main`` says so, the groups and the extras."""
    if document.get(*_BASE) is None:
        return
    draft.asks_for_none = draft.asks_for_none or isinstance(document.get(*_BASE), dict)
    sources = _sources(draft, document)
    table = document.table(draft, *_BASE, "dependencies")
    for key, value in table.items():
        if canonicalize_name(key) == "python":
            _python(draft, document, value)
        elif main and not (isinstance(value, dict) and value.get("optional") is True):
            read_entry(draft, document, (*_BASE, "dependencies"), key, circumstances, sources=sources)
    _extras(draft, document, circumstances, wanted, sources)
    tables: dict[str, tuple[str, ...]] = {
        name: (*_BASE, "group", name, "dependencies") for name in document.table(draft, *_BASE, "group")
    }
    if document.get(*_BASE, "dev-dependencies") is not None:
        tables.setdefault("dev", (*_BASE, "dev-dependencies"))
    for group in groups_of(draft, GroupKind.GROUP, tables, wanted):
        for key in document.table(draft, *tables[group.name]):
            standing = replace(circumstances, group=group)
            read_entry(draft, document, tables[group.name], key, standing, sources=sources)


def _extras(
    draft: Draft, document: TomlDocument, circumstances: Circumstances, wanted: Wanted, sources: dict[str, str]
) -> None:
    """Read the optional entries of the main table that each extra names."""
    by_name = {canonicalize_name(key): key for key in document.table(draft, *_BASE, "dependencies")}
    for group in groups_of(draft, GroupKind.EXTRA, document.table(draft, *_BASE, "extras"), wanted):
        for _, name in document.strings(draft, *_BASE, "extras", group.name):
            key = by_name.get(canonicalize_name(name.split("[")[0]))
            if key is not None:
                standing = replace(circumstances, group=group)
                read_entry(draft, document, (*_BASE, "dependencies"), key, standing, sources=sources)


def _sources(draft: Draft, document: TomlDocument) -> dict[str, str]:
    value = document.get("tool", "poetry", "source")
    urls: dict[str, str] = {}
    for at, entry in enumerate(value if isinstance(value, list) else []):
        if not isinstance(entry, dict) or not isinstance(entry.get("url"), str):
            continue
        name = str(entry.get("name"))
        urls[name] = url = with_user(entry["url"], "POETRY_HTTP_BASIC_", name, draft.variables)
        draft.name_index(url, entry.get("name"))
        priority = str(entry.get("priority", "primary")).lower()
        if priority != "explicit":
            first = priority in {"primary", "default"} and not entry.get("secondary")
            kind = IndexOptionKind.INDEX_URL if first else IndexOptionKind.EXTRA_INDEX_URL
            draft.add_index(kind, url, document.origin("tool", "poetry", "source", at))
    return urls


def _python(draft: Draft, document: TomlDocument, value: Any) -> None:
    path = ("tool", "poetry", "dependencies", "python")
    if draft.requires_python is not None:
        return
    text = value.get("version") if isinstance(value, dict) else value
    if not isinstance(text, str):
        document.fault(draft, path, "must be a string")
        return
    try:
        draft.requires_python = poetry_specifier(text)
        draft.requires_python_origin = document.origin(*path)
    except Alternatives as error:
        draft.problem(ReadingProblemKind.UNSUPPORTED, document.origin(*path), f"{error}; it is not used", text)
    except ValueError as error:
        draft.problem(ReadingProblemKind.INVALID_REQUIREMENT, document.origin(*path), str(error), text)


def read_entry(
    draft: Draft,
    document: TomlDocument,
    table: tuple[str, ...],
    key: str,
    circumstances: Circumstances,
    *,
    sources: dict[str, str],
) -> None:
    """Read one dependency: a string, a table, or an array of tables with conditions."""
    value = document.get(*table, key)
    if isinstance(value, list):
        for at, entry in enumerate(value):
            _one(draft, document, (*table, key, at), key, entry, circumstances, sources)
    else:
        _one(draft, document, (*table, key), key, value, circumstances, sources)


def _one(
    draft: Draft,
    document: TomlDocument,
    path: tuple[str | int, ...],
    key: str,
    value: Any,
    circumstances: Circumstances,
    sources: dict[str, str],
) -> None:
    entry = {"version": value} if isinstance(value, str) else value
    if not isinstance(entry, dict) or not isinstance(entry.get("version", ""), str):
        document.fault(draft, path, "must be a version or a table with one")
        return
    origin = document.origin(*path)
    text = _written(key, value)
    url = _place(entry)
    try:
        specifier = SpecifierSet() if url else poetry_specifier(entry.get("version", "*"))
    except Alternatives as error:
        message = f"{error}; which versions it allows was not checked"
        draft.problem(ReadingProblemKind.UNREAD, origin, message, text)
        specifier = SpecifierSet()
    except ValueError as error:
        draft.problem(ReadingProblemKind.INVALID_REQUIREMENT, origin, str(error), text)
        return
    try:
        marker = _marker(entry)
    except (InvalidMarker, ValueError, RecursionError):
        draft.problem(ReadingProblemKind.INVALID_REQUIREMENT, origin, f"the conditions of `{key}` are not valid", text)
        return
    extras = entry.get("extras", [])
    requirement = Requirement(
        name=canonicalize_name(key),
        origin=origin,
        specifier=specifier,
        extras=frozenset(canonicalize_name(one) for one in extras if isinstance(one, str))
        if isinstance(extras, list)
        else frozenset(),
        marker=marker,
        url=url,
        text=text,
        editable=entry.get("develop") is True or entry.get("editable") is True,
        index_url=sources.get(str(entry.get("source") or entry.get("index"))),
    )
    draft.add(requirement, circumstances)


def _place(entry: dict[str, Any]) -> str | None:
    kind = next((name for name in _PLACES if isinstance(entry.get(name), str)), None)
    if kind is None:
        return None
    place = str(entry[kind])
    if kind != "git":
        return place
    reference = next((str(entry[name]) for name in ("rev", "tag", "branch", "ref") if entry.get(name)), None)
    fragment = f"#subdirectory={entry['subdirectory']}" if entry.get("subdirectory") else ""
    return f"git+{place}" + (f"@{reference}" if reference else "") + fragment


def _marker(entry: dict[str, Any]) -> Marker | None:
    terms: list[str] = []
    if isinstance(entry.get("markers"), str):
        terms.append(entry["markers"])
    if isinstance(entry.get("python"), str):
        terms.append(python_marker(entry["python"]))
    if isinstance(entry.get("platform"), str):
        terms.append(f'sys_platform == "{entry["platform"]}"')
    # Pipfile writes a marker's variable as a key: sys_platform = "== 'win32'".
    terms += [f"{name} {entry[name]}" for name in _MARKER_KEYS if isinstance(entry.get(name), str)]
    terms = [term for term in terms if term]
    if not terms:
        return None
    too_long = next(filter(None, map(beyond_limits, terms)), None)
    if too_long is not None:
        raise ValueError(too_long)
    return Marker(terms[0] if len(terms) == 1 else " and ".join(f"({term})" for term in terms))


def _written(key: str, value: Any) -> str:
    if isinstance(value, str):
        return f'{key} = "{value}"'
    if not isinstance(value, dict):
        return key
    return f"{key} = {{{', '.join(f'{name} = {_literal(one)}' for name, one in value.items())}}}"


def _literal(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"[{', '.join(_literal(one) for one in value)}]"
    return f'"{value}"' if isinstance(value, str) else str(value)
