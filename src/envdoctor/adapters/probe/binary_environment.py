"""All binaries of an installed environment, found by the file lists of its distributions."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from envdoctor.adapters.probe.binary_loader import loader_libraries
from envdoctor.adapters.probe.binary_reader import BinaryUnreadable, read_binary
from envdoctor.adapters.probe.environment_contents import verify_contents
from envdoctor.adapters.probe.environment_files import read_files
from envdoctor.adapters.probe.environment_metadata import read_text
from envdoctor.adapters.read_files import at_once
from envdoctor.model.binary import Binary, BinaryInventory
from envdoctor.model.environment import (
    EnvironmentKind,
    EnvironmentProblem,
    EnvironmentProblemKind,
    InstalledDistribution,
    InstalledEnvironment,
    is_code,
)

__all__ = ["scan_environment"]

_IN_RECORD = re.compile(rb'^"?([^,\r\n"]+\.(?:so(?:\.\w+)*|pyd|dll|dylib))"?(?:,|\r?$)', re.MULTILINE | re.IGNORECASE)
_BINARY = re.compile(r"\.(so(\.\w+)*|pyd|dll|dylib)$", re.IGNORECASE)
_RECORD_LIMIT = 64 << 20
_MAX_ENTRIES = 400_000
"""Files and folders that a walk looks at before it gives up."""

_Place = tuple[str, str | None]
"""A path, and the distribution that owns it."""


def scan_environment(
    environment: InstalledEnvironment,
    *,
    gpu: bool = True,
    live: bool | None = None,
) -> BinaryInventory:
    """Read the headers of an environment's extension modules and libraries; nothing is loaded, nothing raises.

    ``gpu``: look for GPU code, too (see ``read_binary``). ``live``: the environment belongs to this machine, so that
    its loader counts; by default, where its own interpreter has answered.
    """
    places = dict(_places(environment))
    read = [_read(path, owner, gpu=gpu) for path, owner in places.items()]
    unreadable = tuple(item for item in read if isinstance(item, tuple))
    here = environment.source == "probe" if live is None else live
    return BinaryInventory(
        binaries=tuple(item for item in read if isinstance(item, Binary)),
        libraries=loader_libraries() if here else None,
        unreadable=unreadable,
        damaged=tuple(_damaged(environment, {path: (places[path], reason) for path, reason in unreadable})),
        extra_names=frozenset((*_beside_interpreter(environment), *(_of_interpreter(environment) if here else ()))),
    )


def _read(path: str, owner: str | None, *, gpu: bool) -> Binary | tuple[str, str] | None:
    """Return the binary; its path and a reason where it cannot be read; None for what no loader will meet."""
    try:
        return read_binary(path, numpy=True, gpu=gpu, owner=owner)
    except BinaryUnreadable as error:
        return None if _is_linker_script(path) else (path, error.reason)


def _damaged(
    environment: InstalledEnvironment, unreadable: Mapping[str, tuple[str | None, str]]
) -> Iterator[EnvironmentProblem]:
    """Yield what no loader takes and is not what was recorded; what was delivered so is somebody's test data."""
    owners = {owner for owner, _ in unreadable.values()}
    for item in environment.distributions:
        if item.name not in owners:
            continue
        listed = read_files(item) or ()
        # As `_places` has it: with forward slashes, on Windows as well.
        rows = {posixpath.normpath(f"{item.location}/{row.path}".replace("\\", "/")): row for row in listed}
        own = [path for path in rows if path in unreadable and unreadable[path][0] == item.name and is_code(path)]
        suspects = replace(item, files=tuple(rows[path] for path in own))
        reasons = {rows[path].path: unreadable[path][1] for path in own}
        for problem in verify_contents([suspects], ()).problems if own else ():
            if problem.kind is not EnvironmentProblemKind.UNREADABLE_FILE:
                detail = f"{problem.path}: {reasons[problem.path]}, and another content than recorded"
                yield replace(problem, kind=EnvironmentProblemKind.DAMAGED_FILE, detail=detail)


