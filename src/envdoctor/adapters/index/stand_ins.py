"""Files of the default index that stand in for builds with a local label (``2.5.1+cu121``) of PyTorch's indexes.

Which releases have such builds is told by ``advisories/data/torch-labels.toml``; an index that can be reached is asked,
never the table.
"""

from __future__ import annotations

import re
from dataclasses import replace

from packaging.utils import NormalizedName
from packaging.version import Version

from envdoctor.model.candidate import CoreMetadata, DistributionFile, ProjectPage
from envdoctor.model.file_table import FileTable, TabledFiles, table_of
from envdoctor.shipped import torch_labels

__all__ = ["built_with", "carries", "standing_in", "without_foreign_libraries"]

# Projects whose files there carry the index's label. Not torchdata, triton, xformers and the NVIDIA libraries: the
# same files without a label are on the default index, so that nothing need stand in. torchtext has no GPU code.
_CARRIED = frozenset({"torch", "torchaudio", "torchvision"})
_CARRIED_FOR_CPU = _CARRIED | {"torchtext"}


def carries(label: str | None, project: NormalizedName | str) -> bool:
    """Return whether an index of this label is known to carry labelled builds of a project."""
    return label is not None and project in (_CARRIED_FOR_CPU if label == "cpu" else _CARRIED)


def built_with(label: str | None, project: NormalizedName | str, version: Version) -> bool | None:
    """Return whether a release exists with a local label, None where nobody here knows.

    A label of which nothing is known may have everything.
    """
    life = torch_labels().get(label or "")
    releases = _releases_of_torch(project, version)
    if life is None or not releases:
        return True
    answers = [life.has(release) for release in releases]
    return True if True in answers else None if None in answers else False


def _releases_of_torch(project: NormalizedName | str, version: Version) -> tuple[Version, ...]:
    """Return the minor releases of torch with which a release of torch or of a companion came out."""
    major, minor = version.major, version.minor
    if project == "torchaudio" and (major, minor) >= (2, 11):
        # 2.11.0 went with each torch from 2.11 on, 2.11.1 came with 2.15.
        after = range(11, 15) if version.micro == 0 else range(15, 16)
        return tuple(Version(f"2.{each}") for each in after)
    if project == "torch" or (project == "torchaudio" and major >= 2):
        return (Version(f"{major}.{minor}"),)
    if major == 0 and project == "torchaudio":
        return (Version(f"1.{minor}"),)
    if project == "torchvision" and version.release == (0, 29, 2):
        return (Version("2.15"),)
    if major == 0 and project in ("torchvision", "torchtext"):
        # torchvision 0.15 and torchtext 0.15 came with torch 2.0; 0.14 with 1.13.
        return (Version(f"2.{minor - 15}" if minor >= 15 else f"1.{max(minor - 1, 0)}"),)
    return ()


_NVIDIA = re.compile(r"(?:nvidia|cuda)[-_.]", re.IGNORECASE)
_TRITON = re.compile(r"(?:pytorch[-_.])?triton(?![\w.-])", re.IGNORECASE)
_CUDA_LABEL = re.compile(r"cu(\d{2,3})")
_WITHOUT_CUDA = re.compile(r"cpu$|xpu$|rocm\d")
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
        if able[number] is not False
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
        only_pinned=frozenset(
            number for number, row in enumerate(rows) if row in table.only_pinned or able[table.version_of[row]] is None
        ),
    )
    denied = tuple(version for version, found in zip(table.versions, able, strict=True) if found is False)
    return replace(page, files=TabledFiles(columns, make), index=index, denied=denied)


def without_foreign_libraries(metadata: CoreMetadata, label: str) -> tuple[CoreMetadata, str]:
    """Return a stand-in's metadata without what builds of its label do not require, or in other versions.

    A build for the CPU, ROCm or XPU requires none of NVIDIA's libraries and not the triton for them. A build for
    another CUDA release than the file that stands in for it requires other versions of these libraries. What the build
    itself requires in their place comes with it in words, where there is anything: it is not known.
    """
    requires = metadata.requires_dist
    cuda = _CUDA_LABEL.fullmatch(label)
    if cuda is None:
        other = _WITHOUT_CUDA.match(label)
        if other is not None:
            requires = tuple(text for text in requires if not (_NVIDIA.match(text) or _TRITON.match(text)))
        triton = other is not None and label != "cpu" and requires != metadata.requires_dist
        return replace(metadata, requires_dist=requires), "of Triton" if triton else ""
    runtime = next((found for text in requires if (found := _RUNTIME.match(text))), None)
    if runtime is not None and "".join(runtime.groups()) == cuda[1]:
        return metadata, ""
    requires = tuple(text for text in requires if not _NVIDIA.match(text))
    changed = requires != metadata.requires_dist
    return replace(metadata, requires_dist=requires), "of NVIDIA's libraries" if changed else ""


def _built(tags: str | None) -> bool:
    return tags is None or "macosx" not in tags


def _labelled(version: Version, label: str | None) -> Version:
    return Version(f"{version}+{label}") if label and version.local is None else version
