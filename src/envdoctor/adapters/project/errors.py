"""The error that ends the reading of a project (exit code 2)."""

from __future__ import annotations

__all__ = ["ProjectFileError"]


class ProjectFileError(Exception):
    """A path that cannot be read as a project: not there, not readable, or not what it claims to be."""

    def __init__(self, path: str, line: int | None, message: str) -> None:
        where = path if line is None else f"{path}:{line}"
        super().__init__(f"{where}: {message}")
        self.path = path
        self.line = line
        self.message = message
