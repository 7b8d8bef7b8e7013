"""Lock files of others as input: what they pin for the target, to be held against it, and what in them is damaged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from packaging.markers import InvalidMarker, Marker
from packaging.utils import NormalizedName, canonicalize_name

from envdoctor.adapters.project.decoding import json_of
from envdoctor.adapters.project.draft import Circumstances, Draft, ProjectFileError, TextFile
from envdoctor.adapters.project.specification import parse_pep508
from envdoctor.adapters.project.toml_document import TomlDocument, parse_toml
from envdoctor.model.origin import FileOrigin
from envdoctor.model.project import ReadingProblem, ReadingProblemKind
from envdoctor.model.requirement import Requirement, RequirementKind, holds

__all__ = ["read_lock_file"]

OWN_SOURCES = ("editable", "virtual", "directory")
"""Sources of uv that are folders of the project itself."""
_KINDS: Mapping[type, str] = {str: "text", list: "list", dict: "table"}
_SHAPES: Mapping[str, tuple[tuple[str, tuple[type, ...]], ...]] = {
    "uv.lock": (
        *(("source", (dict,)), ("wheels", (list,)), ("dependencies", (list,)), ("optional-dependencies", (dict,))),
    ),
    "poetry.lock": (("source", (dict,)), ("files", (list,)), ("dependencies", (dict,)), ("markers", (str, dict))),
    "pdm.lock": (("files", (list,)), ("groups", (list,)), ("dependencies", (list,)), ("marker", (str,))),
    "pylock.toml": (("wheels", (list,)), ("dependencies", (list,)), ("marker", (str,))),
    "Pipfile.lock": (("hashes", (list,)), ("markers", (str,)), ("extras", (list,))),
}
"""Keys of an entry that are read, or that others of the lock depend on, with the kinds that they may have."""
_LAST = {"pylock.toml": 1, "uv.lock": 1, "poetry.lock": 2, "pdm.lock": 4}
"""The last version of each form that is known."""
_LINE = (("version", (str,)), ("extra", (list,)), ("marker", (str,)))
_POETRY_LINE = (("version", (str,)), ("extras", (list,)), ("markers", (str,)))


def entry_damage(entry: object, lock: str, names: frozenset[NormalizedName]) -> str:
    """Return what is wrong with an entry, an empty text where nothing is; ``names``: all that the lock has."""
    lock = "pylock.toml" if lock.startswith("pylock.") else lock
    if not isinstance(entry, dict):
        return "is not a table"
    name, version = entry.get("name"), entry.get("version")
    if not isinstance(name, str):
        return "has no `name`" if name is None else "has a `name` that is not a text"
    if version is None:
        needed = lock != "pylock.toml" and not is_elsewhere(entry)
        why = "has no `version`" if needed else ""
    else:
        why = "" if isinstance(version, str) else "has a `version` that is not a text"
    why = why or _misshapen(entry, _SHAPES[lock]) or next(_lines(entry, lock, names), "")
    return f"(`{name}`) {why}" if why else ""


def pinned_damage(entry: object) -> str:
    """Return what is wrong with a package of Pipenv's lock, an empty text where nothing is."""
    if not isinstance(entry, dict):
        return "is not a table"
    version = entry.get("version")
    if version is None and not any(key in entry for key in ("git", "hg", "svn", "path", "file", "editable")):
        return "has no `version`"
    if not isinstance(version, str | None):
        return "has a `version` that is not a text"
    return _misshapen(entry, _SHAPES["Pipfile.lock"])


def is_elsewhere(entry: Mapping[str, Any]) -> bool:
    """Return whether an entry is taken from a folder, a URL or version control: it is no version of an index."""
    source = entry.get("source")
    source = source if isinstance(source, dict) else {}
    elsewhere = any(key in source for key in (*OWN_SOURCES, "git", "url", "path")) or source.get("type") in (
        *("git", "directory", "file", "url"),
    )
    return elsewhere or any(key in entry for key in ("vcs", "directory", "archive", "git", "path", "url"))


