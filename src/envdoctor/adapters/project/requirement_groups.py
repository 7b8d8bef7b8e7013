"""Optional dependencies (extras) and dependency groups (PEP 735) of pyproject.toml, read where they are asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from packaging.utils import canonicalize_name

from envdoctor.adapters.project.draft import Circumstances, Draft
from envdoctor.adapters.project.limits import DEEPEST_INCLUDES
from envdoctor.adapters.project.requirements_file import include_requirements
from envdoctor.adapters.project.specification import parse_pep508
from envdoctor.adapters.project.toml_document import TomlDocument
from envdoctor.model.project import ReadingProblem

__all__ = ["read_dependency_groups", "read_optional_dependencies"]


def _names(table: dict[str, Any]) -> dict[str, str]:
    return {str(canonicalize_name(key)): key for key in table}


def _asked(draft: Draft, names: dict[str, str], groups: tuple[str, ...]) -> list[str]:
    draft.known_groups.update(names.values())
    asked = [str(canonicalize_name(group)) for group in groups]
    found = [group for group in dict.fromkeys(asked) if group in names]
    draft.used_groups.update(found)
    return found


def read_optional_dependencies(
    draft: Draft, document: TomlDocument, circumstances: Circumstances, groups: tuple[str, ...]
) -> None:
    """Read the extras that are asked for, and the extras of the same project that they name."""
    base = ("project", "optional-dependencies")
    names = _names(document.table(draft, *base))
    dynamic = document.table(draft, "tool", "setuptools", "dynamic", "optional-dependencies")
    from_files = _names(dynamic)
    name = document.get("project", "name")
    own = canonicalize_name(name) if isinstance(name, str) else None
    waiting = _asked(draft, {**from_files, **names}, groups)
    done: set[str] = set()
    while waiting:
        extra = waiting.pop(0)
        if extra in done:
            continue
        done.add(extra)
        standing = replace(circumstances, group=names.get(extra) or from_files[extra])
        if extra not in names:
            _from_files(draft, document, from_files[extra], standing)
            continue
        for at, text in document.strings(draft, *base, names[extra]):
            read = parse_pep508(text, document.origin(*base, names[extra], at))
            if not isinstance(read, ReadingProblem) and read.name == own and read.extras:
                waiting += [other for other in sorted(read.extras) if other in names or other in from_files]
                continue
            draft.add(read, standing)


def _from_files(draft: Draft, document: TomlDocument, extra: str, circumstances: Circumstances) -> None:
    path = ("tool", "setuptools", "dynamic", "optional-dependencies", extra, "file")
    value = document.get(*path)
    origin = document.origin(*path)
    for reference in [value] if isinstance(value, str) else value if isinstance(value, list) else []:
        if isinstance(reference, str):
            include_requirements(draft, reference, document.file.path.parent, origin, circumstances)


def read_dependency_groups(
    draft: Draft, document: TomlDocument, circumstances: Circumstances, groups: tuple[str, ...]
) -> None:
    """Read the PEP 735 groups that are asked for, following ``include-group``."""
    names = _names(document.table(draft, "dependency-groups"))
    for group in _asked(draft, names, groups):
        _group(draft, document, names, group, replace(circumstances, group=names[group]), ())


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
