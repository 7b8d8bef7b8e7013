"""The files that distributions own: RECORD and installed-files lists, who shares, what is missing.

Sources: "Recording installed projects" (PEP 376, PEP 627); egg-info's ``installed-files.txt``.
"""

from __future__ import annotations

import io
import os
import posixpath
import re
import stat
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from envdoctor.adapters.probe.environment_metadata import read_text
from envdoctor.model.environment import EnvironmentProblem, InstalledDistribution, InstalledFile

__all__ = ["Suspects", "parse_record", "read_files", "suspects", "verify_files", "with_files"]

_RECORD_LIMIT = 64 * 1024 * 1024
# What `pip install --target` puts beside the packages: scripts and data that many distributions have.
_NO_PACKAGES = frozenset({b"..", b"__pycache__", b"bin", b"share", b"etc", b"include", b"Scripts"})
_FIRST_PART = re.compile(rb'"?([^/\\\r\n,"]+)')


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
    record = read_text(f"{path}/RECORD", _RECORD_LIMIT)
    if record is not None:
        return parse_record(record)
    installed = read_text(f"{path}/installed-files.txt", _RECORD_LIMIT)
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


@dataclass(frozen=True, slots=True)
class Suspects:
    """Metadata paths of the distributions whose file lists are worth reading row by row."""

    sharing: frozenset[str]
    """They have a top-level folder in common with another one; only these can own the same file (scripts aside)."""
    hollow: frozenset[str]
    """The first file that they recorded is not there."""


def suspects(distributions: Iterable[InstalledDistribution]) -> Suspects:
    """Look over the RECORD files quickly."""
    owners: dict[tuple[str, bytes], list[str]] = defaultdict(list)
    hollow: set[str] = set()
    for item in distributions:
        if not item.metadata_path:
            continue
        lines = (read_text(f"{item.metadata_path}/RECORD", _RECORD_LIMIT) or b"").split(b"\n")
        for part in _first_parts(lines):
            if not part.endswith((b".dist-info", b".egg-info")) and part not in _NO_PACKAGES:
                owners[item.location, part].append(item.metadata_path)
        if _first_is_missing(item.location, lines):
            hollow.add(item.metadata_path)
    sharing = frozenset(path for paths in owners.values() if len(paths) > 1 for path in paths)
    return Suspects(sharing, frozenset(hollow))


def _first_is_missing(location: str, lines: list[bytes]) -> bool:
    """Return whether the first code file of a RECORD is gone, which shows that a folder was deleted."""
    for line in lines:
        if b".dist-info/" in line or b'"' in line or not line:
            continue
        path = line.rsplit(b",", 2)[0].replace(b"\\", b"/").decode("utf-8", "replace")
        if _worth_a_look(path):
            return not _is_there(f"{location}/{path}")
    return False


def _is_there(path: str) -> bool:
    try:
        os.stat(path)  # noqa: PTH116 - pathlib costs more than the call
    except (OSError, ValueError):
        return False
    return True


def _first_parts(lines: list[bytes]) -> set[bytes]:
    # Splitting is five times as fast as a regular expression over the whole of a long RECORD.
    cut = {line.partition(b"/")[0] for line in lines}
    return {match[1] for text in cut if (match := _FIRST_PART.match(text))}


def verify_files(distributions: Iterable[InstalledDistribution]) -> Iterator[EnvironmentProblem]:
    """Yield a problem for each recorded file that is not there, or not of the recorded size.

    Byte code is passed over: installers may leave it out and interpreters write it anew. Hashes are not computed.
    """
    for item in distributions:
        for file in item.files or ():
            if not _worth_a_look(file.path):
                continue
            try:
                status = os.stat(f"{item.location}/{file.path}")  # noqa: PTH116 - one call for each of 100 000 files
            except (OSError, ValueError):
                yield EnvironmentProblem("missing-file", item.name, file.path)
                continue
            if file.size is not None and stat.S_ISREG(status.st_mode) and status.st_size != file.size:
                detail = f"{file.path}: {status.st_size} bytes, {file.size} recorded"
                yield EnvironmentProblem("changed-file", item.name, detail)


def _worth_a_look(path: str) -> bool:
    # Scripts lie outside the site-packages folder, rewritten at install time by some installers; what an installer
    # writes about itself changes without harm.
    if path.endswith((".pyc", ".pyo")) or path.startswith(("../", "/")):
        return False
    return not path.endswith((".dist-info/RECORD", ".dist-info/INSTALLER", ".dist-info/REQUESTED"))
