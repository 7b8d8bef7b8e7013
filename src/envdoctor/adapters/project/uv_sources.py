"""``[tool.uv.sources]``: the index or place that a requirement is taken from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from packaging.markers import InvalidMarker, Marker, UndefinedComparison, UndefinedEnvironmentName
from packaging.utils import NormalizedName, canonicalize_name

from envdoctor.adapters.project.draft import Circumstances, Draft, LocalProject
from envdoctor.adapters.project.limits import beyond_limits
from envdoctor.adapters.project.toml_document import TomlDocument, parse_toml
from envdoctor.adapters.project.uv_settings import UV_FILE, index_url_of, indexes
from envdoctor.adapters.project.uv_workspace import Workspace, workspace_of
from envdoctor.model.origin import FileOrigin
from envdoctor.model.project import ReadingProblemKind
from envdoctor.model.requirement import GroupKind, GroupName, Requirement

__all__ = ["apply_sources"]


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
