"""Git submodules whose files were not fetched: what lies in one is not here, and git brings it."""

from __future__ import annotations

import re
from pathlib import Path

from envdoctor.adapters.project.decoding import NotText, ProjectFileError, decode, file_bytes

__all__ = ["in_empty_submodule"]

_PATH = re.compile(r"^[ \t]*path[ \t]*=(.*)", re.M)


def in_empty_submodule(boundary: Path, path: Path, written: str) -> str | None:
    """Say that a path, ``written`` so, lies in a git submodule that is empty or not there; None where it does not."""
    for folder in path.parents:
        if not folder.is_relative_to(boundary):
            return None
        try:
            text = decode(file_bytes(folder / ".gitmodules", ".gitmodules")).text
        except (ProjectFileError, NotText):
            continue
        for found in _PATH.findall(text):
            name = str(found).strip(' \t\r"')
            inner = folder / name
            try:
                if path.is_relative_to(inner) and inner != folder and not (inner.exists() and any(inner.iterdir())):
                    return (
                        f"`{written}` is in the git submodule `{name}`, whose files are not here; "
                        "`git submodule update --init --recursive` fetches them"
                    )
            except (OSError, ValueError):
                continue
    return None
