"""What a folder holds: every file, link and folder with what tells whether it was changed."""

from __future__ import annotations

import importlib.metadata
import json
import os
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from packaging.utils import canonicalize_name

from envdoctor.adapters.apply.durable import leads_elsewhere, write_whole
from envdoctor.adapters.apply.interpreters import PythonFacts
from envdoctor.model.dataclass import dataclass

__all__ = ["Entry", "LeadsOut", "load_listing", "save_listing", "take_listing", "touched_files"]

_OWN = ".envdoctor"


@dataclass(frozen=True, slots=True)
class Entry:
    """What stands under one name in a folder."""

    kind: str
    """``f`` file, ``l`` link, ``d`` folder."""
    mode: int = 0
    size: int = 0
    mtime_ns: int = 0
    link: str = ""

    def holds_same(self, other: Entry | None) -> bool:
        """Return whether another entry has the same content, whoever may read or write it."""
        return other is not None and replace(self, mode=other.mode) == other


def take_listing(root: Path) -> dict[str, Entry]:
    """Return everything under ``root`` but ``.envdoctor``, by relative path with forward slashes."""
    found: dict[str, Entry] = {}
    pending = [""]
    while pending:
        folder = pending.pop()
        with os.scandir(root / folder) as entries:
            for item in entries:
                relative = f"{folder}{item.name}"
                if relative == _OWN:
                    continue
                entry = _entry(item)
                found[relative] = entry
                if entry.kind == "d":
                    pending.append(relative + "/")
    return found


def _entry(item: os.DirEntry[str]) -> Entry:
    status = item.stat(follow_symlinks=False)
    mode = stat.S_IMODE(status.st_mode)
    if leads_elsewhere(status):
        return Entry("l", mode, link=str(Path(item.path).readlink()))
    if item.is_dir(follow_symlinks=False):
        return Entry("d", mode)
    return Entry("f", mode, status.st_size, status.st_mtime_ns)


def save_listing(path: Path, listing: Mapping[str, Entry], backups: Mapping[str, str] | None = None) -> None:
    """Write a listing durably; ``backups`` gives the digests of the files of which there are copies."""
    rows = [
        [name, entry.kind, entry.mode, entry.size, entry.mtime_ns, entry.link, (backups or {}).get(name, "")]
        for name, entry in sorted(listing.items())
    ]
    write_whole(path, json.dumps(rows, separators=(",", ":")).encode("utf-8", "surrogateescape"))


def load_listing(path: Path) -> tuple[dict[str, Entry], dict[str, str]]:
    """Return a listing and the digests of its copies. Raises OSError or ValueError."""
    try:
        rows = json.loads(path.read_bytes().decode("utf-8", "surrogateescape"))
        listing = {row[0]: Entry(*row[1:6]) for row in rows}
        return listing, {row[0]: row[6] for row in rows if row[6]}
    except (RecursionError, TypeError, LookupError) as error:
        raise ValueError(f"`{path}` is not the list that was written there") from error


class LeadsOut(Exception):
    """An installer would change what lies outside the environment, of which no copy is made; the text says what."""


def touched_files(
    environment: Path,
    python: PythonFacts,
    listing: Mapping[str, Entry],
    leaving: Collection[str],
    written: Iterable[tuple[str, str]],
) -> set[str]:
    """Return the relative paths of files that may change.

    ``leaving``: distributions that go or are replaced. ``written``: what the new wheels write, by scheme. Raises
    LeadsOut, for links in the environment that lead out of it, and for lists of files that do.
    """
    touched = {name for name in listing if name.endswith(".pth") or _in(name, python.scripts, environment)}
    for site in dict.fromkeys((python.purelib, python.platlib)):
        for distribution in importlib.metadata.distributions(path=[site]):
            name = distribution.metadata["Name"] if distribution.metadata else None
            if name and canonicalize_name(name) in leaving:
                touched.update(_of_distribution(distribution, Path(site), environment, listing))
    roots = {
        "purelib": python.purelib,
        "platlib": python.platlib,
        "scripts": python.scripts,
        "data": python.data,
        "headers": python.data,
    }
    for scheme, relative in written:
        path = Path(roots[scheme]) / relative
        name = _relative(path, environment)
        if name is None:
            raise LeadsOut(f"`{path}` would be written, and a link leads from there out of the environment")
        touched.add(name)
    caches = {cache for name in touched if name.endswith(".py") for cache in _caches(name, listing)}
    names = touched | caches
    if (environment / "PYVENV.CFG").exists():
        # A disk that does not tell case apart: what is written may be spelled otherwise than what it replaces.
        spelled = {name.casefold(): name for name in listing}
        names = {spelled.get(name.casefold(), name) for name in names}
    return {name for name in names if name in listing and listing[name].kind == "f"}


def _of_distribution(
    distribution: importlib.metadata.Distribution, site: Path, environment: Path, listing: Mapping[str, Entry]
) -> Iterator[str]:
    own = getattr(distribution, "_path", None)
    folders = [Path(own)] if own is not None else []
    if distribution.files is None:
        # Without a list of files, everything under the names that it may have is meant.
        top = (distribution.read_text("top_level.txt") or "").split()
        folders += [site / name for name in top]
        for name in top:
            yield from _known(_relative(site / f"{name}.py", environment))
    for file in distribution.files or ():
        path = Path(os.path.normpath(site / str(file)))
        relative = _relative(path, environment)
        if relative is None and os.path.lexists(path):
            whose = distribution.metadata["Name"]
            raise LeadsOut(f"`{whose}` would be taken away, and its list of files names `{path}`, outside it")
        yield from _known(relative)
    for folder in folders:
        prefix = _relative(folder, environment)
        if prefix is not None:
            yield from (name for name in listing if name == prefix or name.startswith(prefix + "/"))


def _known(name: str | None) -> Iterator[str]:
    if name is not None:
        yield name


def _relative(path: Path, environment: Path) -> str | None:
    """Return the path within the environment; links of folders (``lib64``) are followed, as a listing does not."""
    plain = os.path.normpath(path)
    real, base = Path(os.path.realpath(os.path.dirname(plain))) / os.path.basename(plain), os.path.realpath(environment)  # noqa: PTH119, PTH120
    return real.relative_to(base).as_posix() if real.is_relative_to(base) else None


def _in(name: str, folder: str, environment: Path) -> bool:
    prefix = _relative(Path(folder), environment)
    return prefix is not None and name.startswith(prefix + "/")


def _caches(name: str, listing: Mapping[str, Entry]) -> Iterator[str]:
    folder, _, file = name.rpartition("/")
    start = f"{folder}/__pycache__/" if folder else "__pycache__/"
    for tag in ("cpython-38", "cpython-39", *(f"cpython-3{minor}" for minor in range(10, 16))):
        for level in ("", ".opt-1", ".opt-2"):
            cache = f"{start}{file[:-3]}.{tag}{level}.pyc"
            if cache in listing:
                yield cache
