"""Where a project lies within its repository: annotations and SARIF name files from the repository's root."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["place_in_repository"]


def place_in_repository(project: Path) -> str | None:
    """Return the project's folder relative to the root of its repository, with forward slashes; None for the root.

    The root is the closest folder upwards with a ``.git`` in it; where there is none, the folder that a CI job names
    (``GITHUB_WORKSPACE``, ``CI_PROJECT_DIR``), else the current one. None also where the project is not below it.
    """
    try:
        folder = (project if project.is_dir() else project.parent).resolve()
    except OSError:
        # The current folder is gone.
        return None
    above = next((each for each in (folder, *folder.parents) if os.path.exists(each / ".git")), None)
    named = os.environ.get("GITHUB_WORKSPACE") or os.environ.get("CI_PROJECT_DIR")
    root = above or Path(named or ".").resolve()
    if folder == root or not folder.is_relative_to(root):
        return None
    return folder.relative_to(root).as_posix()
