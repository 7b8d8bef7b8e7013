"""Files that are whole or not there, also after a power cut."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path

from envdoctor.adapters.apply import faults

__all__ = ["digest_of", "partial_of", "sync_folder", "write_whole"]

_BLOCK = 1024 * 1024


def partial_of(path: Path) -> Path:
    """Return the name under which a file is written before it takes its place."""
    return path.with_name(f".{path.name}.envdoctor-partial")


def write_whole(path: Path, data: bytes, *, mode: int | None = None) -> None:
    """Write a file so that its name leads to the old bytes or to all of the new ones. Raises OSError."""
    partial = partial_of(path)
    try:
        with partial.open("wb") as file:
            faults.point(writes=True)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            partial.chmod(mode)
        faults.point()
        partial.replace(path)
    except OSError:
        with suppress(OSError):
            partial.unlink()
        raise
    sync_folder(path.parent)
    faults.point()


def sync_folder(folder: Path) -> None:
    """Make a folder's names durable, where the system can."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def digest_of(path: Path) -> str | None:
    """Return the SHA-256 of a file, None where there is none."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                digest.update(block)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return digest.hexdigest()
