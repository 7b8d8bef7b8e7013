"""Pipenv's Pipfile; its entries are written as Poetry's are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from envdoctor.adapters.project.draft import Circumstances, Draft
from envdoctor.adapters.project.group_choice import Wanted, groups_of
from envdoctor.adapters.project.pdm import expanded_url
from envdoctor.adapters.project.poetry import read_entry
from envdoctor.adapters.project.toml_document import TomlDocument, parse_toml
from envdoctor.model.origin import FileOrigin
from envdoctor.model.project import IndexOptionKind, ReadingProblemKind
from envdoctor.model.requirement import GroupKind

__all__ = ["read_pipfile"]


def read_pipfile(draft: Draft, path: Path, circumstances: Circumstances, wanted: Wanted) -> None:
    """Read ``[packages]``, and ``[dev-packages]`` as the group ``dev``. Raises ProjectFileError."""
    document = parse_toml(draft.load(path), circumstances.included_from)
    sources = _pipfile_sources(draft, document)
    for key in document.table(draft, "packages") if wanted.main else ():
        read_entry(draft, document, ("packages",), key, circumstances, sources=sources)
    development = ("dev",) if document.get("dev-packages") is not None else ()
    for group in groups_of(draft, GroupKind.GROUP, development, wanted):
        for key in document.table(draft, "dev-packages"):
            standing = replace(circumstances, group=group)
            read_entry(draft, document, ("dev-packages",), key, standing, sources=sources)
    for key in ("python_full_version", "python_version"):
        version = document.get("requires", key)
        if isinstance(version, str):
            exact = f"=={version}" if key == "python_full_version" else f"=={version}.*"
            _pipfile_python(draft, exact, document.origin("requires", key))


def _pipfile_python(draft: Draft, text: str, origin: FileOrigin) -> None:
    """Keep the Python that Pipenv makes the environment with."""
    try:
        draft.set_environment_python(SpecifierSet(text), origin)
    except InvalidSpecifier:
        message = f"`{text.lstrip('=')}` is not a version of Python"
        draft.problem(ReadingProblemKind.INVALID_REQUIREMENT, origin, message, text)


def _pipfile_sources(draft: Draft, document: TomlDocument) -> dict[str, str]:
    value = document.get("source")
    urls: dict[str, str] = {}
    for at, entry in enumerate(value if isinstance(value, list) else []):
        if isinstance(entry, dict) and isinstance(entry.get("url"), str):
            kind = IndexOptionKind.INDEX_URL if not urls else IndexOptionKind.EXTRA_INDEX_URL
            origin = document.origin("source", at)
            urls[str(entry.get("name"))] = url = expanded_url(draft, entry["url"], origin)
            draft.name_index(url, entry.get("name"))
            draft.add_index(kind, url, origin)
    return urls
