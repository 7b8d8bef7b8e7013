"""The files of a recorded index: one JSON document per project, with neutral hosts.

A recording is a directory of ``<project>.json`` and ``recording.json`` (when and how it was made). Hosts are rewritten
to ``index.example``: hashes and names are real, addresses are not.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from packaging.utils import NormalizedName
from packaging.version import Version

from envdoctor.model.candidate import (
    CoreMetadata,
    DistributionFile,
    FileKind,
    MetadataSource,
    ProjectPage,
)

__all__ = ["FORMAT", "HOST", "Recorded", "file_entry", "file_of", "metadata_entry", "metadata_of"]

FORMAT = 1
HOST = "https://index.example"


@dataclass(slots=True)
class Recorded:
    """What is recorded of one project."""

    page: ProjectPage | None = None
    """None: the index has no such project, or could not be asked (see ``failure``)."""
    failure: tuple[str, str, str] | None = None
    """Index, URL and reason."""
    metadata: dict[str, CoreMetadata] = field(default_factory=dict)
    """By file name, as are the next ones."""
    failures: dict[str, str] = field(default_factory=dict)
    """Reasons for which metadata was unavailable."""
    names: dict[str, tuple[str, ...]] = field(default_factory=dict)
    members: dict[str, dict[str, str | None]] = field(default_factory=dict)
    """Text of members that were read, None for absent ones."""
    risks: dict[str, str] = field(default_factory=dict)

    def files_used(self) -> frozenset[str]:
        """Return the names of files of which something besides the page was asked."""
        return frozenset((*self.metadata, *self.failures, *self.names, *self.members, *self.risks))


def file_entry(file: DistributionFile) -> dict[str, Any]:
    """Return the JSON form of a file; what is at its default is left out."""
    parts = urlsplit(file.url)
    entry: dict[str, Any] = {
        "filename": file.filename,
        "version": str(file.version),
        "path": parts.path if parts.scheme != "file" else f"/files/{file.filename}",
        "hashes": dict(file.hashes),
        "size": file.size,
        "requires-python": file.requires_python,
        "yanked": file.yanked,
        "upload-time": file.upload_time,
        "stand-in": file.stand_in or None,
        "index": file.index if file.index != "default" else None,
    }
    return {key: value for key, value in entry.items() if value is not None}


def file_of(entry: dict[str, Any], project: NormalizedName) -> DistributionFile:
    """Read a file's JSON form. Raises KeyError or ValueError."""
    name = entry["filename"]
    return DistributionFile(
        project=project,
        version=Version(entry["version"]),
        filename=name,
        kind=FileKind.WHEEL if name.endswith(".whl") else FileKind.SDIST,
        url=HOST + entry["path"],
        index=entry.get("index", "default"),
        hashes=tuple(entry.get("hashes", {}).items()),
        size=entry.get("size"),
        requires_python=entry.get("requires-python"),
        yanked=entry.get("yanked"),
        upload_time=entry.get("upload-time"),
        stand_in=bool(entry.get("stand-in")),
    )


def metadata_entry(metadata: CoreMetadata) -> dict[str, Any]:
    """Return the JSON form of metadata."""
    entry: dict[str, Any] = {
        "requires-dist": list(metadata.requires_dist),
        "requires-python": metadata.requires_python,
        "provides-extra": sorted(metadata.provides_extra),
        "source": metadata.source.value,
        "mended": list(metadata.mended),
    }
    return {key: value for key, value in entry.items() if value}


def metadata_of(entry: dict[str, Any], name: NormalizedName, version: Version) -> CoreMetadata:
    """Read that form. Raises KeyError or ValueError."""
    return CoreMetadata(
        name=name,
        version=version,
        requires_dist=tuple(entry.get("requires-dist", ())),
        requires_python=entry.get("requires-python"),
        provides_extra=frozenset(entry.get("provides-extra", ())),
        source=MetadataSource(entry["source"]),
        mended=tuple(entry.get("mended", ())),
    )
