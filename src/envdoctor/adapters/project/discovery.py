"""Which files of a directory, and of those below, describe the project."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from envdoctor.adapters.project.draft import ProjectFileError
from envdoctor.adapters.project.file_names import (
    HARDWARE,
    LOOKED_FOR,
    SCRIPTS,
    STANDARD,
    conda_names,
    is_constraints,
    is_list,
    is_lock,
    is_side_list,
)
from envdoctor.adapters.project.sources import is_left_alone
from envdoctor.adapters.read_files import open_file
from envdoctor.model.dataclass import dataclass

__all__ = ["Found", "denied_below", "enter", "is_own_lock", "look_into", "nested_files"]

_OWN_TABLES = (b"\n[tool.envdoctor", b"\n[[tool.envdoctor")
"""How our locks go on after their packages, joined ones with a table for each target."""
_INSTALLER = re.compile(r"^(?:install|setup)(?:[-_.]?(?:windows|win|linux|mac|macos|unix))?$", re.I)


@dataclass(frozen=True, slots=True)
class Found:
    """What a directory holds that may say what is needed."""

    standard: Mapping[str, Path]
    """requirements.txt, pyproject.toml, setup.cfg, setup.py and Pipfile, by name in lower case."""
    conda: tuple[Path, ...]
    """conda's environment files, the usual one first."""
    lists: tuple[Path, ...]
    """Other requirements files, those of a ``requirements`` folder among them."""
    chosen: tuple[Path, ...]
    """Those of them to be read where none of the standard files says what is needed."""
    constraints: tuple[Path, ...]
    scripts: tuple[Path, ...]
    """Install scripts for the target's system, to be read before the list."""
    other_scripts: tuple[Path, ...]
    launchers: tuple[Path, ...]
    """Scripts for the target's system under any other name, which may install as well."""
    images: tuple[Path, ...]
    """Dockerfiles."""
    locks: tuple[Path, ...]
    """Locks of uv, Poetry, PDM, and pylock.toml."""
    notebooks: tuple[Path, ...]
    last_resort: tuple[Path, ...]
    """What is read where nothing else is there: any script, a Dockerfile."""
    no_files: tuple[Path, ...]
    """What bears the name of one of these and is no file: a pipe, a folder, a link to nothing."""


def look_into(root: Path, shown: str, environment: Mapping[str, str] | None) -> Found:
    """Look at a directory's top level, and at a ``requirements`` folder.

    Raises ProjectFileError where it holds nothing to read.
    """
    entries = _files(root, shown)
    named = {path.name.lower(): path for path in entries}
    lists = [path for path in entries if is_list(path) and path.name.lower() != "requirements.txt"]
    folder = root / "requirements"
    if os.path.isdir(folder) and not folder.is_symlink():
        lists += [path for path in _listed(folder, shown) if path.suffix.lower() in {".txt", ".in"}]
    scripts = [path for path in entries if path.suffix.lower() in SCRIPTS]
    installers = [path for path in scripts if _INSTALLER.match(path.stem)]
    chosen_scripts = _for_system(installers, environment)
    images = [path for path in entries if path.name.lower().startswith(("dockerfile", "containerfile"))]
    found = Found(
        standard={name: named[name] for name in STANDARD if name in named},
        conda=tuple(named[name] for name in conda_names() if name in named),
        lists=tuple(lists),
        chosen=tuple(_chosen_lists(lists)),
        constraints=tuple(path for path in entries if is_constraints(path)),
        scripts=tuple(chosen_scripts),
        other_scripts=tuple(path for path in installers if path not in chosen_scripts),
        launchers=tuple(path for path in scripts if path not in installers and _runs_on(path, environment)),
        images=tuple(images),
        locks=tuple(path for path in entries if is_lock(path)),
        notebooks=tuple(path for path in entries if path.suffix.lower() == ".ipynb"),
        last_resort=tuple(_last_resort(entries, scripts, images, environment)),
        no_files=_no_files(root),
    )
    said = found.standard or found.conda or found.chosen or found.scripts or found.last_resort
    if not said and all(is_constraints(path) for path in found.no_files):
        message = f"nothing here describes requirements; looked for {LOOKED_FOR}"
        raise ProjectFileError(shown, None, message + _deeper(root), empty=True)
    return found


def _last_resort(
    entries: list[Path], scripts: list[Path], images: list[Path], environment: Mapping[str, str] | None
) -> list[Path]:
    """Return what is read where nothing else says what is needed: a lock, any script, a Dockerfile, a notebook.

    A lock that `envdoctor lock` made of such a file does not hide it: it says what came out, not what is asked for.
    """
    locks = [path for path in entries if is_lock(path)]
    others = [path for path in locks if not is_own_lock(path)]
    notebooks = [path for path in entries if path.suffix.lower() == ".ipynb"]
    written = _for_system(scripts, environment) or scripts[:1] or images[:1] or notebooks[:1]
    return others[:1] or written or locks[:1]


def is_own_lock(path: Path) -> bool:
    """Return whether `envdoctor lock` has written a lock: it is held against the project in another way."""
    try:
        status = path.stat()
    except OSError:
        return False
    return _is_own(path, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=64)
def _is_own(path: Path, _dated: int, _size: int) -> bool:
    # A lock of many packages takes longer to parse than the rest of the project, and its own reader does that.
    try:
        text = b"\n" + path.read_bytes()
    except OSError:
        return False
    return any(table in text for table in _OWN_TABLES)


def enter(directory: Path) -> None:
    r"""Raise OSError for a directory that may be listed and not entered; Windows has none, nor `\\?\C:\folder\.`."""
    if os.name == "posix":
        os.stat(f"{directory}/.")  # noqa: PTH116 - a Path drops the point


