"""``.python-version``: the Python that pyenv and uv make an environment with."""

from __future__ import annotations

import re
from pathlib import Path

from packaging.specifiers import SpecifierSet

from envdoctor.adapters.project.draft import Draft, ProjectFileError
from envdoctor.model.origin import FileOrigin

__all__ = ["read_python_version"]

_CPYTHON = re.compile(r"^(?:cpython[-@])?(?P<minor>[0-9]{1,2}\.[0-9]{1,3})(?P<patch>\.[0-9]{1,3})?(?:[-+].*)?$")
_HIGHEST = 6
"""Folders above the project in which the file counts, as far as its checkout goes."""


def read_python_version(draft: Draft) -> None:
    """Keep the first Python of the nearest file, where no other file says what an environment is made with."""
    if draft.environment_python is not None:
        return
    for folder in (draft.root, *list(draft.root.parents)[:_HIGHEST]):
        if not folder.is_relative_to(draft.boundary):
            return
        file = folder / ".python-version"
        if file.is_file():
            _read(draft, file)
            return


def _read(draft: Draft, path: Path) -> None:
    try:
        file = draft.load(path)
    except ProjectFileError:
        return  # It names a Python and no requirement: nothing of the project is lost with it.
    for number, line in enumerate(file.text.splitlines(), start=1):
        match = _CPYTHON.match(line.partition("#")[0].strip())
        if match is not None:
            version = match["minor"] + (match["patch"] or "")
            exact = SpecifierSet(f"=={version}" if match["patch"] else f"=={version}.*")
            draft.set_environment_python(exact, FileOrigin(file.shown, number), binds=False)
            return
