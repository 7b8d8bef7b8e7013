"""Files of one index in the place of another's that cannot be reached."""

from __future__ import annotations

from dataclasses import replace

from packaging.version import Version

from envdoctor.adapters.index.settings import built_with
from envdoctor.model.candidate import DistributionFile, ProjectPage
from envdoctor.model.file_table import FileTable, TabledFiles, table_of

__all__ = ["standing_in"]


def standing_in(page: ProjectPage, index: str, label: str | None) -> ProjectPage:
    """Return the default index's files as if they were the other index's, marked as stand-ins."""
    table = table_of(page.files)
    standing = {
        number: _labelled(version, label)
        for number, version in enumerate(table.versions)
        if built_with(label, page.name, version)
    }
    versions = tuple(sorted(set(standing.values())))
    places = {version: place for place, version in enumerate(versions)}
    rows = [row for row, number in enumerate(table.version_of) if number in standing]

    def make(row: int) -> DistributionFile:
        file = page.files[rows[row]]
        return replace(file, index=index, stand_in=True, version=_labelled(file.version, label))

    columns = FileTable(
        versions=versions,
        kinds=table.kinds,
        version_of=[places[standing[table.version_of[row]]] for row in rows],
        kind_of=[table.kind_of[row] for row in rows],
        yanked=frozenset(number for number, row in enumerate(rows) if row in table.yanked),
    )
    return replace(page, files=TabledFiles(columns, make), index=index)


def _labelled(version: Version, label: str | None) -> Version:
    return Version(f"{version}+{label}") if label and version.local is None else version
