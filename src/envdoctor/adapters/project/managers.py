"""What PDM and Hatch add to the standard tables, and pixi's own: packages of conda's channels and of a Python index."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from packaging.markers import Marker

from envdoctor.adapters.project.conda_environment import read_conda_specification
from envdoctor.adapters.project.draft import Circumstances, Draft
from envdoctor.adapters.project.group_choice import Wanted, groups_of
from envdoctor.adapters.project.requirement_lines import expand
from envdoctor.adapters.project.requirements_file import read_requirement_text
from envdoctor.adapters.project.specification import parse_pep508
from envdoctor.adapters.project.toml_document import TomlDocument, parse_toml
from envdoctor.model.index_url import bare_url
from envdoctor.model.origin import FileOrigin
from envdoctor.model.project import FileOption, IndexOptionKind, ReadingProblem, ReadingProblemKind
from envdoctor.model.requirement import GroupKind, Requirement, both_markers, holds

__all__ = ["expanded_url", "read_hatch", "read_pdm", "read_pixi"]

_Path = tuple[str, ...]
_SYSTEMS = {"linux": "linux", "osx": "darwin", "win": "win32"}
_MACHINES = {
    "linux-64": "x86_64", "linux-aarch64": "aarch64", "osx-64": "x86_64", "osx-arm64": "arm64", "win-64": "AMD64",
    "win-arm64": "ARM64",
}  # fmt: skip


def read_pixi_file(draft: Draft, path: Path, circumstances: Circumstances, *, wanted: Wanted) -> None:
    """Read a pixi.toml into the draft. Raises ProjectFileError."""
    document = parse_toml(draft.load(path), circumstances.included_from)
    for table in ("workspace", "project"):
        name = document.get(table, "name")
        if draft.name is None and isinstance(name, str):
            draft.name = name
    read_pixi(draft, document, (), circumstances, wanted)


def read_pixi(draft: Draft, document: TomlDocument, base: _Path, circumstances: Circumstances, wanted: Wanted) -> None:
    """Read pixi's tables below ``base``; features are groups."""
    if base and document.get(*base) is None:
        return
    draft.asks_for_none = True
    if wanted.main:
        _feature(draft, document, base, circumstances)
    features = document.table(draft, *base, "feature")
    for group in groups_of(draft, GroupKind.GROUP, features, wanted):
        _feature(draft, document, (*base, "feature", group.name), replace(circumstances, group=group))
    _indexes(draft, document, base)


def _indexes(draft: Draft, document: TomlDocument, base: _Path) -> None:
    options = (*base, "pypi-options")
    url = document.get(*options, "index-url")
    if isinstance(url, str):
        draft.add_index(IndexOptionKind.INDEX_URL, url, document.origin(*options, "index-url"))
    for at, extra in document.strings(draft, *options, "extra-index-urls"):
        origin = document.origin(*options, "extra-index-urls", at)
        draft.add_index(IndexOptionKind.EXTRA_INDEX_URL, extra, origin)


def _feature(draft: Draft, document: TomlDocument, base: _Path, circumstances: Circumstances) -> None:
    platforms = document.table(draft, *base, "target")
    places: list[tuple[_Path, Marker | None]] = [(base, None)]
    places += [((*base, "target", platform), _marker(platform)) for platform in platforms]
    for place, marker in places:
        if holds(marker, draft.environment) is False and draft.environment is not None:
            continue
        for key, value in document.table(draft, *place, "dependencies").items():
            _conda(draft, document.origin(*place, "dependencies", key), key, value, circumstances)
        for key, value in document.table(draft, *place, "pypi-dependencies").items():
            origin = document.origin(*place, "pypi-dependencies", key)
            for read in _pypi(draft, document, origin, key, value):
                draft.add(replace(read, marker=both_markers(read.marker, marker)), circumstances)


def _marker(platform: str) -> Marker | None:
    if platform == "unix":
        return Marker("sys_platform != 'win32'")
    system = _SYSTEMS.get(platform.partition("-")[0])
    if system is None:
        return None
    machine = _MACHINES.get(platform)
    return Marker(f"sys_platform == '{system}'" + (f" and platform_machine == '{machine}'" if machine else ""))


def _conda(draft: Draft, origin: FileOrigin, key: str, value: Any, circumstances: Circumstances) -> None:
    version = value.get("version", "*") if isinstance(value, dict) else value
    text = f"{key} {version}" if isinstance(version, str) and version != "*" else key
    read_conda_specification(draft, text, origin, circumstances)


def _pypi(draft: Draft, document: TomlDocument, origin: FileOrigin, key: str, value: Any) -> Iterator[Requirement]:
    entry = {"version": value} if isinstance(value, str) else value
    if not isinstance(entry, dict):
        document.fault(draft, (key,), "must be a version or a table")
        return
    extras = entry.get("extras")
    named = key + (f"[{','.join(map(str, extras))}]" if isinstance(extras, list) and extras else "")
    version = entry.get("version", "*")
    place = _place(entry)
    text = named + ("" if place or version == "*" else str(version))
    read = parse_pep508(text, origin, f'{key} = "{value}"' if isinstance(value, str) else text)
    if not isinstance(read, Requirement):
        draft.keep_problem(read)
        return
    index = entry.get("index")
    yield replace(
        read,
        url=place,
        index_url=index if isinstance(index, str) else None,
        editable=entry.get("editable") is True,
    )


def _place(entry: dict[str, Any]) -> str | None:
    if isinstance(entry.get("git"), str):
        reference = entry.get("rev") or entry.get("tag") or entry.get("branch")
        return f"git+{entry['git']}" + (f"@{reference}" if reference else "")
    return next((entry[key] for key in ("path", "url") if isinstance(entry.get(key), str)), None)


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


def read_hatch(draft: Draft, document: TomlDocument, circumstances: Circumstances, wanted: Wanted) -> None:
    """Read the environments of Hatch as groups."""
    base = ("tool", "hatch", "envs")
    names = [name for name, value in document.table(draft, *base).items() if any(_lists(value))]
    for group in groups_of(draft, GroupKind.GROUP, names, wanted):
        for key in _lists(document.get(*base, group.name)):
            for at, text in document.strings(draft, *base, group.name, key):
                if "{" not in text:  # A value of a matrix or a context: not one requirement.
                    origin = document.origin(*base, group.name, key, at)
                    draft.add(parse_pep508(text, origin), replace(circumstances, group=group))


def _lists(value: Any) -> Iterator[str]:
    for key in ("dependencies", "extra-dependencies"):
        if isinstance(value, dict) and isinstance(value.get(key), list):
            yield key
