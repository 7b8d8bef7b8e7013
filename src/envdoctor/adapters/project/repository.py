"""The static metadata of a repository that a VCS URL names, read as that of a folder beside the project would be."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from envdoctor.adapters.project.draft import Circumstances, Draft, LocalProject, ProjectFileError
from envdoctor.adapters.project.group_choice import Wanted
from envdoctor.adapters.project.reading import read_metadata_of
from envdoctor.adapters.project.toml_document import stated
from envdoctor.model.origin import FileOrigin
from envdoctor.model.project import ReadingProblemKind, Repository
from envdoctor.model.requirement import Requirement, both_markers
from envdoctor.toml_tables import TomlError, read_toml

__all__ = ["read_repository"]

_HARMLESS = frozenset({ReadingProblemKind.ENCODING, ReadingProblemKind.IGNORED_OPTION})
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")


def read_repository(files: Mapping[str, bytes], line: Requirement, place: str) -> Repository:
    """Return what a repository's files say to whoever installs it as ``line`` asks.

    ``files`` are pyproject.toml, setup.cfg, setup.py and requirements.txt, those that are there; ``place`` is their
    folder's URL.
    """
    origin = line.origin
    assert isinstance(origin, FileOrigin)  # noqa: S101 - VCS URLs stand in files
    shown = tuple(f"{place}/{name}" for name in files)
    from tempfile import TemporaryDirectory  # few projects are cloned

    with TemporaryDirectory(prefix="envdoctor-") as folder:
        root = Path(folder).resolve()
        for name, content in files.items():
            (root / name).write_bytes(content)
        draft = Draft(root=root, boundary=root, variables={})
        standing = Circumstances(group=line.group, step=line.step, index_url=line.index_url)
        extras = tuple(sorted(line.extras))
        try:
            read_metadata_of(draft, LocalProject(root, extras, origin, standing, str(line)), Wanted.of_line(extras))
        except ProjectFileError as error:
            return Repository(_named(draft), files=shown, reason=str(error))
    lines = tuple(_moved(each, line, place) for each in draft.requirements if not _is_local(each))
    version = _version(files.get("pyproject.toml", b""))
    return Repository(_named(draft), version, lines, draft.requires_python, shown, _reason(draft, files))


def _named(draft: Draft) -> str | None:
    return draft.name if draft.name and _NAME.fullmatch(draft.name) else None


def _moved(asked: Requirement, line: Requirement, place: str) -> Requirement:
    """Return a requirement of the repository as it counts for whoever installs it."""
    origin = asked.origin
    assert isinstance(origin, FileOrigin)  # noqa: S101 - it was read of a file
    there = FileOrigin(f"{place}/{origin.path}", origin.line, line.origin, elsewhere=True)  # type: ignore[arg-type]
    return replace(asked, origin=there, marker=both_markers(line.marker, asked.marker), group=line.group)


def _reason(draft: Draft, files: Mapping[str, bytes]) -> str:
    """Return why these are not all of its requirements, an empty text where they are."""
    if not files:
        return "there is no pyproject.toml, setup.cfg or setup.py (or nobody may read it without a password)"
    problem = next((each for each in draft.problems if each.kind not in _HARMLESS), None)
    if problem is not None:
        return f"{problem.origin.path}: {problem.message}"
    if draft.local_projects or any(_is_local(each) for each in draft.requirements):
        return "it asks for a folder of its own repository"
    if not draft.requirements and not draft.asks_for_none:
        return "its files do not say what it needs"
    return ""


def _is_local(line: Requirement) -> bool:
    return line.url is not None and ("://" not in line.url or line.url.startswith("file:"))


def _version(pyproject: bytes) -> str | None:
    """Return the version that pyproject.toml states, None where only a build would tell it."""
    try:
        version = stated(read_toml(pyproject.decode("utf-8-sig")))[1]
    except (TomlError, UnicodeDecodeError):
        return None
    return str(version) if version is not None else None
