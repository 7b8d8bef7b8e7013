"""Files of one index in the place of another's that cannot be reached."""

from __future__ import annotations

import re
from dataclasses import replace

from packaging.version import Version

from envdoctor.adapters.index.labelled_builds import built_with
from envdoctor.model.candidate import CoreMetadata, DistributionFile, ProjectPage
from envdoctor.model.file_table import FileTable, TabledFiles, table_of

__all__ = ["standing_in", "without_foreign_libraries"]

_NVIDIA = re.compile(r"(?:nvidia|cuda)[-_.]", re.IGNORECASE)
_TRITON = re.compile(r"(?:pytorch[-_.])?triton(?![\w.-])", re.IGNORECASE)
_CUDA_LABEL = re.compile(r"cu(\d{2,3})")
_RUNTIME = re.compile(
    r"(?:nvidia[-_.]cuda[-_.]runtime(?:[-_.]cu\d+)?|cuda[-_.]toolkit)(?:\[[^\]]*\])?\s*\(?==\s*(\d+)\.(\d+)",
    re.IGNORECASE,
)


def standing_in(page: ProjectPage, index: str, label: str | None, *, builds_alone: bool = False) -> ProjectPage:
    """Return the default index's files as if they were the other index's, marked as stand-ins.

    Wheels for macOS carry no label there. ``builds_alone`` leaves these out, and all else that carries none.
    """
    table = table_of(page.files)
    plain = frozenset(number for number, (tags, _) in enumerate(table.kinds) if not _built(tags)) if label else ()
    able = [built_with(label, page.name, version) for version in table.versions]
    rows = [
        row
        for row, number in enumerate(table.version_of)
        if able[number]
        and not (builds_alone and (table.kind_of[row] in plain or table.versions[number].local is not None))
    ]
    shown = {
        (number, bare): version if bare else _labelled(version, label)
        for number, version in enumerate(table.versions)
        for bare in (False, True)
    }
    standing = [shown[table.version_of[row], table.kind_of[row] in plain] for row in rows]
    versions = tuple(sorted(set(standing)))
    places = {version: place for place, version in enumerate(versions)}

    def make(row: int) -> DistributionFile:
        return replace(page.files[rows[row]], index=index, stand_in=True, version=standing[row])

    columns = FileTable(
        versions=versions,
        kinds=table.kinds,
        version_of=[places[version] for version in standing],
        kind_of=[table.kind_of[row] for row in rows],
        yanked=frozenset(number for number, row in enumerate(rows) if row in table.yanked),
    )
    return replace(page, files=TabledFiles(columns, make), index=index)


def without_foreign_libraries(metadata: CoreMetadata, label: str) -> tuple[CoreMetadata, bool]:
    """Return a stand-in's metadata without what builds of its label do not require, or in other versions.

    A ``cpu`` build requires none of NVIDIA's libraries and no triton. A build for another CUDA release than the file
    that stands in for it requires other versions of NVIDIA's libraries; then True comes with it: they are not known.
    """
    requires = metadata.requires_dist
    cuda = _CUDA_LABEL.fullmatch(label)
    if cuda is None:
        if label == "cpu":
            requires = tuple(text for text in requires if not (_NVIDIA.match(text) or _TRITON.match(text)))
        return replace(metadata, requires_dist=requires), False
    runtime = next((found for text in requires if (found := _RUNTIME.match(text))), None)
    if runtime is not None and "".join(runtime.groups()) == cuda[1]:
        return metadata, False
    requires = tuple(text for text in requires if not _NVIDIA.match(text))
    return replace(metadata, requires_dist=requires), requires != metadata.requires_dist


def _built(tags: str | None) -> bool:
    return tags is None or "macosx" not in tags


def _labelled(version: Version, label: str | None) -> Version:
    return Version(f"{version}+{label}") if label and version.local is None else version
