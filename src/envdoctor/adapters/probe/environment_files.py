"""All RECORD files of an environment in one pass: who shares folders, and what is not on the disk as recorded."""

from __future__ import annotations

import os
import posixpath
import re
import stat
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from envdoctor.adapters.probe.environment_metadata import is_forbidden, read_text
from envdoctor.model.dataclass import dataclass
from envdoctor.model.environment import EnvironmentProblem, EnvironmentProblemKind, InstalledDistribution, InstalledFile

__all__ = [
    "Overview",
    "is_zeroed",
    "look_over",
    "parse_record",
    "read_files",
    "verify_files",
    "with_files",
    "worth_a_look",
]

MANY_FILES = 10_000
"""Above this many recorded files the sizes of libraries alone are compared; whether a file is there, always."""

# What `pip install --target` puts beside the packages: scripts and data that many distributions have.
_NO_PACKAGES = frozenset({b"..", b"__pycache__", b"bin", b"share", b"etc", b"include", b"Scripts"})
_NOT_NAMED = re.compile(r"[-_.]+")
_FIRST_PART = re.compile(rb'"?([^/\\\r\n,"]+)')
_LIBRARY = re.compile(rb"\.(?:so(?:\.\d+)*|pyd|dll|dylib)$")
_READING = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
"""Without buffers and objects between, for thousands of files; a pipe in the place of one keeps nobody waiting."""
_MARKS = b"__init__.py"
"""A disk that lost its last writes has NULs here, too; these files are few and small enough to be opened."""


@dataclass(frozen=True, slots=True)
class Overview:
    """What one pass over all RECORD files shows."""

    sharing: frozenset[str]
    """Metadata paths of the distributions that have a top-level folder in common with another one: only these can own
    the same file (scripts aside), so that their file lists are worth keeping."""
    problems: tuple[EnvironmentProblem, ...]


def look_over(distributions: Iterable[InstalledDistribution]) -> Overview:
    """Compare every RECORD with the disk (existence and size) and see who shares folders; no list is kept in memory.

    Byte code, scripts and what installers write about themselves are passed over.
    """
    owners: dict[tuple[str, bytes], list[str]] = defaultdict(list)
    problems: list[EnvironmentProblem] = []
    told: set[str] = set()
    blind: set[str] = set()
    """Folders with a distribution that keeps no list: whose the rest is, nobody can tell there."""
    read: list[tuple[InstalledDistribution, bytes, list[bytes]]] = []
    for item in distributions:
        data = read_text(f"{item.metadata_path}/RECORD", RECORD_LIMIT) if item.metadata_path else None
        if data is None or b"," not in data:
            problems += _without_record(item, data)
            blind.add(item.location)
            continue
        told.add(item.location)
        lines = data.replace(b"\r\n", b"\n").split(b"\n")
        read.append((item, data, lines))
        for part in _first_parts(lines):
            if not part.endswith((b".dist-info", b".egg-info")) and part not in _NO_PACKAGES:
                owners[item.location, part].append(item.metadata_path)
    folders = _Folders() if sum(len(lines) for _, _, lines in read) > MANY_FILES else None
    for item, data, lines in read:
        if b'"' in data or b"\\" in data:
            problems += verify_files([replace(item, files=parse_record(data))])
        else:
            problems += _verify_lines(item, lines, folders)
    owning = {path for paths in owners.values() for path in paths}
    bare = {(item.location, str(item.name)): item for item, _, _ in read if item.metadata_path not in owning}
    problems += _unowned(told - blind, owners, bare)
    sharing = frozenset(path for paths in owners.values() if len(paths) > 1 for path in paths)
    return Overview(sharing, tuple(problems))


def _unowned(
    locations: Iterable[str],
    owners: Mapping[tuple[str, bytes], list[str]],
    bare: Mapping[tuple[str, str], InstalledDistribution],
) -> Iterator[EnvironmentProblem]:
    """Yield the packages of folders that no list of files names: what is left of a distribution without metadata.

    ``bare``: the distributions whose lists name no package; one of the same name as a folder has a list that is cut.
    """
    for location in sorted(locations):
        try:
            with os.scandir(location) as entries:
                names = sorted(entry.name for entry in entries if entry.name.isidentifier() and entry.is_dir())
        except OSError:
            continue
        for name in names:
            if (location, os.fsencode(name)) in owners:
                continue
            begin = read_text(f"{location}/{name}/__init__.py", 256)
            if begin is None or _is_ours(name, begin):
                continue
            whose = bare.get((location, _NOT_NAMED.sub("-", name).lower()))
            if whose is not None:
                detail = f"its RECORD does not name its own folder `{name}`"
                yield EnvironmentProblem(EnvironmentProblemKind.NO_RECORD, whose.name, detail)
            else:
                yield EnvironmentProblem(EnvironmentProblemKind.NO_OWNER, name, f"{location}/{name}")