def _places(environment: InstalledEnvironment) -> Iterator[_Place]:
    """Yield each binary once, with its owner."""
    roots = tuple(_real(folder) for folder in (*environment.site_packages, environment.root) if folder)
    inside: dict[str, bool] = {}
    seen: set[str] = set()
    listed: set[str] = set()
    for item in environment.distributions:
        if not item.metadata_path or not item.location:
            continue
        found = _recorded(item)
        if found is None:
            found = _of_top_level(item)
        else:
            listed.add(item.location)
        for path in found:
            # A file list may name what lies outside the environment; that is not ours to open.
            folder = posixpath.dirname(path)
            if folder not in inside:
                inside[folder] = _real(folder).startswith(roots)
            if path not in seen and inside[folder]:
                seen.add(path)
                yield path, item.name
    for folder in environment.site_packages:
        if folder not in listed:
            for path in _walk(folder):
                if path not in seen:
                    seen.add(path)
                    yield path, None


def _real(folder: str) -> str:
    return os.path.realpath(folder).replace("\\", "/").rstrip("/") + "/"


def _recorded(distribution: InstalledDistribution) -> list[str] | None:
    """Return the binaries that RECORD lists, None where there is no RECORD."""
    data = read_text(f"{distribution.metadata_path}/RECORD", _RECORD_LIMIT)
    if data is None:
        return None
    base = distribution.location.replace("\\", "/")
    rows = (item.decode("utf-8", "replace").replace("\\", "/") for item in _IN_RECORD.findall(data))
    return [posixpath.normpath(posixpath.join(base, row)) for row in rows]


def _of_top_level(distribution: InstalledDistribution) -> list[str]:
    base = distribution.location.replace("\\", "/")
    return [path for name in distribution.top_level for path in _walk(f"{base}/{name}")]


def _walk(folder: str) -> Iterator[str]:
    count = 0
    for parent, folders, files in os.walk(folder):
        count += len(folders) + len(files)
        if count > _MAX_ENTRIES:
            return
        folders[:] = [item for item in folders if item != "__pycache__"]
        base = parent.replace("\\", "/")
        yield from (f"{base}/{name}" for name in files if _BINARY.search(name))


def _beside_interpreter(environment: InstalledEnvironment) -> Iterable[str]:
    """Return the names of the libraries that a conda environment's loader finds in its own folders."""
    if environment.kind is not EnvironmentKind.CONDA or not environment.root:
        return ()
    names: list[str] = []
    for part in ("lib", "Library/bin", "bin"):
        with suppress(OSError):
            names += os.listdir(Path(environment.root, part))  # noqa: PTH208 - names alone
    return [name for name in names if _BINARY.search(name)]


def _of_interpreter(environment: InstalledEnvironment) -> Iterator[str]:
    """Yield what the interpreter's program has loaded itself, and Python's library where its own search finds it.

    Where that cannot be read, Python's library is taken to be there.
    """
    program = os.path.realpath(environment.executable or "")
    try:
        found = read_binary(program, gpu=False)
    except BinaryUnreadable:
        number = ".".join(map(str, environment.python or ()))
        yield from (f"libpython{number}{kind}.so.1.0" for kind in ("", "t"))
        return
    yield from map(posixpath.basename, found.needed)
    for folder in found.search:
        place = re.sub(r"\$(ORIGIN|\{ORIGIN\})", posixpath.dirname(program), folder)
        with suppress(OSError):
            yield from (name for name in os.listdir(place) if name.startswith("libpython"))  # noqa: PTH208 - names alone


def _is_linker_script(path: str) -> bool:
    """Return whether a ``.so`` is a text for the linker, or a file of some other kind that no loader will meet."""
    with suppress(OSError), open(path, "rb", opener=at_once) as file:
        head = file.read(64)
        return not head or (head.isascii() and b"\0" not in head)
    return False
