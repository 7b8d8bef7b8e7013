"""Pipenv's Pipfile."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from envdoctor.adapters.project.draft import Circumstances, Draft
from envdoctor.adapters.project.poetry import read_entry
from envdoctor.adapters.project.toml_document import TomlDocument, parse_toml
from envdoctor.model.project import IndexOptionKind

__all__ = ["read_pipfile"]


def read_pipfile(draft: Draft, path: Path, circumstances: Circumstances, *, groups: tuple[str, ...] = ()) -> None:
    """Read ``[packages]``, and ``[dev-packages]`` where the group ``dev`` is asked for. Raises ProjectFileError."""
    document = parse_toml(draft.load(path), circumstances.included_from)
    sources = _sources(draft, document)
    for key in document.table(draft, "packages"):
        read_entry(draft, document, ("packages",), key, circumstances, sources=sources)
    if document.get("dev-packages") is not None:
        draft.known_groups.add("dev")
        if "dev" in groups:
            draft.used_groups.add("dev")
            for key in document.table(draft, "dev-packages"):
                standing = replace(circumstances, group="dev")
                read_entry(draft, document, ("dev-packages",), key, standing, sources=sources)
    for key in ("python_full_version", "python_version"):
        version = document.get("requires", key)
        if isinstance(version, str):
            exact = f"=={version}" if key == "python_full_version" else f"=={version}.*"
            draft.set_python(exact, document.origin("requires", key))


def _sources(draft: Draft, document: TomlDocument) -> dict[str, str]:
    value = document.get("source")
    urls: dict[str, str] = {}
    for at, entry in enumerate(value if isinstance(value, list) else []):
        if isinstance(entry, dict) and isinstance(entry.get("url"), str):
            kind = IndexOptionKind.INDEX_URL if not urls else IndexOptionKind.EXTRA_INDEX_URL
            urls[str(entry.get("name"))] = entry["url"]
            draft.add_index(kind, entry["url"], document.origin("source", at))
    return urls
