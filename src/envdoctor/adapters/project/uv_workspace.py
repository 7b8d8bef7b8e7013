"""uv's workspaces: folders whose projects stand for each other, and are never looked up on an index."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from packaging.utils import NormalizedName, canonicalize_name

from envdoctor.adapters.project.draft import Draft, ProjectFileError
from envdoctor.adapters.project.toml_document import TomlDocument, glance, parse_toml
from envdoctor.model.dataclass import dataclass

__all__ = ["Workspace", "workspace_of", "workspace_root"]

_MOST_MEMBERS = 500
_HIGHEST = 4
"""Folders above a member in which its workspace is looked for."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """A workspace by the pyproject.toml of its root."""

    document: TomlDocument
    members: Mapping[NormalizedName, Path] = field(default_factory=dict)
    """Folders by the name of their project, that of the root among them."""


def workspace_of(draft: Draft, document: TomlDocument) -> Workspace | None:
    """Return the workspace that a document is the root of, or a member; None where there is none."""
    folder = document.file.path.parent
    root = workspace_root(folder)
    if root is None or not root.is_relative_to(draft.boundary):
        return None
    if root == folder:
        return Workspace(document, _members(document))
    try:
        above = parse_toml(draft.load(root / "pyproject.toml", json_refused=False))
    except ProjectFileError:
        return None
    return Workspace(above, _members(above))


def workspace_root(folder: Path) -> Path | None:
    """Return the folder of the workspace that ``folder`` is the root of, or a member; None where there is none."""
    for above in (folder, *list(folder.parents)[:_HIGHEST]):
        table = _table(glance(above / "pyproject.toml"))
        if table is None:
            continue
        inside = folder.relative_to(above).as_posix()
        if above == folder or (_named(table, "members", inside) and not _named(table, "exclude", inside)):
            return above
    return None


def _table(data: Mapping[str, Any]) -> Mapping[str, Any] | None:
    value: Any = data
    for key in ("tool", "uv", "workspace"):
        value = value.get(key) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else None


def _patterns(table: Mapping[str, Any], key: str) -> list[str]:
    value = table.get(key)
    return [each.strip("/") for each in value if isinstance(each, str)] if isinstance(value, list) else []


def _named(table: Mapping[str, Any], key: str, inside: str) -> bool:
    return any(fnmatch(inside, pattern) for pattern in _patterns(table, key))


def _members(document: TomlDocument) -> dict[NormalizedName, Path]:
    root = document.file.path.parent
    found: dict[NormalizedName, Path] = {}
    for folder in (root, *_folders(_table(document.data) or {}, root)):
        project = glance(folder / "pyproject.toml").get("project")
        name = project.get("name") if isinstance(project, dict) else None
        if isinstance(name, str):
            found.setdefault(canonicalize_name(name), folder)
    return found


def _folders(table: Mapping[str, Any], root: Path) -> Iterator[Path]:
    count = 0
    for pattern in _patterns(table, "members"):
        try:
            matched = sorted(root.glob(pattern))
        except (ValueError, NotImplementedError, OSError):
            continue
        for folder in matched:
            inside = folder.resolve()
            if (
                inside.is_dir()
                and inside.is_relative_to(root)
                and not _named(table, "exclude", inside.relative_to(root).as_posix())
            ):
                count += 1
                if count > _MOST_MEMBERS:
                    return
                yield inside