def _files(directory: Path, shown: str) -> list[Path]:
    try:
        enter(directory)
        return sorted(path for path in directory.iterdir() if os.path.isfile(path))
    except PermissionError as error:
        message = "the directory may not be read (permission denied)"
        raise ProjectFileError(shown, None, message, denied=True) from error
    except OSError as error:
        raise ProjectFileError(shown, None, f"the directory cannot be read: {error.strerror}") from error


def _listed(folder: Path, shown: str) -> list[Path]:
    """Return the files of a folder below; of one that may not be read nothing: ``denied_below`` names it."""
    try:
        return _files(folder, f"{shown}/{folder.name}")
    except ProjectFileError as error:
        if not error.denied:
            raise
        return []


def _no_files(root: Path) -> tuple[Path, ...]:
    try:
        return tuple(sorted(path for path in root.iterdir() if _bears_known_name(path) and not os.path.isfile(path)))
    except OSError:
        return ()


def _bears_known_name(path: Path) -> bool:
    known = path.name.lower() in {*STANDARD, *conda_names()} or is_list(path) or is_constraints(path) or is_lock(path)
    # A package may be called `pipfile`.
    return known and not (path.suffix == "" and os.path.isdir(path))


def _deeper(root: Path) -> str:
    """Name what lies in folders below, for a message."""
    names = [f"`{path.relative_to(root).as_posix()}`" for path in nested_files(root, ())[:5]]
    return f" (deeper: {', '.join(names)})" if names else ""


def _chosen_lists(lists: list[Path]) -> list[Path]:
    """Leave out side lists (tests, docs), and all hardware variants but one: they exclude each other."""
    compiled = {path.with_suffix("") for path in lists if path.suffix.lower() == ".txt"}
    sources = [path for path in lists if path.suffix.lower() != ".in" or path.with_suffix("") not in compiled]
    useful = [path for path in sources if not is_side_list(path)] or sources
    variants = [path for path in useful if HARDWARE.search(path.stem)]
    plain = [path for path in useful if path not in variants]
    variants.sort(key=lambda path: (0 if re.search(r"gpu|cuda|cu\d", path.stem, re.I) else 1, path.name))
    return plain + variants[:1]


def _for_system(scripts: list[Path], environment: Mapping[str, str] | None) -> list[Path]:
    """Keep the scripts that run on the target; of an unknown target, those of the only family there is."""
    windows = [path for path in scripts if SCRIPTS[path.suffix.lower()] != "posix"]
    posix = [path for path in scripts if SCRIPTS[path.suffix.lower()] == "posix"]
    if environment is None or not environment.get("sys_platform"):
        chosen = [] if windows and posix else windows or posix
    else:
        platform = environment["sys_platform"]
        chosen = windows if platform == "win32" else posix
        other = "mac" if platform == "linux" else "linux"
        chosen = [path for path in chosen if other not in path.stem.lower()]
    batch = [path for path in chosen if SCRIPTS[path.suffix.lower()] != "powershell"]
    return (batch or chosen)[:1] if len(chosen) > 1 else chosen


def _runs_on(script: Path, environment: Mapping[str, str] | None) -> bool:
    platform = (environment or {}).get("sys_platform", "")
    return not platform or (platform == "win32") == (SCRIPTS[script.suffix.lower()] != "posix")


_DEEPER_NAMES = frozenset({"pyproject.toml", "pixi.toml", "pipfile", "environment.yml", "environment.yaml"})
_SAYS_WHAT_IS_NEEDED = ("[project]", "[tool.poetry", "[tool.pdm", "[tool.pixi", "[dependency-groups]")
_DEEPEST = 3
_MOST_FOLDERS = 2_000
_MOST_FILES = 40
_LONGEST = 64 * 1024


def nested_files(root: Path, read: Collection[Path]) -> tuple[Path, ...]:
    """Return the files of the folders below that say what is needed, but those that were read."""
    found: list[Path] = []
    for path in _below(root):
        if path not in read and _says_what_is_needed(path):
            found.append(path)
        if len(found) >= _MOST_FILES:
            break
    return tuple(found)


def denied_below(root: Path) -> tuple[Path, ...]:
    """Return the folders below that this user may not read, as deep as files are looked for."""
    denied: list[OSError] = []
    for _ in _below(root, denied.append):
        pass
    places = (Path(each.filename) for each in denied if isinstance(each, PermissionError))
    return tuple(place for place in places if place != root)


def _below(root: Path, onerror: Callable[[OSError], object] | None = None) -> Iterator[Path]:
    for folders_seen, (directory, folders, names) in enumerate(os.walk(root, onerror=onerror)):
        here = Path(directory)
        depth = len(here.relative_to(root).parts)
        if folders_seen >= _MOST_FOLDERS:
            return
        folders[:] = sorted(name for name in folders if depth < _DEEPEST and not _is_hidden(here / name))
        if depth and here != root / "requirements":
            yield from (here / name for name in sorted(names))


def _is_hidden(folder: Path) -> bool:
    return folder.name.startswith(".") or is_left_alone(folder)


def _says_what_is_needed(path: Path) -> bool:
    name = path.name.lower()
    if name == "pyproject.toml":
        try:
            with open_file(path) as stream:
                start = stream.read(_LONGEST).decode("utf-8", "replace")
        except OSError:
            return False
        return any(mark in start for mark in _SAYS_WHAT_IS_NEEDED)
    return is_list(path) or name in _DEEPER_NAMES
