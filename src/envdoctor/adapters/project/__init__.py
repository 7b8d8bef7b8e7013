"""Reading a project's files into requirements."""

from envdoctor.adapters.project.draft import ProjectFileError
from envdoctor.adapters.project.reading import read_project
from envdoctor.adapters.project.repository import read_repository
from envdoctor.adapters.project.sources import open_sources

__all__ = ["ProjectFileError", "open_sources", "read_project", "read_repository"]
