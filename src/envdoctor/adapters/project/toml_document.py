"""A TOML file, its tables taken without trust, and the line of everything in it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from packaging.utils import NormalizedName, canonicalize_name
from packaging.version import Version

from envdoctor.adapters.project.draft import Draft, ProjectFileError, TextFile
from envdoctor.model.dataclass import dataclass
from envdoctor.model.origin import FileOrigin
from envdoctor.model.project import ReadingProblemKind
from envdoctor.toml_lines import KeyPath, Lines, key_path_text
from envdoctor.toml_tables import TomlError, read_toml

__all__ = ["TomlDocument", "glance", "parse_toml", "stated"]

_LONGEST_GLANCE = 1024 * 1024
_FILLS_IN = ("poetry-dynamic-versioning", "poetry-version-plugin")
"""Tables of plugins that put a version in the place of the one that stands there."""


@dataclass(frozen=True, slots=True)
class TomlDocument:
    """A parsed document; ``included_from`` is the line that asked for it."""

    file: TextFile
    data: dict[str, Any]
    lines: Lines
    included_from: FileOrigin | None = None

    def origin(self, *path: str | int) -> FileOrigin:
        """Return where a key or array entry stands."""
        return FileOrigin(self.file.shown, self.lines.of(path), self.included_from)

    def get(self, *path: str) -> Any:
        """Return the value at a key path, None where a table on the way is missing or is no table."""
        value: Any = self.data
        for key in path:
            if not isinstance(value, dict) or key not in value:
                return None
            value = value[key]
        return value

    def table(self, draft: Draft, *path: str) -> dict[str, Any]:
        """Return a table, empty where it is missing; a problem where something else stands there."""
        value = self.get(*path)
        if value is None:
            return {}
        if isinstance(value, dict):
            return value
        self.fault(draft, path, "must be a table")
        return {}

    def strings(self, draft: Draft, *path: str) -> list[tuple[int, str]]:
        """Return an array's strings with their positions; a problem for everything that is none."""
        value = self.get(*path)
        if value is None:
            return []
        if not isinstance(value, list):
            self.fault(draft, path, "must be an array of strings")
            return []
        for at, entry in enumerate(value):
            if not isinstance(entry, str):
                self.fault(draft, (*path, at), "must be a string")
        return [(at, entry) for at, entry in enumerate(value) if isinstance(entry, str)]

    def fault(self, draft: Draft, path: KeyPath, message: str) -> None:
        """Report a fault at a key path."""
        shown = key_path_text(path)
        draft.problem(ReadingProblemKind.INVALID_REQUIREMENT, self.origin(*path), f"`{shown}` {message}", shown)


def glance(path: Path) -> dict[str, Any]:
    """Return a file's data to find the way by, empty where it cannot be read: nothing is reported of it."""
    try:
        if not path.is_file() or path.stat().st_size > _LONGEST_GLANCE:
            return {}
        return read_toml(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError):
        return {}


def stated(data: Mapping[str, Any]) -> tuple[NormalizedName | None, Version | None]:
    """Return the name and version that a pyproject.toml states; None is what it does not, or a build would tell."""
    project = data.get("project")
    tool = data.get("tool")
    poetry = tool.get("poetry") if isinstance(tool, dict) else None
    tables = [table for table in (project, poetry) if isinstance(table, dict)]
    name, version = (next(filter(None, (table.get(key) for table in tables)), None) for key in ("name", "version"))
    if isinstance(tool, dict) and any(key in tool for key in _FILLS_IN):
        version = None
    try:
        known = Version(version) if isinstance(version, str) else None
    except ValueError:  # Also of more digits than Python reads.
        known = None
    return canonicalize_name(name) if isinstance(name, str) else None, known


def parse_toml(file: TextFile, included_from: FileOrigin | None = None) -> TomlDocument:
    """Parse a file. Raises ProjectFileError with the line of a syntax error."""
    try:
        data = read_toml(file.text)
    except TomlError as error:
        reason = "nested too deep" if error.too_deep else f"{error.reason[:1].lower()}{error.reason[1:]}"
        raise ProjectFileError(file.shown, error.line, f"invalid TOML: {reason}") from error
    return TomlDocument(file, data, Lines(file.text), included_from)
