"""The contents of installed files against the hashes that were recorded for them, on many threads.

Sources: "Recording installed projects" (PEP 376, PEP 627); a hash is ``algorithm=urlsafe base64`` without padding.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import stat
from collections.abc import Collection, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor

from envdoctor.adapters.probe.environment_files import is_zeroed, read_files, worth_a_look
from envdoctor.model.dataclass import dataclass
from envdoctor.model.environment import EnvironmentProblem, EnvironmentProblemKind, InstalledDistribution, of_the_system

__all__ = ["verify_contents"]

_CHUNK = 1024 * 1024
_LARGE = 8 * 1024 * 1024
"""Bytes from which a file is a task of its own: libraries of gigabytes are not to wait for each other."""
_TOGETHER = 100
"""Small files of one task."""
# Without waiting: where a pipe stands for a file nobody may ever write to it.
_READING = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)


@dataclass(frozen=True, slots=True)
class Contents:
    """What comparing the installed files with their recorded hashes showed."""

    problems: tuple[EnvironmentProblem, ...]
    compared: int
    """Files whose hashes were computed."""
    passed_over: tuple[str, ...]
    """Distributions without a hash that can be compared."""


@dataclass(frozen=True, slots=True)
class _Recorded:
    distribution: InstalledDistribution
    path: str
    """As the RECORD has it."""
    algorithm: str
    digest: bytes


def verify_contents(distributions: Iterable[InstalledDistribution], known: Collection[EnvironmentProblem]) -> Contents:
    """Compare every recorded hash with the file. Byte code, scripts and what is ``known`` already are passed over."""
    told = {(item.subject, item.path) for item in known if item.path}
    rows: list[_Recorded] = []
    passed_over: list[str] = []
    for item in distributions:
        # conda rewrites prefixes inside files and Linux distributions strip libraries; the RECORD stays the wheel's.
        found = [] if item.installer == "conda" or of_the_system(item) else list(_recorded(item))
        if not found:
            passed_over.append(item.name)
        rows += (row for row in found if (item.name, row.path) not in told)
    workers = min(32, 2 * (os.cpu_count() or 1))
    with ThreadPoolExecutor(workers, thread_name_prefix="envdoctor-hash") as pool:
        results = [problem for found in pool.map(_compare, _tasks(rows)) for problem in found]
    return Contents(tuple(results), len(rows), tuple(sorted(passed_over)))


def _recorded(item: InstalledDistribution) -> Iterator[_Recorded]:
    files = item.files if item.files is not None else read_files(item) if item.metadata_path else None
    for file in files or ():
        if not file.hash or not worth_a_look(file.path.encode("utf-8", "replace")):
            continue
        algorithm, _, text = file.hash.partition("=")
        if algorithm not in hashlib.algorithms_guaranteed or algorithm.startswith("shake"):
            continue
        try:
            digest = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        except (binascii.Error, ValueError):
            continue
        if len(digest) == hashlib.new(algorithm, usedforsecurity=False).digest_size:
            yield _Recorded(item, file.path, algorithm, digest)


def _tasks(rows: Iterable[_Recorded]) -> Iterator[list[_Recorded]]:
    """Yield large files one by one, and small ones in groups behind them."""
    small: list[_Recorded] = []
    for row in rows:
        try:
            large = os.stat(_place(row)).st_size >= _LARGE  # noqa: PTH116 - one call for each of 100 000 files
        except (OSError, ValueError):
            continue  # That it is not there is known from a look at the list.
        if large:
            yield [row]
        else:
            small.append(row)
    for start in range(0, len(small), _TOGETHER):
        yield small[start : start + _TOGETHER]


def _compare(rows: list[_Recorded]) -> list[EnvironmentProblem]:
    found = []
    for row in rows:
        try:
            digest = _digest(_place(row), row.algorithm)
        except OSError as error:
            detail = f"{row.path}: {error.strerror or error}"
            found.append(
                EnvironmentProblem(EnvironmentProblemKind.UNREADABLE_FILE, row.distribution.name, detail, row.path)
            )
            continue
        if digest is not None and digest != row.digest:
            zeroed = is_zeroed(_place(row))
            kind = EnvironmentProblemKind.DAMAGED_FILE if zeroed else EnvironmentProblemKind.CHANGED_FILE
            detail = f"{row.path}: {'filled with NULs' if zeroed else f'another {row.algorithm} than recorded'}"
            found.append(EnvironmentProblem(kind, row.distribution.name, detail, row.path))
    return found


def _digest(path: str, algorithm: str) -> bytes | None:
    """Return a file's digest, None for what is no file. Raises OSError."""
    digest = hashlib.new(algorithm, usedforsecurity=False)
    handle = os.open(path, _READING)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return None
        while chunk := os.read(handle, _CHUNK):
            digest.update(chunk)
    finally:
        os.close(handle)
    return digest.digest()


def _place(row: _Recorded) -> str:
    return f"{row.distribution.location}/{row.path}"
