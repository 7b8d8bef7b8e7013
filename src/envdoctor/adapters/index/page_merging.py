"""One page out of several indexes' pages of a project."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from packaging.version import Version

from envdoctor.model.candidate import DistributionFile, ProjectPage
from envdoctor.model.file_table import FileTable, Kind, TabledFiles, table_of

__all__ = ["best_version", "has_real", "merged"]


def merged(pages: Sequence[ProjectPage]) -> ProjectPage:
    """Return all files of these pages; of files that are the same by version and tags, those of the earlier page.

    Files are made when they are looked at, as those of the pages.
    """
    pages = [page for number, page in enumerate(pages) if number == 0 or len(page.files)]
    if len(pages) == 1:
        return pages[0]
    tables = [table_of(page.files) for page in pages]
    versions = tuple(sorted({version for table in tables for version in table.versions}))
    numbers = {version: number for number, version in enumerate(versions)}
    kinds: dict[Kind, int] = {}
    places: list[tuple[int, int]] = []
    version_of: list[int] = []
    kind_of: list[int] = []
    only_pinned: set[int] = set()
    seen: set[tuple[int, str | None]] = set()
    for at, table in enumerate(tables):
        own = [numbers[version] for version in table.versions]
        alike = {
            (own[number], table.kinds[kind][0]) for number, kind in zip(table.version_of, table.kind_of, strict=True)
        }
        for row, (number, kind) in enumerate(zip(table.version_of, table.kind_of, strict=True)):
            if (own[number], table.kinds[kind][0]) in seen:
                continue
            if row in table.only_pinned:
                only_pinned.add(len(places))
            places.append((at, row))
            version_of.append(own[number])
            kind_of.append(kinds.setdefault(table.kinds[kind], len(kinds)))
        seen |= alike

    def make(row: int) -> DistributionFile:
        at, own_row = places[row]
        return pages[at].files[own_row]

    columns = FileTable(versions, tuple(kinds), version_of, kind_of, frozenset(only_pinned))
    skipped = tuple(dict.fromkeys(name for page in pages for name in page.skipped))
    return replace(pages[0], files=TabledFiles(columns, make), skipped=skipped)


def best_version(page: ProjectPage) -> Version | None:
    """Return a page's highest version, a final release where there is one."""
    final = [version for version in page.versions if not version.is_prerelease]
    versions = final or page.versions
    return versions[-1] if versions else None


def has_real(pages: Sequence[ProjectPage], label: str) -> bool:
    """Return whether any of these pages holds files of a local label that are no stand-ins."""
    return any(
        version.local == label and not all(file.stand_in for file in page.of_version(version))
        for page in pages
        for version in page.versions
    )
