"""What ``[tool.uv]`` adds to the standard tables: overrides, constraints and indexes."""

from __future__ import annotations

from typing import Any

from envdoctor.adapters.project.draft import Circumstances, Draft, ProjectFileError
from envdoctor.adapters.project.specification import parse_pep508
from envdoctor.adapters.project.toml_document import TomlDocument
from envdoctor.model.project import FileOption, IndexOptionKind, ReadingProblem
from envdoctor.model.requirement import GroupKind, GroupName, RequirementKind

__all__ = ["check_conflicts", "indexes", "read_uv"]


def read_uv(draft: Draft, document: TomlDocument) -> None:
    """Read constraints, overrides and indexes; an ``explicit`` index serves only the sources that name it."""
    path = ("tool", "uv", "constraint-dependencies")
    for at, text in document.strings(draft, *path):
        draft.add(parse_pep508(text, document.origin(*path, at)), Circumstances(kind=RequirementKind.CONSTRAINT))
    path = ("tool", "uv", "override-dependencies")
    for at, text in document.strings(draft, *path):
        read = parse_pep508(text, document.origin(*path, at))
        if isinstance(read, ReadingProblem):
            draft.keep_problem(read)
        else:
            draft.overrides.append(read)
    _files_that_may_be_used(draft, document)
    for at, entry in enumerate(indexes(document)):
        url = entry.get("url")
        if isinstance(url, str) and not entry.get("explicit"):
            kind = IndexOptionKind.INDEX_URL if entry.get("default") else IndexOptionKind.EXTRA_INDEX_URL
            draft.add_index(kind, url, document.origin("tool", "uv", "index", at))


def _files_that_may_be_used(draft: Draft, document: TomlDocument) -> None:
    """Keep what uv says of builds, wheels and pre-releases as the options of pip that mean the same."""
    table = document.table(draft, "tool", "uv")
    for key, name in (("no-build", "only-binary"), ("no-binary", "no-binary")):
        values = [":all:"] if table.get(key) is True else []
        values += [text for _, text in document.strings(draft, "tool", "uv", f"{key}-package")]
        for value in values:
            draft.keep_option(FileOption(name, value, document.origin("tool", "uv", key)))
    if table.get("prerelease") == "allow":
        draft.keep_option(FileOption("pre", "", document.origin("tool", "uv", "prerelease")))


def check_conflicts(draft: Draft, document: TomlDocument) -> None:
    """Refuse groups that uv is told not to install together. Raises ProjectFileError."""
    value = document.get("tool", "uv", "conflicts")
    for at, entries in enumerate(value if isinstance(value, list) else []):
        named = {
            GroupName(kind, str(entry[kind.value]))
            for entry in (entries if isinstance(entries, list) else [])
            for kind in (GroupKind.EXTRA, GroupKind.GROUP)
            if isinstance(entry, dict) and kind.value in entry
        }
        asked = [group for group in draft.used_groups if group in named]
        if len(asked) > 1:
            origin = document.origin("tool", "uv", "conflicts", at)
            names = " and ".join(map(str, asked))
            raise ProjectFileError(origin.path, origin.line, f"{names} exclude each other here: ask for one of them")


def indexes(document: TomlDocument) -> list[dict[str, Any]]:
    """Return the entries of ``[[tool.uv.index]]``."""
    value = document.get("tool", "uv", "index")
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []
