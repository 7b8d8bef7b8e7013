"""The files that distributions own: RECORD and installed-files lists, and what of them is missing.

Sources: "Recording installed projects" (PEP 376, PEP 627); egg-info's ``installed-files.txt``.
"""

from __future__ import annotations

import io
import os
import posixpath
import stat
from collections.abc import Iterable, Iterator
from dataclasses import replace

from envdoctor.adapters.probe.environment_metadata import read_text
from envdoctor.model.environment import EnvironmentProblem, InstalledDistribution, InstalledFile

__all__ = [
    "BYTE_CODE",
    "RECORD_LIMIT",
    "parse_record",
    "read_files",
    "verify_files",
    "with_files",
    "worth_a_look",
]

RECORD_LIMIT = 64 * 1024 * 1024
# Scripts lie outside the site-packages folder, rewritten at install time by some installers; byte code is written anew
# by interpreters; what an installer writes about itself changes without harm.
BYTE_CODE = (b".pyc", b".pyo")
_OWN_NOTES = (b".dist-info/RECORD", b".dist-info/INSTALLER", b".dist-info/REQUESTED")


def parse_record(data: bytes) -> tuple[InstalledFile, ...]:
    """Read the rows of a RECORD file; rows that are not rows are passed over."""
    text = data.decode("utf-8", "replace")
    if '"' in text:
        import csv

        return tuple(_row(row) for row in csv.reader(io.StringIO(text)) if row and row[0])
    return tuple(_row(line.rsplit(",", 2)) for line in text.splitlines() if line)


def _row(row: list[str]) -> InstalledFile:
    path = row[0].replace("\\", "/")
    hash_ = row[1] if len(row) > 1 else ""
    size = row[2] if len(row) > 2 else ""
    return InstalledFile(path, hash_ or None, int(size) if size.isdigit() else None)


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
            except (OSError, ValueError):
                yield EnvironmentProblem("missing-file", item.name, file.path)
                continue
            if file.size is not None and stat.S_ISREG(status.st_mode) and status.st_size != file.size:
                detail = f"{file.path}: {status.st_size} bytes, {file.size} recorded"
                yield EnvironmentProblem("changed-file", item.name, detail)


def worth_a_look(path: bytes) -> bool:
    """Return whether a recorded file that is gone or changed says anything."""
    return not (path.endswith(BYTE_CODE) or path.startswith((b"../", b"/")) or path.endswith(_OWN_NOTES))
