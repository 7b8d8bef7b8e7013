"""A line that names a path: a project to be read, or the reason for which it is none."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from envdoctor.adapters.project.draft import Circumstances, Draft, LocalProject
from envdoctor.adapters.project.specification import looks_like_path, names_itself, split_extras
from envdoctor.model.origin import FileOrigin
from envdoctor.model.project import ReadingProblemKind

__all__ = ["Reference", "read_local_reference"]

_PROJECT_FILES = ("pyproject.toml", "setup.cfg", "setup.py")


@dataclass(frozen=True, slots=True)
class Reference:
    """A path as a line names it, relative to ``directory``."""

    text: str
    directory: Path
    origin: FileOrigin
    circumstances: Circumstances
    written: str
    editable: bool = False

    @property
    def of_script(self) -> bool:
        """Return whether a script names it: its folders may come into being only when it runs."""
        return self.circumstances.step is not None


def read_local_reference(draft: Draft, reference: Reference) -> bool:
    """Keep the local project, or a problem. False where the path tells its project by its name, or is an archive."""
    body, extras = split_extras(reference.text.partition(";")[0])
    try:
        found = (reference.directory / body.replace("\\", "/")).resolve()
        inside = found.is_relative_to(draft.boundary)
        folder, there = inside and found.is_dir(), inside and found.exists()
    except (OSError, RuntimeError, ValueError):
        return False
    if folder and any((found / name).is_file() for name in _PROJECT_FILES):
        draft.local_projects.append(
            LocalProject(found, extras, reference.origin, reference.circumstances, reference.written)
        )
        return True
    if names_itself(body) or body.lower().endswith(".whl") or (there and not folder):
        return False
    kind, message = _fault(body, reference, inside=inside, folder=folder)
    draft.problem(kind, reference.origin, message, reference.written)
    return True


def _fault(body: str, reference: Reference, *, inside: bool, folder: bool) -> tuple[ReadingProblemKind, str]:
    if reference.of_script:
        message = f"`{body}` is not a project in this checkout; its requirements are not known"
        return ReadingProblemKind.UNREAD, message
    if folder:
        message = f"the directory `{body}` has no pyproject.toml and no setup.py, so pip cannot install it"
        return ReadingProblemKind.INVALID_REQUIREMENT, message
    if not looks_like_path(body) and not reference.editable:
        message = f"`{body}` is neither a requirement nor a path that is there"
        return ReadingProblemKind.INVALID_REQUIREMENT, message
    if not inside:
        return ReadingProblemKind.OUTSIDE_PROJECT, f"`{body}` lies outside the project and is not read"
    if reference.editable:
        return ReadingProblemKind.MISSING_FILE, f"there is no directory `{body}`"
    return ReadingProblemKind.UNREAD, f"there is no `{body}` here; its requirements are not known"
