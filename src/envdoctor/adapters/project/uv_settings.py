"""What ``[tool.uv]`` adds to the standard tables: overrides, constraints, indexes and sources."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from packaging.markers import InvalidMarker, Marker, UndefinedComparison, UndefinedEnvironmentName
from packaging.utils import canonicalize_name

from envdoctor.adapters.project.draft import Circumstances, Draft
from envdoctor.adapters.project.limits import beyond_limits
from envdoctor.adapters.project.specification import parse_pep508
from envdoctor.adapters.project.toml_document import TomlDocument
from envdoctor.model.project import IndexOptionKind, ReadingProblem, ReadingProblemKind
from envdoctor.model.requirement import RequirementKind

__all__ = ["apply_sources", "read_uv"]


def read_uv(draft: Draft, document: TomlDocument) -> None:
    """Read constraints, overrides and indexes; an ``explicit`` index serves only the sources that name it."""
    path = ("tool", "uv", "constraint-dependencies")
    for at, text in document.strings(draft, *path):
        draft.add(parse_pep508(text, document.origin(*path, at)), Circumstances(kind=RequirementKind.CONSTRAINT))
    path = ("tool", "uv", "override-dependencies")
    for at, text in document.strings(draft, *path):
        read = parse_pep508(text, document.origin(*path, at))
        if isinstance(read, ReadingProblem):
            draft.keep_problem(read)
        else:
            draft.overrides.append(read)
    for at, entry in enumerate(_indexes(document)):
        url = entry.get("url")
        if isinstance(url, str) and not entry.get("explicit"):
            kind = IndexOptionKind.INDEX_URL if entry.get("default") else IndexOptionKind.EXTRA_INDEX_URL
            draft.add_index(kind, url, document.origin("tool", "uv", "index", at))


def _indexes(document: TomlDocument) -> list[dict[str, Any]]:
    value = document.get("tool", "uv", "index")
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def apply_sources(draft: Draft, document: TomlDocument, start: int) -> None:
    """Give the requirements from position ``start`` on the index or place that ``[tool.uv.sources]`` names."""
    sources = document.table(draft, "tool", "uv", "sources")
    by_name = {canonicalize_name(key): key for key in sources}
    urls = {entry["name"]: entry.get("url") for entry in _indexes(document) if isinstance(entry.get("name"), str)}
    for at, requirement in enumerate(draft.requirements[start:], start=start):
        key = by_name.get(requirement.name)
        if key is None:
            continue
        source = _chosen(draft, document, key, sources[key])
        url = urls.get(str(source.get("index"))) if source else None
        if isinstance(url, str):
            draft.requirements[at] = replace(requirement, index_url=url)
        elif source and isinstance(source.get("git"), str):
            reference = source.get("rev") or source.get("tag") or source.get("branch")
            place = f"git+{source['git']}" + (f"@{reference}" if reference else "")
            draft.requirements[at] = replace(requirement, url=place)
        elif source and isinstance(source.get("url") or source.get("path"), str):
            draft.requirements[at] = replace(requirement, url=source.get("url") or source.get("path"))


def _chosen(draft: Draft, document: TomlDocument, key: str, value: Any) -> dict[str, Any] | None:
    if isinstance(value, dict):
        value = [value]
    if not isinstance(value, list):
        document.fault(draft, ("tool", "uv", "sources", key), "must be a table or an array of tables")
        return None
    entries = [entry for entry in value if isinstance(entry, dict)]
    for entry in entries:
        if _holds(draft, entry.get("marker")):
            return entry
    if entries and draft.environment is None:
        message = f"which source of `{key}` counts depends on the target, which is not known here"
        draft.problem(ReadingProblemKind.UNSUPPORTED, document.origin("tool", "uv", "sources", key), message, key)
    return None


def _holds(draft: Draft, marker: object) -> bool:
    if marker is None:
        return True
    if not isinstance(marker, str) or draft.environment is None:
        return False
    if beyond_limits(marker) is not None:
        return False
    try:
        return Marker(marker).evaluate(dict(draft.environment))
    except (InvalidMarker, UndefinedComparison, UndefinedEnvironmentName, ValueError, TypeError, RecursionError):
        return False
