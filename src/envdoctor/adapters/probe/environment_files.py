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

__all__ = ["Overview", "look_over", "parse_record", "read_files", "verify_files", "with_files"]

_RECORD_LIMIT = 64 * 1024 * 1024
# What `pip install --target` puts beside the packages: scripts and data that many distributions have.
_NO_PACKAGES = frozenset({b"..", b"__pycache__", b"bin", b"share", b"etc", b"include", b"Scripts"})
# Scripts lie outside the site-packages folder, rewritten at install time by some installers; byte code is written anew
# by interpreters; what an installer writes about itself changes without harm.
_BYTE_CODE = (b".pyc", b".pyo")
_OWN_NOTES = (b".dist-info/RECORD", b".dist-info/INSTALLER", b".dist-info/REQUESTED")
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
class Overview:
    """What one pass over all RECORD files shows."""

    sharing: frozenset[str]
    """Metadata paths of the distributions that have a top-level folder in common with another one: only these can own
    the same file (scripts aside), so that their file lists are worth keeping."""
    problems: tuple[EnvironmentProblem, ...]


def look_over(distributions: Iterable[InstalledDistribution]) -> Overview:
    """Compare every RECORD with the disk (existence and size) and see who shares folders; no list is kept in memory."""
    owners: dict[tuple[str, bytes], list[str]] = defaultdict(list)
    problems: list[EnvironmentProblem] = []
    for item in distributions:
        data = read_text(f"{item.metadata_path}/RECORD", _RECORD_LIMIT) if item.metadata_path else None
        if not data:
            continue
        lines = data.split(b"\n")
        for part in _first_parts(lines):
            if not part.endswith((b".dist-info", b".egg-info")) and part not in _NO_PACKAGES:
                owners[item.location, part].append(item.metadata_path)
        if b'"' in data or b"\\" in data:
            problems += verify_files([replace(item, files=parse_record(data))])
        else:
            problems += _verify_lines(item, lines)
    sharing = frozenset(path for paths in owners.values() if len(paths) > 1 for path in paths)
    return Overview(sharing, tuple(problems))


def _verify_lines(item: InstalledDistribution, lines: list[bytes]) -> Iterator[EnvironmentProblem]:
    """Yield what ``verify_files`` does, out of plain lines: for a hundred thousand of them, objects cost too much."""
    stat_of, folder = os.stat, f"{item.location}/".encode()
    for line in lines:
        path, _, rest = line.partition(b",")
        if not path or path.endswith(_BYTE_CODE) or path.startswith((b"../", b"/")) or path.endswith(_OWN_NOTES):
            continue
        try:
            status = stat_of(folder + path)
        except (OSError, ValueError):
            yield EnvironmentProblem("missing-file", item.name, path.decode("utf-8", "replace"))
            continue
        size = rest.rpartition(b",")[2].rstrip()
        # As text: a number that is written otherwise is looked at again.
        if size and size != b"%d" % status.st_size:
            yield from _changed(item, path.decode("utf-8", "replace"), size.decode("ascii", "replace"), status)


def _changed(
    item: InstalledDistribution, path: str, recorded: str, status: os.stat_result
) -> Iterator[EnvironmentProblem]:
    if recorded.isdecimal() and stat.S_ISREG(status.st_mode) and status.st_size != int(recorded):
        detail = f"{path}: {status.st_size} bytes, {int(recorded)} recorded"
        yield EnvironmentProblem("changed-file", item.name, detail)


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
            if file.size is not None:
                yield from _changed(item, file.path, str(file.size), status)


def _worth_a_look(path: str) -> bool:
    name = path.encode("utf-8", "replace")
    return not (name.endswith(_BYTE_CODE) or name.startswith((b"../", b"/")) or name.endswith(_OWN_NOTES))
