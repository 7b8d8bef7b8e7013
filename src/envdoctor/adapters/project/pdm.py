"""What PDM adds to the standard tables: development groups, sources and overrides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatch

from packaging.markers import Marker

from envdoctor.adapters.project.draft import Circumstances, Draft
from envdoctor.adapters.project.group_choice import Wanted, groups_of
from envdoctor.adapters.project.requirement_lines import expand
from envdoctor.adapters.project.requirements_file import read_requirement_text
from envdoctor.adapters.project.specification import parse_pep508
from envdoctor.adapters.project.toml_document import TomlDocument
from envdoctor.model.index_url import bare_url
from envdoctor.model.origin import FileOrigin
from envdoctor.model.project import FileOption, IndexOptionKind, ReadingProblem, ReadingProblemKind
from envdoctor.model.requirement import GroupKind

__all__ = ["expanded_url", "read_pdm"]

_PDM = ("tool", "pdm")
_NOWHERE = Marker("python_version < '0'")
_DEFAULT = "pypi"


def read_pdm(
    draft: Draft, document: TomlDocument, circumstances: Circumstances, wanted: Wanted, *, settings: bool
) -> None:
    """Read PDM's development groups, and for the project itself its sources and overrides."""
    base = (*_PDM, "dev-dependencies")
    for group in groups_of(draft, GroupKind.GROUP, document.table(draft, *base), wanted):
        for at, text in document.strings(draft, *base, group.name):
            origin = document.origin(*base, group.name, at)
            _line(draft, document, text, origin, replace(circumstances, group=group))
    if settings:
        _sources(draft, document)
        _overrides(draft, document)


def _line(draft: Draft, document: TomlDocument, text: str, origin: FileOrigin, circumstances: Circumstances) -> None:
    """Read a line, which may be an editable path of the project: ``-e file:///${PROJECT_ROOT}/lib``."""
    if not text.lstrip().startswith("-e"):
        draft.add(parse_pep508(text, origin), circumstances)
        return
    place = text.replace("file:///${PROJECT_ROOT}/", "./").partition("#")[0].strip()
    read_requirement_text(draft, place, document.file.path.parent, origin, circumstances)


def _sources(draft: Draft, document: TomlDocument) -> None:
    """Read where packages come from; a source that names packages serves those alone."""
    entries = document.get(*_PDM, "source")
    for at, entry in enumerate(entries if isinstance(entries, list) else []):
        url = entry.get("url") if isinstance(entry, dict) else None
        if not isinstance(url, str):
            continue
        origin = document.origin(*_PDM, "source", at)
        url = expanded_url(draft, url, origin)
        draft.name_index(url, entry.get("name"))
        included = entry.get("include_packages")
        patterns = [text for text in included if isinstance(text, str)] if isinstance(included, list) else []
        if patterns:
            _bind(draft, url, patterns)
            continue
        # PDM's word for the index that pip would ask; another one under that name takes its place.
        first = entry.get("name") == _DEFAULT
        kind = IndexOptionKind.INDEX_URL if first else IndexOptionKind.EXTRA_INDEX_URL
        draft.add_index(IndexOptionKind.FIND_LINKS if entry.get("type") == "find_links" else kind, url, origin)


def _bind(draft: Draft, url: str, patterns: Sequence[str]) -> None:
    """Give the lines that a source's patterns match that source, those of groups too."""
    for lines in (draft.requirements, *(apart.requirements for apart in draft.apart.values())):
        lines[:] = [
            replace(line, index_url=url) if any(fnmatch(line.name, one.lower()) for one in patterns) else line
            for line in lines
        ]


def expanded_url(draft: Draft, url: str, origin: FileOrigin) -> str:
    """Return a URL with the variables that PDM and Pipenv put into it."""
    text, missing = expand(url, draft.variables)
    if missing:
        message = f"{', '.join(f'`{name}`' for name in missing)} is not set here, so the index cannot be asked as it is"
        draft.problem(ReadingProblemKind.MISSING_VARIABLE, origin, message, bare_url(url))
    return text


def _overrides(draft: Draft, document: TomlDocument) -> None:
    base = (*_PDM, "resolution", "overrides")
    for name, value in document.table(draft, *base).items():
        if isinstance(value, str):
            text = f"{name} @ {value}" if "://" in value else f"{name}{_specifier(value)}"
            read = parse_pep508(text, document.origin(*base, name), f'{name} = "{value}"')
            if isinstance(read, ReadingProblem):
                draft.keep_problem(read)
            else:
                draft.overrides.append(read)
    path = (*_PDM, "resolution", "excludes")
    for at, name in document.strings(draft, *path):
        read = parse_pep508(name, document.origin(*path, at))
        if not isinstance(read, ReadingProblem):
            draft.overrides.append(replace(read, marker=_NOWHERE))
    if document.get(*_PDM, "resolution", "allow-prereleases") is True:
        draft.keep_option(FileOption("pre", "", document.origin(*_PDM, "resolution", "allow-prereleases")))


def _specifier(value: str) -> str:
    """Return PDM's version as a specifier: a bare one is exact."""
    if value in {"", "*"}:
        return ""
    return value if value[0] in "=<>!~" else f"=={value}"
