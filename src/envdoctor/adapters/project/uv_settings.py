"""What ``[tool.uv]`` and ``uv.toml`` add to the standard tables: overrides, constraints and indexes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any

from packaging.markers import InvalidMarker, Marker

from envdoctor.adapters.project.draft import Circumstances, Draft, ProjectFileError
from envdoctor.adapters.project.specification import parse_pep508
from envdoctor.adapters.project.toml_document import TomlDocument, parse_toml
from envdoctor.model.index_url import with_user
from envdoctor.model.project import FileOption, IndexOption, IndexOptionKind, ReadingProblem
from envdoctor.model.requirement import GroupKind, GroupName, RequirementKind
from envdoctor.model.upload_limit import (
    UVS_LIMIT_UNREAD,
    is_of_one,
    limit_text,
    limits_of_table,
    uvs_first_too_new,
    without_quotes,
)

__all__ = ["UV_FILE", "check_conflicts", "index_url_of", "indexes", "read_uv", "read_uv_file"]

UV_FILE = "uv.toml"
_TABLE = ("tool", "uv")


def read_uv_file(draft: Draft) -> None:
    """Read what the ``uv.toml`` beside the project says of indexes, builds and dates, in ``[tool.uv]``'s place."""
    if (draft.root / UV_FILE).is_file():
        document = parse_toml(draft.load(draft.root / UV_FILE))
        _indexes(draft, document, ())
        _builds(draft, document, ())
        _dates(draft, document, ())


def read_uv(draft: Draft, document: TomlDocument) -> None:
    """Read constraints, overrides and indexes."""
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
    for at, text in document.strings(draft, "tool", "uv", "environments"):
        _environment(draft, document, text, at)
    if not (document.file.path.parent / UV_FILE).is_file():
        _indexes(draft, document, _TABLE)
        _builds(draft, document, _TABLE)
        _dates(draft, document, _TABLE)


def _builds(draft: Draft, document: TomlDocument, base: tuple[str, ...]) -> None:
    """Keep what is built outside an environment of its own, and what is added to those of others."""
    key = "no-build-isolation"
    for table in (base, (*base, "pip")):
        if document.get(*table, key) is True:
            draft.keep_option(FileOption(key, "", document.origin(*table, key)))
        for at, text in document.strings(draft, *table, f"{key}-package"):
            draft.keep_option(FileOption(key, text, document.origin(*table, f"{key}-package", at)))
    key = "extra-build-dependencies"
    added = document.get(*base, key)
    for package, entries in added.items() if isinstance(added, dict) else ():
        for entry in entries if isinstance(entries, list) else ():
            wanted = entry.get("requirement") if isinstance(entry, dict) else entry
            if isinstance(wanted, str):
                draft.keep_option(FileOption(key, f"{package} {wanted}", document.origin(*base, key, package)))


def _dates(draft: Draft, document: TomlDocument, base: tuple[str, ...]) -> None:
    """Keep until when files may have been uploaded; ``[tool.uv.pip]`` counts where ``[tool.uv]`` says nothing."""
    now = datetime.now(timezone.utc)
    for table in (base, (*base, "pip")):
        found = document.get(*table)
        for path, name, of, value in limits_of_table(found) if isinstance(found, dict) else ():
            text, where = limit_text(value), (*table, *path)
            if name == UVS_LIMIT_UNREAD:
                draft.keep_option(FileOption(name, of, document.origin(*where)))
                continue
            if len(path) > 1 and not is_of_one(name, of):
                document.fault(draft, where, f"is not read: it cannot hold for `{of}`")
                continue
            try:
                uvs_first_too_new(text or "", now)
            except ValueError as error:
                document.fault(draft, where, f"is not read: {error}{without_quotes(value)}")
                continue
            draft.keep_option(FileOption(name, f"{of} {text}" if of else f"{text}", document.origin(*where)))


def _indexes(draft: Draft, document: TomlDocument, base: tuple[str, ...]) -> None:
    """Read indexes by uv's words and by pip's; an ``explicit`` one serves only the sources that name it."""
    for at, entry in enumerate(indexes(document, *base)):
        url = index_url_of(entry, draft.variables)
        if url is not None and not entry.get("explicit"):
            kind = IndexOptionKind.INDEX_URL if entry.get("default") else IndexOptionKind.EXTRA_INDEX_URL
            kind = IndexOptionKind.FIND_LINKS if entry.get("format") == "flat" else kind
            draft.name_index(url, entry.get("name"))
            draft.add_index(kind, url, document.origin(*base, "index", at))
    for table in (base, (*base, "pip")):
        url = document.get(*table, IndexOptionKind.INDEX_URL.value)
        if isinstance(url, str):
            draft.add_index(IndexOptionKind.INDEX_URL, url, document.origin(*table, IndexOptionKind.INDEX_URL.value))
        for kind in (IndexOptionKind.EXTRA_INDEX_URL, IndexOptionKind.FIND_LINKS):
            for at, text in document.strings(draft, *table, kind.value):
                draft.add_index(kind, text, document.origin(*table, kind.value, at))
        if document.get(*table, IndexOptionKind.NO_INDEX.value) is True:
            origin = document.origin(*table, IndexOptionKind.NO_INDEX.value)
            draft.keep_index(IndexOption(IndexOptionKind.NO_INDEX, "", origin))


def index_url_of(entry: Mapping[str, Any], variables: Mapping[str, str]) -> str | None:
    """Return the URL of an entry, with user and password of ``UV_INDEX_<NAME>_USERNAME`` and ``_PASSWORD``."""
    url, name = entry.get("url"), entry.get("name")
    if not isinstance(url, str) or not isinstance(name, str):
        return url if isinstance(url, str) else None
    return with_user(url, "UV_INDEX_", name, variables)


def _environment(draft: Draft, document: TomlDocument, text: str, at: int) -> None:
    try:
        draft.environments.append((Marker(text), document.origin("tool", "uv", "environments", at)))
    except (InvalidMarker, RecursionError):
        document.fault(draft, ("tool", "uv", "environments", at), "must be a marker (PEP 508)")


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


def indexes(document: TomlDocument, *base: str) -> list[dict[str, Any]]:
    """Return the entries of ``[[tool.uv.index]]``, or of ``[[index]]`` in ``uv.toml``."""
    value = document.get(*base, "index")
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []
