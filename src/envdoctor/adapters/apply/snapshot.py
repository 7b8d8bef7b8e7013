"""What a folder holds: every file, link and folder with what tells whether it was changed."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from envdoctor.adapters.apply.durable import write_whole

__all__ = ["Entry", "load_listing", "save_listing", "take_listing"]

_OWN = ".envdoctor"


@dataclass(frozen=True, slots=True)
class Entry:
    """One name."""

    kind: str
    """``f`` file, ``l`` link, ``d`` folder."""
    mode: int = 0
    size: int = 0
    mtime_ns: int = 0
    link: str = ""


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
    if item.is_symlink():
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
    rows = json.loads(path.read_bytes().decode("utf-8", "surrogateescape"))
    listing = {row[0]: Entry(*row[1:6]) for row in rows}
    return listing, {row[0]: row[6] for row in rows if row[6]}
