"""pyproject.toml: PEP 621 metadata, extras, PEP 735 groups, and what setuptools, Poetry and uv add."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name

from envdoctor.adapters.project.decoding import DEEPEST_INCLUDES
from envdoctor.adapters.project.draft import Circumstances, Draft
from envdoctor.adapters.project.group_choice import Wanted, groups_of
from envdoctor.adapters.project.requirements_file import include_requirements
from envdoctor.adapters.project.specification import parse_pep508
from envdoctor.adapters.project.toml_document import TomlDocument, parse_toml, stated
from envdoctor.adapters.project.uv_settings import check_conflicts, read_uv
from envdoctor.adapters.project.uv_sources import apply_sources
from envdoctor.model.origin import FileOrigin
from envdoctor.model.project import ReadingProblem, ReadingProblemKind
from envdoctor.model.requirement import GroupKind, GroupName, Requirement, may_hold

__all__ = ["read_pyproject"]

_EXTRAS = ("project", "optional-dependencies")
_SETUPTOOLS = ("tool", "setuptools", "dynamic")
_HATCH = ("tool", "hatch", "metadata", "hooks", "requirements_txt")
"""The settings of hatch-requirements-txt, which reads as setuptools does, under other names."""


def _names(table: dict[str, Any]) -> dict[str, str]:
    return {str(canonicalize_name(key)): key for key in table}


def read_optional_dependencies(
    draft: Draft, document: TomlDocument, circumstances: Circumstances, wanted: Wanted
) -> None:
    """Read the extras, and the extras of the same project that they name."""
    extras = _extras_of(draft, document)
    for group in groups_of(draft, GroupKind.EXTRA, extras.values(), wanted):
        _bring(draft, document, circumstances, (group.name,), group)


def _extras_of(draft: Draft, document: TomlDocument) -> dict[str, str]:
    """Return the extras by normalised name, as they are written; a list in a table comes before one in a file."""
    files = (*_SETUPTOOLS, "optional-dependencies"), (*_HATCH, "optional-dependencies")
    tables = (document.table(draft, *path) for path in (*files, _EXTRAS))
    return {name: written for table in tables for name, written in _names(table).items()}


def _bring(
    draft: Draft,
    document: TomlDocument,
    circumstances: Circumstances,
    extras: Iterable[str],
    group: GroupName | None = None,
) -> list[str]:
    """Read extras, and those of the project itself that they name; return the ones that it does not have."""
    known, lists = _extras_of(draft, document), document.table(draft, *_EXTRAS)
    waiting, done, lacking = list(extras), set[str](), list[str]()
    while waiting:
        extra = str(canonicalize_name(waiting.pop(0)))
        if extra in done:
            continue
        done.add(extra)
        if extra not in known:
            lacking.append(extra)
            continue
        written = known[extra]
        standing = circumstances if group is None else replace(circumstances, group=replace(group, name=written))
        if written not in lists:
            _from_files(draft, document, written, standing)
        for at, text in document.strings(draft, *_EXTRAS, written) if written in lists else ():
            read = parse_pep508(text, document.origin(*_EXTRAS, written, at))
            if (again := _itself(draft, document, read)) is not None:
                waiting += sorted(again.extras)
            else:
                draft.add(read, standing)
    return lacking


def _from_files(draft: Draft, document: TomlDocument, extra: str, circumstances: Circumstances) -> None:
    path: tuple[str, ...] = (*_SETUPTOOLS, "optional-dependencies", extra, "file")
    if document.get(*path) is None:
        path = (*_HATCH, "optional-dependencies", extra)
    value = document.get(*path)
    origin = document.origin(*path)
    for reference in [value] if isinstance(value, str) else value if isinstance(value, list) else []:
        if isinstance(reference, str):
            include_requirements(draft, reference, document.file.path.parent, origin, circumstances)


def read_dependency_groups(draft: Draft, document: TomlDocument, circumstances: Circumstances, wanted: Wanted) -> None:
    """Read the PEP 735 groups, following ``include-group``."""
    names = _names(document.table(draft, "dependency-groups"))
    for group in groups_of(draft, GroupKind.GROUP, names.values(), wanted):
        _group(draft, document, names, str(canonicalize_name(group.name)), replace(circumstances, group=group), ())


def _group(
    draft: Draft,
    document: TomlDocument,
    names: dict[str, str],
    group: str,
    circumstances: Circumstances,
    chain: tuple[str, ...],
) -> None:
    path = ("dependency-groups", names[group])
    entries = document.get(*path)
    if not isinstance(entries, list):
        document.fault(draft, path, "must be an array")
        return
    for at, entry in enumerate(entries):
        if isinstance(entry, str):
            draft.add(parse_pep508(entry, document.origin(*path, at)), circumstances)
            continue
        included = entry.get("include-group") if isinstance(entry, dict) else None
        if not isinstance(included, str):
            document.fault(draft, (*path, at), "must be a requirement or `{include-group = ...}`")
            continue
        other = str(canonicalize_name(included))
        if len(chain) >= DEEPEST_INCLUDES:
            document.fault(draft, (*path, at), f"is not read: {DEEPEST_INCLUDES} groups include each other up to here")
        elif other in (*chain, group):
            document.fault(draft, (*path, at), f"includes the group `{included}`, which includes this one")
        elif other not in names:
            document.fault(draft, (*path, at), f"includes the group `{included}`, which is not there")
        else:
            _group(draft, document, names, other, circumstances, (*chain, group))


_TOOLS = ("poetry", "uv", "envdoctor", "setuptools", "hatch", "pixi", "pdm")


def read_pyproject(
    draft: Draft,
    path: Path,
    circumstances: Circumstances,
    *,
    wanted: Wanted = Wanted(),  # noqa: B008 - immutable
    dependencies: bool = True,
    settings: bool = True,
) -> bool:
    """Read the file into the draft; return False where it does not say what the dependencies are.

    Raises ProjectFileError. Without ``dependencies`` only name, Python, settings and groups are read.
    """
    document = parse_toml(draft.load(path, json_refused=False), circumstances.included_from)
    _check_tables(draft, document)
    draft.identify(path.parent, *stated(document.data))
    if settings:
        _identity(draft, document)
    before = len(draft.requirements)
    known = _main_list(draft, document, circumstances) if dependencies and wanted.main else True
    read_optional_dependencies(draft, document, circumstances, wanted)
    read_dependency_groups(draft, document, circumstances, wanted)
    main = dependencies and wanted.main and not _has_main_list(document)
    _read_managers(draft, document, circumstances, wanted, main=main, settings=settings)
    if document.get("tool", "pixi") is not None:
        from envdoctor.adapters.project.pixi import read_pixi

        asked = wanted if dependencies else replace(wanted, main=False)
        read_pixi(draft, document, ("tool", "pixi"), circumstances, asked)
    if settings:
        read_uv(draft, document)
        check_conflicts(draft, document)
    apply_sources(draft, document, before)
    return known


def _read_managers(
    draft: Draft, document: TomlDocument, circumstances: Circumstances, wanted: Wanted, *, main: bool, settings: bool
) -> None:
    """Read what Poetry, PDM and Hatch add; a run imports the readers of those that the file has a table of."""
    if document.get("tool", "poetry") is not None:
        from envdoctor.adapters.project.poetry import read_poetry

        read_poetry(draft, document, circumstances, wanted, main=main)
    if document.get("tool", "pdm") is not None:
        from envdoctor.adapters.project.pdm import read_pdm

        read_pdm(draft, document, circumstances, wanted, settings=settings)
    if document.get("tool", "hatch") is not None:
        from envdoctor.adapters.project.hatch import read_hatch

        read_hatch(draft, document, circumstances, wanted)


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
        read = parse_pep508(text, document.origin("project", "dependencies", at))
        if (line := _itself(draft, document, read)) is not None:
            _add_itself(draft, document, line, circumstances)
        else:
            draft.add(read, circumstances)
    dynamic = document.get("project", "dynamic")
    if not isinstance(dynamic, list) or "dependencies" not in dynamic:
        return _has_main_list(document) or document.get("tool", "poetry", "dependencies") is not None
    if document.get("tool", "poetry", "dependencies") is not None:
        return True
    return _dynamic(draft, document, circumstances)


def _itself(draft: Draft, document: TomlDocument, read: Requirement | ReadingProblem) -> Requirement | None:
    """Return a line that asks on the target for the project that it stands in, None where it is another."""
    name = document.get("project", "name")
    if isinstance(read, ReadingProblem) or read.url is not None or not isinstance(name, str):
        return None
    own = canonicalize_name(name) == read.name and may_hold(read.marker, draft.environment)
    return read if own else None


def _add_itself(draft: Draft, document: TomlDocument, line: Requirement, circumstances: Circumstances) -> None:
    """Keep what the line's extras bring: the project itself is there, and in another version it cannot be."""
    (_, version), origin = stated(document.data), line.origin
    assert isinstance(origin, FileOrigin)  # noqa: S101 - it was read of a file
    if version is not None and not line.admits(version):
        message = f"it asks for the project itself, which is version {version} here: nothing installs both"
        draft.problem(ReadingProblemKind.INVALID_REQUIREMENT, origin, message, str(line))
        return
    for extra in _bring(draft, document, circumstances, sorted(line.extras)):
        message = f"the project itself has no extra `{extra}`"
        draft.problem(ReadingProblemKind.UNKNOWN_EXTRA, origin, message, str(line))


def _dynamic(draft: Draft, document: TomlDocument, circumstances: Circumstances) -> bool:
    for path in (
        (*_SETUPTOOLS, "dependencies", "file"),
        (*_HATCH, "files"),
        (*_HATCH, "filename"),
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
