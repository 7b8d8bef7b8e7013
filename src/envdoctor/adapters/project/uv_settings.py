"""What ``[tool.uv]`` adds to the standard tables: overrides, constraints and indexes."""

from __future__ import annotations

from typing import Any

from envdoctor.adapters.project.draft import Circumstances, Draft
from envdoctor.adapters.project.specification import parse_pep508
from envdoctor.adapters.project.toml_document import TomlDocument
from envdoctor.model.project import IndexOptionKind, ReadingProblem
from envdoctor.model.requirement import RequirementKind

__all__ = ["indexes", "read_uv"]


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
    for at, entry in enumerate(indexes(document)):
        url = entry.get("url")
        if isinstance(url, str) and not entry.get("explicit"):
            kind = IndexOptionKind.INDEX_URL if entry.get("default") else IndexOptionKind.EXTRA_INDEX_URL
            draft.add_index(kind, url, document.origin("tool", "uv", "index", at))


def indexes(document: TomlDocument) -> list[dict[str, Any]]:
    """Return the entries of ``[[tool.uv.index]]``."""
    value = document.get("tool", "uv", "index")
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []
