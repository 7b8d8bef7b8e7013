"""pixi's tables: packages of conda's channels and of a Python index."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from packaging.markers import Marker

from envdoctor.adapters.project.conda_environment import read_conda_specification
from envdoctor.adapters.project.draft import Circumstances, Draft
from envdoctor.adapters.project.group_choice import Wanted, groups_of
from envdoctor.adapters.project.specification import parse_pep508
from envdoctor.adapters.project.toml_document import TomlDocument, parse_toml
from envdoctor.model.origin import FileOrigin
from envdoctor.model.project import FileOption, IndexOptionKind
from envdoctor.model.requirement import GroupKind, Requirement, both_markers, holds

__all__ = ["read_pixi", "read_pixi_file"]

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
    shared = document.get(*options, "no-build-isolation")
    for name in [""] if shared is True else shared if isinstance(shared, list) else ():
        if isinstance(name, str):
            origin = document.origin(*options, "no-build-isolation")
            draft.keep_option(FileOption("no-build-isolation", name, origin))


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