def _is_ours(name: str, begin: bytes) -> bool:
    """Return whether a package is what a fix writes: a stand-in, or what sets the profile's settings at the start."""
    # Imported here: few environments have a package that nobody owns.
    from envdoctor.model.step import WriteStartup, WriteStub

    return begin.startswith(WriteStub.MARK.encode()) or name == WriteStartup.FOLDER


def _without_record(item: InstalledDistribution, data: bytes | None) -> Iterator[EnvironmentProblem]:
    """Yield a problem where an installer that writes a list of files has none there, or one without a row."""
    if data is None and is_forbidden(f"{item.metadata_path}/RECORD"):
        yield _forbidden(item, "RECORD")
    elif item.installer in ("pip", "uv") and item.metadata_path.endswith(".dist-info"):
        detail = "there is no RECORD in it" if data is None else "its RECORD names no file"
        yield EnvironmentProblem(EnvironmentProblemKind.NO_RECORD, item.name, detail)


def _forbidden(item: InstalledDistribution, path: str) -> EnvironmentProblem:
    return EnvironmentProblem(EnvironmentProblemKind.FORBIDDEN, item.name, f"{path}: permission denied", path)


def _first_parts(lines: list[bytes]) -> set[bytes]:
    # Splitting is five times as fast as a regular expression over the whole of a long RECORD.
    cut = {line.partition(b"/")[0] for line in lines}
    return {match[1] for text in cut if (match := _FIRST_PART.match(text))}


class _Folders:
    """The names in folders, each listed once: a third of the time of asking for every file."""

    def __init__(self) -> None:
        self._below: dict[bytes, dict[bytes, frozenset[bytes]]] = defaultdict(dict)
        self._packages: set[bytes] = set()
        """Folders with an ``__init__.py``."""

    def plain(self, root: bytes, lines: list[bytes]) -> Iterator[bytes]:
        """Yield those lines of a RECORD that want a closer look: libraries, and what is not there.

        ``root`` with a slash. Of the others an ``__init__.py`` without a word in it is yielded, too.
        """
        known = self._below[root]
        for line in lines:
            path = line.partition(b",")[0]
            if path.endswith(BYTE_CODE):
                continue
            folder, _, name = path.rpartition(b"/")
            usual = known.get(folder)
            if usual is None:
                usual = known[folder] = self._usual_in(root + folder)
            if name in usual or (name == _MARKS and root + folder in self._packages and not is_zeroed(root + path)):
                continue
            yield line

    def _usual_in(self, folder: bytes) -> frozenset[bytes]:
        """Return the names in a folder that say all of a file: of neither a library nor what makes a package."""
        try:
            names = frozenset(os.listdir(folder))  # noqa: PTH208 - bytes in, bytes out, and no objects between
        except (OSError, ValueError):
            return frozenset()
        if _MARKS in names:
            self._packages.add(folder)
        together = b"\n".join(names)  # to look once for what most folders have none of
        if any(mark in together for mark in (b".so", b".pyd", b".dll", b".dylib")):
            names = frozenset(name for name in names if not _may_be_library(name))
        return names - {_MARKS}


def _may_be_library(name: bytes) -> bool:
    return b".so" in name or name.endswith((b".pyd", b".dll", b".dylib"))


def _verify_lines(
    item: InstalledDistribution, lines: list[bytes], folders: _Folders | None
) -> Iterator[EnvironmentProblem]:
    """Yield what ``verify_files`` does, out of plain lines: for a hundred thousand of them, objects cost too much."""
    stat_of, root = os.stat, os.fsencode(f"{item.location}/")
    for line in lines if folders is None else folders.plain(root, lines):
        path = line.partition(b",")[0]
        if not path.strip() or path.endswith(BYTE_CODE):
            continue
        if folders is not None and not _LIBRARY.search(path) and os.path.exists(root + path):
            if path.endswith(_MARKS) and is_zeroed(root + path):
                yield _damaged(item, path.decode("utf-8", "replace"), "filled with NULs")
            continue
        try:
            status = stat_of(root + path)
        except PermissionError:
            yield _forbidden(item, path.decode("utf-8", "replace"))
            return
        except (OSError, ValueError):
            if worth_a_look(path):
                shown = path.decode("utf-8", "replace")
                yield EnvironmentProblem(EnvironmentProblemKind.MISSING_FILE, item.name, shown, shown)
            continue
        # As text first: nearly all rows end so, and the rest is looked at again.
        if not line.endswith(b",%d" % status.st_size) and worth_a_look(path):
            size = line.rpartition(b",")[2].rstrip().decode("ascii", "replace")
            yield from _changed(item, path.decode("utf-8", "replace"), size, status)
        elif path.endswith(_MARKS) and status.st_size and is_zeroed(root + path):
            yield _damaged(item, path.decode("utf-8", "replace"), "filled with NULs")


