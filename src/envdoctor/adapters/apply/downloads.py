"""Fetching every file of a plan and checking it, before anything is changed."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO, Protocol

from envdoctor.adapters.apply import faults
from envdoctor.adapters.apply.archives import BadArchive, check_sdist, wheel_targets
from envdoctor.adapters.apply.paths import fault_of_relative
from envdoctor.model.plan import PlannedFile

__all__ = ["DownloadFailed", "Fetch", "WrongFile", "download_all"]

_AT_ONCE = 4


class Fetch(Protocol):
    """Brings the bytes of a URL."""

    def __call__(self, url: str, size: int | None, into: BinaryIO, advance: Callable[[int], None]) -> None:
        """Write all of a file. Raises DownloadFailed or OSError."""
        ...


class DownloadFailed(Exception):
    """A file could not be had."""


class WrongFile(Exception):
    """A file is not what the lock says, or must not be unpacked."""


def download_all(
    files: Sequence[PlannedFile], folder: Path, fetch: Fetch, advance: Callable[[int, str], None]
) -> dict[str, list[tuple[str, str]]]:
    """Fetch and check files; return by file name what each wheel will write.

    Raises DownloadFailed, WrongFile or OSError.
    """
    folder.mkdir(parents=True, exist_ok=True)

    def one(file: PlannedFile) -> list[tuple[str, str]]:
        return _one(file, folder, fetch, advance)

    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="download") as pool:
        jobs = {file.filename: pool.submit(one, file) for file in files}
        try:
            return {name: job.result() for name, job in jobs.items()}
        except BaseException:
            for job in jobs.values():
                job.cancel()
            raise


def _one(file: PlannedFile, folder: Path, fetch: Fetch, advance: Callable[[int, str], None]) -> list[tuple[str, str]]:
    if fault_of_relative(file.filename) or "/" in file.filename or "\\" in file.filename:
        raise WrongFile(f"`{file.filename}` is not a file name")
    path = folder / file.filename
    wanted = file.best_hash
    if wanted is None:
        raise WrongFile(f"`{file.filename}` has no hash in the lock")
    faults.point()
    with path.open("wb") as into:
        fetch(file.url, file.size, into, lambda count: advance(count, file.filename))
        into.flush()
        os.fsync(into.fileno())
    faults.point(writes=True)
    with path.open("rb") as data:
        digest = hashlib.new(wanted[0])
        while block := data.read(1024 * 1024):
            digest.update(block)
    if digest.hexdigest() != wanted[1].lower():
        path.unlink()
        raise WrongFile(
            f"`{file.filename}` from index `{file.index}` is not what the lock says: {wanted[0]} is "
            f"{digest.hexdigest()}, expected {wanted[1]}"
        )
    try:
        if file.sdist:
            check_sdist(path)
            return []
        return wheel_targets(path)
    except BadArchive as error:
        raise WrongFile(str(error)) from None
