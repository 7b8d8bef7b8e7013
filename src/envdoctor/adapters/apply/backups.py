"""The copies that a fix keeps of what it changes, by the hash of their content."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

from envdoctor.adapters.apply import planted_faults
from envdoctor.adapters.apply.durable import digest_of, put_in_place, remove_file, remove_tree

__all__ = ["Backups", "MissingBackup"]

_BLOCK = 1024 * 1024


class MissingBackup(Exception):
    """A copy that should be there is not, or is not what its name says."""


class Backups:
    """The folder that holds the copies of one fix."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def keep(self, path: Path) -> str:
        """Copy a file and return its SHA-256; the copy is durable when this returns. Raises OSError."""
        self.folder.mkdir(parents=True, exist_ok=True)
        partial = self.folder / ".partial"
        digest = hashlib.sha256()
        with path.open("rb") as source, partial.open("wb") as copy:
            planted_faults.point(writes=True)
            while block := source.read(_BLOCK):
                digest.update(block)
                copy.write(block)
            copy.flush()
            os.fsync(copy.fileno())
        name = digest.hexdigest()
        put_in_place(partial, self.folder / name)
        return name

    def read(self, digest: str) -> bytes | None:
        """Return a copy's bytes, None where there is none."""
        try:
            return (self.folder / digest).read_bytes()
        except OSError:
            return None

    def put_back(self, digest: str, path: Path, *, mode: int, mtime_ns: int) -> None:
        """Bring a copy back to where it was. Raises MissingBackup or OSError."""
        copy = self.folder / digest
        if digest_of(copy) != digest:
            raise MissingBackup(f"the backup of `{path}` is missing or damaged (`{copy}`)")
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f".{path.name}.envdoctor-partial")
        planted_faults.point()
        remove_file(partial)
        shutil.copyfile(copy, partial)
        with partial.open("r+b") as file:  # Windows makes nothing durable by a handle that only reads.
            os.fsync(file.fileno())
        os.utime(partial, ns=(mtime_ns, mtime_ns))
        partial.chmod(mode)
        if path.is_dir():
            remove_tree(path)
        put_in_place(partial, path)
        planted_faults.point()
