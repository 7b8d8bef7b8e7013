"""``[tool.uv.sources]`` and uv's workspaces: the index or place that a requirement is taken from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from packaging.markers import InvalidMarker, Marker, UndefinedComparison, UndefinedEnvironmentName
from packaging.utils import NormalizedName, canonicalize_name

from envdoctor.adapters.project.decoding import beyond_limits
from envdoctor.adapters.project.draft import Circumstances, Draft, LocalProject, ProjectFileError
from envdoctor.adapters.project.toml_document import TomlDocument, glance, parse_toml, stated
from envdoctor.adapters.project.uv_settings import UV_FILE, index_url_of, indexes
from envdoctor.model.dataclass import dataclass
from envdoctor.model.origin import FileOrigin
from envdoctor.model.project import ReadingProblemKind
from envdoctor.model.requirement import GroupKind, GroupName, Requirement

__all__ = ["apply_sources", "workspace_root"]

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
        return Workspace(document, _members(draft, document))
    try:
        above = parse_toml(draft.load(root / "pyproject.toml", json_refused=False))
    except ProjectFileError:
        return None
    return Workspace(above, _members(draft, above))


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


def _members(draft: Draft, document: TomlDocument) -> Mapping[NormalizedName, Path]:
    root = document.file.path.parent
    if root in draft.workspaces:
        return draft.workspaces[root]
    found: dict[NormalizedName, Path] = {}
    for folder in (root, *_folders(_table(document.data) or {}, root)):
        name, _ = stated(glance(folder / "pyproject.toml"))
        if name is not None:
            found.setdefault(name, folder)
    draft.workspaces[root] = found
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


def apply_sources(draft: Draft, document: TomlDocument, start: int) -> None:
    """Give what the document asks for the index or place that ``[tool.uv.sources]`` names.

    ``start`` is the position of the document's first requirement of the main list. A workspace's root speaks for its
    members, where they do not speak themselves.
    """
    workspace = workspace_of(draft, document)
    if workspace is not None and document.file.path.parent == draft.root and workspace.document is document:
        draft.members = tuple(workspace.members.values())
    documents = [document] if workspace is None or workspace.document is document else [document, workspace.document]
    sources = _Sources(draft, documents, workspace)
    if not sources.known:
        return
    for group, apart in draft.apart.items():
        with draft.reading(group, asked=False):
            apart.requirements[:] = [one for each in apart.requirements for one in sources.placed(each)]
    draft.requirements[start:] = [one for each in draft.requirements[start:] for one in sources.placed(each)]


class _Sources:
    """The sources that count for one document."""

    def __init__(self, draft: Draft, documents: Sequence[TomlDocument], workspace: Workspace | None) -> None:
        self._draft = draft
        self._path = documents[0].file.shown
        self._workspace = workspace
        self._urls: dict[str, str] = {}
        self.known: dict[NormalizedName, tuple[TomlDocument, list[dict[str, Any]]]] = {}
        for document in reversed(documents):
            for key, value in document.table(draft, "tool", "uv", "sources").items():
                self.known[canonicalize_name(key)] = document, _entries(draft, document, key, value)
            for entry in _indexes_for(draft, document):
                url = index_url_of(entry, draft.variables)
                if isinstance(entry.get("name"), str) and url is not None:
                    self._urls[entry["name"]] = url
                    draft.name_index(url, entry["name"])
        for name in workspace.members if workspace is not None else ():
            self.known.setdefault(name, (documents[0], [{"workspace": True}]))

    def placed(self, requirement: Requirement) -> list[Requirement]:
        """Return a requirement with its source; none where a member of the workspace is read in its place."""
        own = isinstance(requirement.origin, FileOrigin) and requirement.origin.path == self._path
        if not own or requirement.name not in self.known or requirement.url is not None:
            return [requirement]
        document, entries = self.known[requirement.name]
        source = _chosen(self._draft, document, requirement, entries)
        if source is None:
            return [requirement]
        if source.get("workspace") is True:
            self._member(requirement)
            return []
        url = self._urls.get(str(source.get("index")))
        if url is not None:
            return [replace(requirement, index_url=url)]
        place = _place(source, document)
        return [replace(requirement, url=place) if place is not None else requirement]

    def _member(self, requirement: Requirement) -> None:
        assert isinstance(requirement.origin, FileOrigin)  # noqa: S101 - only the document's own lines are placed
        folder = self._workspace.members.get(requirement.name) if self._workspace is not None else None
        if folder is None:
            message = f"`{requirement.name}` is to come from the workspace, and no member of it has that name"
            self._draft.problem(ReadingProblemKind.MISSING_FILE, requirement.origin, message, str(requirement))
            return
        standing = Circumstances(requirement.kind, requirement.group)
        apart = self._draft.reading_apart
        extras = tuple(sorted(requirement.extras))
        self._draft.local_projects.append(
            LocalProject(folder, extras, requirement.origin, standing, str(requirement), apart)
        )


def _indexes_for(draft: Draft, document: TomlDocument) -> list[dict[str, Any]]:
    """Return the indexes that sources of a document may name: a ``uv.toml`` beside it speaks in its place."""
    path = document.file.path.parent / UV_FILE
    return indexes(parse_toml(draft.load(path))) if path.is_file() else indexes(document, "tool", "uv")


def _place(source: Mapping[str, Any], document: TomlDocument) -> str | None:
    if isinstance(source.get("git"), str):
        reference = source.get("rev") or source.get("tag") or source.get("branch")
        folder = source.get("subdirectory")
        at = f"@{reference}" if reference else ""
        return f"git+{source['git']}{at}" + (f"#subdirectory={folder}" if folder else "")
    if isinstance(source.get("path"), str):
        return str(document.file.path.parent / source["path"])
    return source["url"] if isinstance(source.get("url"), str) else None


def _entries(draft: Draft, document: TomlDocument, key: str, value: Any) -> list[dict[str, Any]]:
    if isinstance(value, dict):
        value = [value]
    if not isinstance(value, list):
        document.fault(draft, ("tool", "uv", "sources", key), "must be a table or an array of tables")
        return []
    return [entry for entry in value if isinstance(entry, dict)]


def _chosen(
    draft: Draft, document: TomlDocument, requirement: Requirement, entries: Sequence[Mapping[str, Any]]
) -> Mapping[str, Any] | None:
    """Return the source that counts for a line: one bound to an extra or group counts for the lines of that alone."""
    mine = [entry for entry in entries if _of_group(entry, requirement.group)]
    for entry in mine:
        if _holds(draft, entry.get("marker")):
            return entry
    if mine and draft.environment is None:
        key = requirement.name
        message = f"which source of `{key}` counts depends on the target, which is not known here"
        draft.problem(ReadingProblemKind.UNSUPPORTED, document.origin("tool", "uv", "sources", key), message, key)
    return None


def _of_group(entry: Mapping[str, Any], group: GroupName | None) -> bool:
    for kind in (GroupKind.EXTRA, GroupKind.GROUP):
        name = entry.get(kind.value)
        if isinstance(name, str):
            return group is not None and group.kind is kind and canonicalize_name(group.name) == canonicalize_name(name)
    return True


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
