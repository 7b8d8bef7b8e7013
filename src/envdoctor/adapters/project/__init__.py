"""Reading a project's files into requirements."""

from envdoctor.adapters.project.errors import ProjectFileError
from envdoctor.adapters.project.reading import read_project

__all__ = ["ProjectFileError", "read_project"]
