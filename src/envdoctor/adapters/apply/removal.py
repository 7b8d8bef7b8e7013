"""Taking away an environment that a fix had made, and putting aside what a person has done in one since."""

from __future__ import annotations

import csv
import errno
import os
import posixpath
import re
import shutil
import stat
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from packaging.utils import canonicalize_name

from envdoctor.adapters.apply import planted_faults
from envdoctor.adapters.apply.durable import is_link, put_in_place, remove_tree
from envdoctor.adapters.apply.holding import folders_made
from envdoctor.adapters.apply.journal import JournalRecord, list_journals, own_folder
from envdoctor.adapters.apply.snapshot import Entry, load_listing, take_listing

__all__ = [
    "free_name",
    "is_work",
    "place_aside",
    "put_aside",
    "remove_environment",
    "remove_last_folder",
    "replaced_since",
]

_OF_ITSELF = re.compile(
    r"(?:^|/)__pycache__(?:/|$)"
    r"|/site-packages/pip(?:-[^/]+\.dist-info)?(?:/|$)"
    r"|^(?:bin|Scripts)/pip[0-9.]*(?:\.exe)?$"
)
"""Byte-code, and the pip that every new environment has again."""


def is_work(name: str) -> bool:
    """Return whether a file of an environment can hold a person's own work, by its name."""
    return _OF_ITSELF.search(name) is None


def place_aside(environment: Path, record: JournalRecord) -> Path:
    """Return where a person's own work goes when a fix is taken back.

    Beside an environment that a fix had made, since that goes with all that is in it; else within the environment.
    """
    if any(other.begin.get("created") for other in list_journals(environment)):
        return environment.with_name(f"{environment.name}-kept-{record.id}")
    return own_folder(environment) / "kept" / record.id


def put_aside(environment: Path, name: str, aside: Path, kept: dict[str, list[str]]) -> None:
    """Move a file or a folder of an environment into ``aside``, under its own name. Raises OSError."""
    target = free_name(aside / name)
    target.parent.mkdir(parents=True, exist_ok=True)
    _move(environment / name, target)
    kept.setdefault(str(aside), []).append(target.relative_to(aside).as_posix())


def _move(source: Path, target: Path) -> None:
    """Move, also onto another disk (an environment may be a volume), and a folder that nobody may write in."""
    try:
        put_in_place(source, target)
    except OSError as error:
        if error.errno == errno.EXDEV:
            shutil.move(source, target)
            return
        mode = 0 if is_link(source) else source.stat().st_mode
        if not stat.S_ISDIR(mode) or mode & stat.S_IWUSR:
            raise
        source.chmod(stat.S_IMODE(mode) | stat.S_IWUSR)
        put_in_place(source, target)
        target.chmod(stat.S_IMODE(mode))


def free_name(path: Path) -> Path:
    """Return the path, or one like it where there is something already."""
    number = 1
    free = path
    while os.path.lexists(free):
        number += 1
        free = path.with_name(f"{path.name}-{number}")
    return free


def replaced_since(
    environment: Path, before: Mapping[str, Entry], after: Mapping[str, Entry], now: Collection[str]
) -> frozenset[str]:
    """Return the files of packages that a person has replaced since and that the fix had not touched, by name.

    There is no copy of the old ones: taking away the new ones' files would leave half of each.
    """
    gone = {
        _package(name)
        for name, entry in before.items()
        if name.endswith(".dist-info/METADATA") and after.get(name) == entry and name not in now
    }
    new = [name for name in now if name.endswith(".dist-info/RECORD") and name not in after and _package(name) in gone]
    files = {file for name in new for file in _recorded(environment, name)}
    return frozenset(file for file in files if after.get(file) == before.get(file))


def _package(name: str) -> tuple[str, str]:
    """Return the folder and the project of a ``.dist-info``, by a file in it."""
    site, _, folder = posixpath.dirname(name).rpartition("/")
    return site, canonicalize_name(folder.partition("-")[0])


def _recorded(environment: Path, record: str) -> Iterator[str]:
    """Yield the files that a package's own list has, by their names in the environment."""
    site = posixpath.dirname(posixpath.dirname(record))
    with suppress(OSError, ValueError, csv.Error), (environment / record).open(encoding="utf-8", newline="") as file:
        yield from (posixpath.normpath(posixpath.join(site, row[0])) for row in csv.reader(file) if row)


def remove_environment(environment: Path, record: JournalRecord, kept: dict[str, list[str]], *, finished: bool) -> None:
    """Remove an environment that the fix had made, but for this tool's folder. Raises OSError or ValueError.

    What in it is not as a finished fix had left it is put beside it, and named in ``kept``.
    """
    if finished and (record.folder / "after.json").is_file():
        after = load_listing(record.folder / "after.json")[0]
        changed = [
            name
            for name, entry in take_listing(environment).items()
            if entry.kind != "d" and not entry.holds_same(after.get(name)) and is_work(name)
        ]
        aside = place_aside(environment, record)
        if aside.exists():
            kept[str(aside)] = []  # An undo that was stopped had begun it, and nobody was told.
        for name in dict.fromkeys(_outermost(name, after) for name in changed):
            planted_faults.point()
            put_aside(environment, name, aside, kept)
    with os.scandir(environment) as entries:
        children = [entry.path for entry in entries if entry.name != ".envdoctor"]
    for child in children:
        planted_faults.point()
        remove_tree(Path(child))


def _outermost(name: str, after: Collection[str]) -> str:
    """Return the outermost folder above a file that the fix had not left: it is moved as a whole; else the file."""
    parts = name.split("/")
    above = ("/".join(parts[:length]) for length in range(1, len(parts)))
    return next((folder for folder in above if folder not in after), name)


def remove_last_folder(environment: Path, record: JournalRecord) -> None:
    """Remove this tool's folder, the journal's events last, then the environment's own folder."""
    own, above = own_folder(environment), folders_made(environment)
    for child in own.iterdir():
        if child.name not in ("journal", "lock", "made"):
            remove_tree(child)
    planted_faults.point()
    for child in (own / "journal").iterdir():
        if child != record.folder:
            remove_tree(child)
    for child in record.folder.iterdir():
        if child.name != "events.jsonl":
            remove_tree(child)
    planted_faults.point()
    remove_tree(record.folder)
    with suppress(OSError):
        (own / "journal").rmdir()
        (own / "lock").unlink(missing_ok=True)
        (own / "made").unlink(missing_ok=True)
        own.rmdir()
        if record.begin.get("folder_made", True):
            environment.rmdir()
            for folder in above:
                folder.rmdir()