def _changed(
    item: InstalledDistribution, path: str, recorded: str, status: os.stat_result
) -> Iterator[EnvironmentProblem]:
    if not (_is_size(recorded) and stat.S_ISREG(status.st_mode) and status.st_size != int(recorded)):
        return
    if status.st_size == 0:
        yield _damaged(item, path, f"empty, {int(recorded)} bytes recorded")
    elif path.endswith(".py") and is_zeroed(f"{item.location}/{path}"):
        yield _damaged(item, path, f"filled with NULs, {int(recorded)} bytes recorded")
    else:
        detail = f"{path}: {status.st_size} bytes, {int(recorded)} recorded"
        yield EnvironmentProblem(EnvironmentProblemKind.CHANGED_FILE, item.name, detail, path)


def _damaged(item: InstalledDistribution, path: str, how: str) -> EnvironmentProblem:
    return EnvironmentProblem(EnvironmentProblemKind.DAMAGED_FILE, item.name, f"{path}: {how}", path)


def is_zeroed(path: bytes | str) -> bool:
    """Whether a file begins with NULs alone, which no text does."""
    try:
        file = os.open(path, _READING)
    except (OSError, ValueError):
        return False
    try:
        begin = os.read(file, 16)
    except OSError:
        return False
    finally:
        os.close(file)
    return bool(begin) and not begin.strip(b"\0")


RECORD_LIMIT = 64 * 1024 * 1024
# Scripts lie outside the site-packages folder, rewritten at install time by some installers; byte code is written anew
# by interpreters; what an installer writes about itself changes without harm.
BYTE_CODE = (b".pyc", b".pyo")
_OWN_NOTES = (b".dist-info/RECORD", b".dist-info/INSTALLER", b".dist-info/REQUESTED")


def parse_record(data: bytes) -> tuple[InstalledFile, ...]:
    """Read the rows of a RECORD file; rows that are not rows are passed over."""
    lines = data.decode("utf-8", "replace").splitlines()
    rows = (_quoted(line) if '"' in line else line.rsplit(",", 2) for line in lines)
    return tuple(_row(row) for row in rows if row and row[0])


def _quoted(line: str) -> list[str]:
    """Return the fields of a line with quotes, none where it is no row."""
    import csv

    try:
        return next(csv.reader([line]), [])
    except csv.Error:
        return []


def _is_size(text: str) -> bool:
    """Whether a text is a size in bytes that a file can have."""
    return text.isascii() and text.isdecimal() and len(text) < 20


def _row(row: list[str]) -> InstalledFile:
    path = row[0].replace("\\", "/")
    hash_ = row[1] if len(row) > 1 else ""
    size = row[2] if len(row) > 2 else ""
    return InstalledFile(path, hash_ or None, int(size) if _is_size(size) else None)


def read_files(distribution: InstalledDistribution) -> tuple[InstalledFile, ...] | None:
    """Return the files that a distribution owns, relative to its site-packages; None where no list was kept."""
    path = distribution.metadata_path
    record = read_text(f"{path}/RECORD", RECORD_LIMIT)
    if record is not None:
        return parse_record(record)
    installed = read_text(f"{path}/installed-files.txt", RECORD_LIMIT)
    if installed is None:
        return None
    # These paths are relative to the egg-info folder.
    name = path.rsplit("/", 1)[-1]
    lines = installed.decode("utf-8", "replace").splitlines()
    return tuple(InstalledFile(posixpath.normpath(f"{name}/{line.strip()}")) for line in lines if line.strip())


def with_files(
    distributions: Iterable[InstalledDistribution], only: frozenset[str] | None = None
) -> Iterator[InstalledDistribution]:
    """Yield the distributions, with their files where ``only`` (metadata paths; None: all) names them."""
    for item in distributions:
        if item.metadata_path and (only is None or item.metadata_path in only):
            yield replace(item, files=read_files(item))
        else:
            yield item


def verify_files(distributions: Iterable[InstalledDistribution]) -> Iterator[EnvironmentProblem]:
    """Yield a problem for each recorded file that is not there, or not of the recorded size.

    Byte code is passed over: installers may leave it out and interpreters write it anew. Hashes are not computed.
    """
    for item in distributions:
        for file in item.files or ():
            if not worth_a_look(file.path.encode("utf-8", "replace")):
                continue
            try:
                status = os.stat(f"{item.location}/{file.path}")  # noqa: PTH116 - one call for each of 100 000 files
            except PermissionError:
                yield _forbidden(item, file.path)
                break
            except (OSError, ValueError):
                yield EnvironmentProblem(EnvironmentProblemKind.MISSING_FILE, item.name, file.path, file.path)
                continue
            if file.size is not None and status.st_size != file.size:
                yield from _changed(item, file.path, str(file.size), status)
            elif file.path.endswith("__init__.py") and status.st_size and is_zeroed(f"{item.location}/{file.path}"):
                yield _damaged(item, file.path, "filled with NULs")


def worth_a_look(path: bytes) -> bool:
    """Return whether a recorded file that is gone or changed says anything."""
    return not (path.endswith(BYTE_CODE) or path.startswith((b"../", b"/")) or path.endswith(_OWN_NOTES))
