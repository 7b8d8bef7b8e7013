"""Which releases PyTorch's indexes carry as builds with a local label (``2.5.1+cu121``): for stand-ins alone.

Sources: PyTorch's list of previous versions and its release matrix; pytorch#147383 and PR#155509 for the end of CUDA
11.8. An index that can be reached is asked, never this table.
"""

from __future__ import annotations

import re
from dataclasses import replace

from packaging.utils import NormalizedName
from packaging.version import Version

from envdoctor.model.candidate import CoreMetadata, DistributionFile, ProjectPage
from envdoctor.model.file_table import FileTable, TabledFiles, table_of

__all__ = ["built_with", "carries", "standing_in", "without_foreign_libraries"]

# Label: the first release of torch with such builds, and the first without them again; None where no end is known.
_BUILDS: dict[str, tuple[str, str | None]] = {
    "cu113": ("1.10", "1.13"),
    "cu116": ("1.12", "2.0"),
    "cu117": ("1.13", "2.1"),
    "cu118": ("2.0", "2.8"),
    "cu121": ("2.1", "2.6"),
    "cu124": ("2.4", "2.7"),
    "cu126": ("2.6", None),
    "cu128": ("2.7", None),
    "cu129": ("2.8", None),
    "cu130": ("2.9", None),
    "rocm5.6": ("2.1", "2.2"),
    "rocm5.7": ("2.2", "2.4"),
    "rocm6.0": ("2.3", "2.5"),
    "rocm6.1": ("2.4", "2.7"),
    "rocm6.2": ("2.5", "2.6"),
    "rocm6.2.4": ("2.6", "2.8"),
    "rocm6.3": ("2.7", "2.10"),
    "rocm6.4": ("2.8", None),
}
# Projects whose files there carry the index's label. Not torchdata, triton, xformers and the NVIDIA libraries: the
# same files without a label are on the default index, so that nothing need stand in. torchtext has no GPU code.
_CARRIED = frozenset({"torch", "torchaudio", "torchvision"})
_CARRIED_FOR_CPU = _CARRIED | {"torchtext"}


def carries(label: str | None, project: NormalizedName | str) -> bool:
    """Return whether an index of this label is known to carry labelled builds of a project."""
    return label is not None and project in (_CARRIED_FOR_CPU if label == "cpu" else _CARRIED)


def built_with(label: str | None, project: NormalizedName | str, version: Version) -> bool:
    """Return whether a release can exist with a local label: builds of a label begin and end at some release."""
    known = _BUILDS.get(label or "")
    release = _release_of_torch(project, version)
    if known is None or release is None:
        return True
    first, ended = known
    return Version(first) <= release and (ended is None or release < Version(ended))


def _release_of_torch(project: NormalizedName | str, version: Version) -> Version | None:
    """Return the minor release of torch that a release of torch or of a companion was built with."""
    major, minor = version.major, version.minor
    if project == "torch" or (project == "torchaudio" and major >= 2):
        return Version(f"{major}.{minor}")
    if major == 0 and project == "torchaudio":
        return Version(f"1.{minor}")
    if major == 0 and project in ("torchvision", "torchtext"):
        # torchvision 0.15 and torchtext 0.15 came with torch 2.0; 0.14 with 1.13.
        return Version(f"2.{minor - 15}") if minor >= 15 else Version(f"1.{max(minor - 1, 0)}")
    return None


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
