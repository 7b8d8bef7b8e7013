"""Requirements whose place is a path of this machine: a project that is read, a file that stays, or nothing at all."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote, urlsplit

from envdoctor.adapters.project.draft import Circumstances, Draft, LocalProject
from envdoctor.adapters.project.requirements_file import is_project
from envdoctor.adapters.project.specification import is_remote
from envdoctor.model.origin import FileOrigin
from envdoctor.model.project import ReadingProblemKind
from envdoctor.model.requirement import Requirement, may_hold

__all__ = ["settle_local_places"]

_DRIVE = re.compile(r"^(?:file:/*)?[A-Za-z]:[\\/]")


def settle_local_places(draft: Draft) -> None:
    """Read what a path or ``file:`` URL leads to, in the requirement's place; name what is not there."""
    for group, apart in draft.apart.items():
        with draft.reading(group, asked=False):
            apart.requirements[:] = [one for each in apart.requirements for one in _settled(draft, each)]
    draft.requirements[:] = [one for each in draft.requirements for one in _settled(draft, each)]


def _settled(draft: Draft, requirement: Requirement) -> list[Requirement]:
    origin = requirement.origin
    if requirement.url is None or is_remote(requirement.url) or not isinstance(origin, FileOrigin):
        return [requirement]
    if _of_another_system(requirement.url) or not may_hold(requirement.marker, draft.environment):
        return [requirement]
    path = _located(draft, requirement.url, origin)
    if path is None:
        return [requirement]
    try:
        there, folder = path.exists(), path.is_dir()
    except (OSError, ValueError):
        there, folder = False, False
    if not there:
        return [_gone(draft, requirement, origin)]
    if folder and path.is_relative_to(draft.boundary) and is_project(path):
        standing = Circumstances(requirement.kind, requirement.group, requirement.step, requirement.no_deps)
        extras = tuple(sorted(requirement.extras))
        draft.local_projects.append(LocalProject(path, extras, origin, standing, str(requirement), draft.reading_apart))
        return []
    return [requirement]


def _of_another_system(url: str) -> bool:
    """Return whether a path can only be one of Windows, and this is another system."""
    return os.name != "nt" and bool(_DRIVE.match(url))


def _located(draft: Draft, url: str, origin: FileOrigin) -> Path | None:
    """Return the path of a URL or path, None where it depends on something else.

    ``${PROJECT_ROOT}`` is PDM's word for the project's folder, ``{root:uri}`` hatch's.
    """
    text = url.replace("${PROJECT_ROOT}", draft.root.as_posix()).replace("{root:uri}", draft.root.as_uri())
    text = text.partition("#")[0]
    if "${" in text or "{root" in text:
        return None
    if text.startswith("file:"):
        parts = urlsplit(text)
        text = unquote(parts.path) if text.startswith("file://") else unquote(text.removeprefix("file:"))
        if parts.netloc not in ("", "localhost"):
            return None
    try:
        return (draft.root / Path(origin.path).parent / text.replace("\\", "/")).resolve()
    except (OSError, RuntimeError, ValueError):
        return None


def _gone(draft: Draft, requirement: Requirement, origin: FileOrigin) -> Requirement:
    """Report a place that is not there; the name stays, so that the rest can be judged."""
    place = (requirement.url or "").partition("#")[0]
    message = f"`{place}` does not exist here: a path of another machine cannot be installed from"
    draft.problem(ReadingProblemKind.MISSING_FILE, origin, message, str(requirement))
    return replace(requirement, url=None)
