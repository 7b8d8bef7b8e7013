"""What a project asks for, in words."""

from __future__ import annotations

from envdoctor.model.project import Project


def names(project: Project) -> list[str]:
    """Return its requirements in their order."""
    return [one.pep508 for one in project.requirements]