def _misshapen(table: Mapping[str, Any], shapes: tuple[tuple[str, tuple[type, ...]], ...]) -> str:
    """Return which key has a value of another kind, or a marker that nobody can read."""
    for key, kinds in shapes:
        value = table.get(key)
        if value is not None and not isinstance(value, kinds):
            return f"has a `{key}` that is not a {' or a '.join(_KINDS[kind] for kind in kinds)}"
        markers = value.values() if isinstance(value, dict) else [value]
        if key.startswith("marker") and not all(map(_is_marker, markers)):
            return f"has a `{key}` that cannot be read"
    return ""


def _is_marker(value: object) -> bool:
    if value is None or value == "":
        return True
    try:
        return isinstance(value, str) and bool(Marker(value))
    except (InvalidMarker, RecursionError):
        return False


def _lines(entry: Mapping[str, Any], lock: str, names: frozenset[NormalizedName]) -> Iterator[str]:
    """Yield what is wrong with what an entry depends on."""
    if lock == "poetry.lock":
        for name, value in entry.get("dependencies", {}).items():
            for one in value if isinstance(value, list) else [value]:
                if why := "" if isinstance(one, str) else _line_damage(one, _POETRY_LINE):
                    yield f"depends on `{name}` with an entry that {why}"
        return
    listed = [("dependencies", entry.get("dependencies", []))]
    listed += [(f"optional-dependencies.{key}", value) for key, value in entry.get("optional-dependencies", {}).items()]
    for key, value in listed if lock != "pdm.lock" else []:
        if not isinstance(value, list):
            yield f"has a `{key}` that is not a list"
            continue
        for at, line in enumerate(value):
            why = _line_damage(line, _LINE)
            if not why and lock == "uv.lock":
                why = _unnamed(line.get("name"), names)
            if why:
                yield f"is not whole: `{key}[{at}]` {why}"


def _unnamed(name: object, names: frozenset[NormalizedName]) -> str:
    if not isinstance(name, str):
        return "has no `name`"
    return "" if canonicalize_name(name) in names else f"asks for `{name}`, which the lock does not have"


def _line_damage(line: object, shapes: tuple[tuple[str, tuple[type, ...]], ...]) -> str:
    return _misshapen(line, shapes) if isinstance(line, dict) else "is not a table"


Entry = Mapping[str, Any]


