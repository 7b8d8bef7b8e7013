"""pyproject.toml: PEP 621 metadata, PEP 735 groups, and what setuptools, Poetry and uv add."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from envdoctor.adapters.project.draft import Circumstances, Draft
from envdoctor.adapters.project.poetry import read_poetry
from envdoctor.adapters.project.requirement_groups import read_dependency_groups, read_optional_dependencies
from envdoctor.adapters.project.requirements_file import include_requirements
from envdoctor.adapters.project.specification import parse_pep508
from envdoctor.adapters.project.toml_document import TomlDocument, parse_toml
from envdoctor.adapters.project.uv_settings import apply_sources, read_uv
from envdoctor.model.project import ReadingProblemKind

__all__ = ["read_pyproject"]

_TOOLS = ("poetry", "uv", "envdoctor", "setuptools", "hatch")


def read_pyproject(
    draft: Draft,
    path: Path,
    circumstances: Circumstances,
    *,
    groups: tuple[str, ...] = (),
    dependencies: bool = True,
    settings: bool = True,
) -> bool:
    """Read the file into the draft; return False where it does not say what the dependencies are.

    Raises ProjectFileError. Without ``dependencies`` only name, Python, settings and the asked-for groups are read.
    """
    document = parse_toml(draft.load(path, json_refused=False), circumstances.included_from)
    _check_tables(draft, document)
    if settings:
        _identity(draft, document)
    before = len(draft.requirements)
    known = _main_list(draft, document, circumstances) if dependencies else True
    read_optional_dependencies(draft, document, circumstances, groups)
    read_dependency_groups(draft, document, circumstances, groups)
    read_poetry(draft, document, circumstances, groups, main=dependencies and not _has_main_list(document))
    if settings:
        read_uv(draft, document)
    apply_sources(draft, document, before)
    return known


def _check_tables(draft: Draft, document: TomlDocument) -> None:
    """Report what stands where a table with requirements or settings belongs."""
    for name in ("project", "tool"):
        if not isinstance(document.data.get(name, {}), dict):
            document.fault(draft, (name,), "must be a table")
    for name in _TOOLS:
        value = document.get("tool", name)
        if value is not None and not isinstance(value, dict):
            document.fault(draft, ("tool", name), "must be a table")


def _has_main_list(document: TomlDocument) -> bool:
    return document.get("project", "dependencies") is not None


def _identity(draft: Draft, document: TomlDocument) -> None:
    name = document.get("project", "name") or document.get("tool", "poetry", "name")
    if draft.name is None and isinstance(name, str):
        draft.name = name
    python = document.get("project", "requires-python")
    if isinstance(python, str):
        draft.set_python(python, document.origin("project", "requires-python"))
    elif python is not None:
        document.fault(draft, ("project", "requires-python"), "must be a string")
    own = document.get("tool", "envdoctor")
    if isinstance(own, dict):
        draft.settings = own


def _main_list(draft: Draft, document: TomlDocument, circumstances: Circumstances) -> bool:
    if isinstance(document.get("project"), dict):
        draft.asks_for_none = True
    for at, text in document.strings(draft, "project", "dependencies"):
        draft.add(parse_pep508(text, document.origin("project", "dependencies", at)), circumstances)
    dynamic = document.get("project", "dynamic")
    if not isinstance(dynamic, list) or "dependencies" not in dynamic:
        return _has_main_list(document) or document.get("tool", "poetry", "dependencies") is not None
    if document.get("tool", "poetry", "dependencies") is not None:
        return True
    return _dynamic(draft, document, circumstances)


def _dynamic(draft: Draft, document: TomlDocument, circumstances: Circumstances) -> bool:
    for path in (
        ("tool", "setuptools", "dynamic", "dependencies", "file"),
        ("tool", "hatch", "metadata", "hooks", "requirements_txt", "files"),
    ):
        named = document.get(*path)
        if named is not None:
            for reference in _file_names(named):
                include_requirements(draft, reference, document.file.path.parent, document.origin(*path), circumstances)
            return True
    directory = document.file.path.parent
    if any((directory / name).is_file() for name in ("setup.cfg", "setup.py")):
        return False
    message = "the dependencies are `dynamic`: only a build of the project would tell them"
    draft.problem(ReadingProblemKind.DYNAMIC, document.origin("project", "dynamic"), message, "dependencies")
    return True


def _file_names(value: Any) -> list[str]:
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    return [entry for entry in value if isinstance(entry, str)] if isinstance(value, list) else []