def read_lock_file(draft: Draft, path: Path, circumstances: Circumstances) -> None:
    """Read what a lock pins for the target into the draft. Raises ProjectFileError for what is no TOML."""
    if path.name.lower() == "pipfile.lock":
        _read_pipfile_lock(draft, draft.load(path, json_refused=False), circumstances)
        return
    document = parse_toml(draft.load(path), circumstances.included_from)
    table = "packages" if path.name.lower().startswith("pylock.") else "package"
    value = document.get(table)
    packages = [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []
    if not packages:
        message = f"`{path.name}` locks no package"
        draft.problem(ReadingProblemKind.EMPTY, document.origin(), message)
    entries = value if isinstance(value, list) else []
    names = _names(entry.get("name") for entry in packages)
    found = [(at, entry_damage(entry, path.name.lower(), names)) for at, entry in enumerate(entries)]
    _name_damage(
        draft, document.file.shown, [(document.origin(table, at), f"`{table}[{at}]` {why}") for at, why in found if why]
    )
    _name_version(draft, document, _LAST["pylock.toml" if table == "packages" else path.name.lower()])
    python = document.get("requires-python")
    if draft.reading_apart is None and isinstance(python, str):
        draft.set_python(python, document.origin("requires-python"))
    numbers = {id(entry): at for at, entry in enumerate(entries)}
    # What uv's overrides leave out stands among them alone. Of a lock judged by itself they count for what it pins.
    overrides = [one for one in _list(_table(document.data, "manifest"), "overrides") if isinstance(one, dict)]
    draft.locked[document.file.shown] = _names(entry.get("name") for entry in [*packages, *overrides])
    held = _names(one.get("name") for one in overrides if draft.reading_apart is None)
    for entry in _counting(draft, path.name.lower(), packages):
        read = _pin(draft, document, table, numbers[id(entry)], entry, circumstances)
        draft.overrides += [read] if read is not None and read.name in held else []


def _name_version(draft: Draft, document: TomlDocument, last: int) -> None:
    table = {**document.data, **_table(document.data, "metadata")}
    version = next((str(table[key]) for key in ("lock-version", "lock_version", "version") if key in table), "1")
    if version.partition(".")[0] not in map(str, range(last + 1)):
        said = f"`{document.file.shown}` is of version `{version[:20]}`, which is not known here: it may be misread"
        draft.problem(ReadingProblemKind.UNREAD, document.origin(), said)


def _name_damage(draft: Draft, shown: str, found: Sequence[tuple[FileOrigin, str]]) -> None:
    """Say, once for a lock, which of its entries are not what its tool writes: nothing is known of those."""
    if found:
        origin, said = found[0]
        more = f", and {len(found) - 1} more of its entries are damaged" if len(found) > 1 else ""
        draft.problem(ReadingProblemKind.UNREAD, origin, f"`{shown}` is damaged: {said}{more}; they are not read")


def _read_pipfile_lock(draft: Draft, file: TextFile, circumstances: Circumstances) -> None:
    """Read Pipenv's lock, which is JSON; its markers are those of each package."""
    try:
        packages = json_of(file.text, file.shown)["default"].items()
    except (KeyError, TypeError, AttributeError) as error:
        raise ProjectFileError(file.shown, None, "not a lock of Pipenv: it has no `default` packages") from error
    draft.locked[file.shown] = _names(name for name, _ in packages)
    lines = file.text.splitlines()
    damaged = []
    for name, entry in packages:
        line = next((number for number, text in enumerate(lines, start=1) if f'"{name}":' in text), None)
        origin = FileOrigin(file.shown, line)
        if why := pinned_damage(entry):
            damaged.append((origin, f"`{name}` {why}"))
        elif isinstance(version := entry.get("version"), str) and _holds(draft, entry, "markers"):
            read = parse_pep508(f"{name}{version}", origin)
            draft.add(_with_hashes(read, _list(entry, "hashes")), circumstances)
    _name_damage(draft, file.shown, damaged)


def _names(names: Iterable[object]) -> frozenset[NormalizedName]:
    return frozenset(canonicalize_name(name) for name in names if isinstance(name, str))


def _with_hashes(read: Requirement | ReadingProblem, hashes: Iterable[object]) -> Requirement | ReadingProblem:
    """Return a pin with the hashes of the files that are locked: no other file of the version is meant."""
    if isinstance(read, ReadingProblem):
        return read
    return replace(read, hashes=tuple(text for text in hashes if isinstance(text, str)))


def _counting(draft: Draft, name: str, packages: Sequence[Entry]) -> Iterable[Entry]:
    """Return the entries that the target would get: those of the main list."""
    if name == "uv.lock":
        return _reached(draft, packages, _roots(packages), _edges_of_uv)
    if name == "pdm.lock":
        # What extras add has an entry of its own, for the version that stands in another one.
        return [
            one
            for one in packages
            if "default" in (_list(one, "groups") or ["default"])
            and "extras" not in one
            and _holds(draft, one, "marker")
        ]
    if name == "poetry.lock":
        return _of_poetry(draft, packages)
    return [one for one in packages if _holds(draft, one, "marker")]


def _of_poetry(draft: Draft, packages: Sequence[Entry]) -> Iterable[Entry]:
    needed = [one for one in packages if one.get("optional") is not True]
    if any("groups" in one for one in packages):
        return [one for one in needed if "main" in _list(one, "groups") and _holds(draft, one, "markers")]
    if any("category" in one for one in packages):
        return [one for one in needed if one.get("category") == "main"]
    # Releases between say of no package what it is for: it is for the main list where that leads to it.
    main = {line.name for line in draft.requirements if line.kind is RequirementKind.REQUIRE}
    roots: list[_Edge] = [(name, "", ()) for name in sorted(main)]
    return _reached(draft, packages, roots, _edges_of_poetry) if main else needed


_Edge = tuple[str, str, tuple[str, ...]]
"""Name, version where several are locked (else empty), extras."""


def _roots(packages: Iterable[Entry]) -> list[_Edge]:
    """Return the projects that a uv.lock was made for: what they ask for is the main list."""
    own = [one for one in packages if any(key in _table(one, "source") for key in OWN_SOURCES)]
    return [(canonicalize_name(str(one.get("name"))), "", ()) for one in own]


def _reached(draft: Draft, packages: Sequence[Entry], roots: list[_Edge], edges_of: Any) -> list[Entry]:
    """Return what the roots lead to on the target, in the order of the file."""
    by_name: dict[str, list[Entry]] = {}
    for entry in packages:
        by_name.setdefault(canonicalize_name(str(entry.get("name"))), []).append(entry)
    found: dict[int, None] = {}
    seen: set[tuple[int, str]] = set()
    queue = list(roots)
    for name, version, extras in queue:
        same = [one for one in by_name.get(name, ()) if version in ("", str(one.get("version")))]
        # Of a fork, also of one version from two indexes, that of the target.
        for entry in [one for one in same if len(same) == 1 or _fits(draft, one)]:
            found[id(entry)] = None
            for extra in ("", *extras):
                if (id(entry), extra) not in seen:
                    seen.add((id(entry), extra))
                    queue += [edge for edge, marker in edges_of(entry, extra) if _marker_holds(draft, marker)]
    return [entry for entry in packages if id(entry) in found]


def _fits(draft: Draft, entry: Entry) -> bool:
    """Return whether one of the versions of a fork is the target's."""
    return any(_marker_holds(draft, marker) for marker in _list(entry, "resolution-markers") or [None])


def _edges_of_uv(entry: Entry, extra: str) -> Iterator[tuple[_Edge, object]]:
    lines = _list(_table(entry, "optional-dependencies"), extra) if extra else _list(entry, "dependencies")
    for line in lines:
        if isinstance(line, dict):
            extras = tuple(str(one) for one in _list(line, "extra"))
            yield (canonicalize_name(str(line.get("name"))), str(line.get("version", "")), extras), line.get("marker")


def _edges_of_poetry(entry: Entry, extra: str) -> Iterator[tuple[_Edge, object]]:
    for name, value in _table(entry, "dependencies").items() if not extra else ():
        for one in value if isinstance(value, list) else [value]:
            table = one if isinstance(one, dict) else {}
            if table.get("optional") is not True:
                extras = tuple(str(each) for each in _list(table, "extras"))
                yield (canonicalize_name(name), "", extras), table.get("markers")


def _list(table: Entry, key: str) -> list[Any]:
    """Return a list of a table, empty where something else stands there."""
    value = table.get(key)
    return value if isinstance(value, list) else []


def _table(table: Entry, key: str) -> Entry:
    """Return a table of a table, empty where something else stands there."""
    value = table.get(key)
    return value if isinstance(value, dict) else {}


def _holds(draft: Draft, entry: Entry, key: str) -> bool:
    marker = entry.get(key)
    if isinstance(marker, dict):  # Poetry 2: one marker for each group.
        marker = marker.get("main")
    return _marker_holds(draft, marker)


def _marker_holds(draft: Draft, marker: object) -> bool:
    if not isinstance(marker, str) or not marker:
        return True
    try:
        parsed = Marker(marker)
    except (InvalidMarker, RecursionError):
        return True
    environment = {**draft.environment, "extra": ""} if draft.environment is not None else None
    return holds(parsed, environment, "lock_file") is not False


def _pin(
    draft: Draft, document: TomlDocument, table: str, at: int, entry: Entry, circumstances: Circumstances
) -> Requirement | None:
    """Keep a pin; what a lock takes from a folder or from version control is no version of an index."""
    name, version = entry.get("name"), entry.get("version")
    if not isinstance(name, str) or not isinstance(version, str) or is_elsewhere(entry):
        return None
    read = _with_hashes(parse_pep508(f"{name}=={version}", document.origin(table, at)), _hashes(document, entry))
    # A build with a label is on the index that it was locked from, and on no other.
    registry = str(_table(entry, "source").get("registry"))
    own = registry if "+" in version and "://" in registry else circumstances.index_url
    draft.add(read, replace(circumstances, index_url=own))
    return read if isinstance(read, Requirement) else None


def _hashes(document: TomlDocument, entry: Entry) -> Iterator[object]:
    """Yield the hashes of an entry's files, in the words of each tool."""
    apart = _table(_table(document.data, "metadata"), "files")  # Poetry before 1.3
    files = [*_list(entry, "wheels"), *_list(entry, "files"), *_list(apart, str(entry.get("name"))), entry.get("sdist")]
    for file in files:
        if isinstance(file, dict):
            yield file.get("hash")
            yield from (f"{name}:{digest}" for name, digest in _table(file, "hashes").items())
