"""The JSON form of a recording's entries, there and back, and how small a recording can be made."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from packaging.utils import NormalizedName
from packaging.version import Version

from envdoctor.model.candidate import (
    CoreMetadata,
    DistributionFile,
    FileKind,
    MetadataSource,
    ProjectPage,
    unknown_file,
)
from envdoctor.model.dataclass import dataclass
from envdoctor.model.unknown import Subject, SubjectKind, Unknown, UnknownKind

__all__ = [
    "FORMAT",
    "HOST",
    "PARTS",
    "Recorded",
    "document_text",
    "file_entry",
    "file_of",
    "index_entry",
    "index_unknown",
    "metadata_entry",
    "metadata_of",
    "trim",
    "unread_entry",
    "unread_unknown",
]

FORMAT = 1
HOST = "https://index.example"
PARTS = ("metadata", "metadata-unavailable", "names", "members", "build-risk")
"""Keys of a document that say something of single files, by name."""


@dataclass(slots=True)
class Recorded:
    """What is recorded of one project."""

    page: ProjectPage | None = None
    """None: the index has no such project, or could not be asked (see ``failure``)."""
    failure: Unknown | None = None
    metadata: dict[str, CoreMetadata] = field(default_factory=dict)
    """By file name, as are the next ones."""
    failures: dict[str, Unknown] = field(default_factory=dict)
    """Why metadata was unavailable."""
    names: dict[str, tuple[str, ...]] = field(default_factory=dict)
    members: dict[str, dict[str, str | None]] = field(default_factory=dict)
    """Text of members that were read, None for absent ones."""
    risks: dict[str, str] = field(default_factory=dict)


def file_entry(file: DistributionFile) -> dict[str, Any]:
    """Return the JSON form of a file; what is at its default is left out."""
    entry: dict[str, Any] = {
        "filename": file.filename,
        "version": str(file.version),
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
        url=f"{HOST}/files/{quote(name)}",
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
    """Read what ``metadata_entry`` gives. Raises KeyError or ValueError."""
    return CoreMetadata(
        name=name,
        version=version,
        requires_dist=tuple(entry.get("requires-dist", ())),
        requires_python=entry.get("requires-python"),
        provides_extra=frozenset(entry.get("provides-extra", ())),
        source=MetadataSource(entry["source"]),
        mended=tuple(entry.get("mended", ())),
    )


def index_entry(unknown: Unknown) -> list[str]:
    """Return the JSON form of what an index did not tell."""
    status = "" if unknown.status is None else str(unknown.status)
    return [unknown.index, unknown.url, unknown.kind.value, unknown.cause, status]


def index_unknown(entry: list[str]) -> Unknown:
    """Read what ``index_entry`` gives, or its form in earlier recordings."""
    if len(entry) == 3:
        index, url, cause = entry
        offline = cause == _EARLIER_OFFLINE
        kind, cause, status = (UnknownKind.OFFLINE, "", "") if offline else (UnknownKind.UNREACHABLE, cause, "")
    else:
        index, url, value, cause, status = entry
        kind = UnknownKind(value)
    number = int(status) if status.isascii() and status.isdigit() else None
    return Unknown(kind, Subject(SubjectKind.INDEX, index), index, url, status=number, cause=cause)


def unread_entry(unknown: Unknown) -> list[str]:
    """Return the JSON form of what a file did not tell."""
    return [unknown.kind.value, unknown.cause]


def unread_unknown(entry: list[str] | str, file: DistributionFile) -> Unknown:
    """Read what ``unread_entry`` gives, or its form in earlier recordings."""
    if not isinstance(entry, str):
        return unknown_file(UnknownKind(entry[0]), file, entry[1])
    if entry.endswith(_EARLIER_ONLY_A_BUILD):
        return unknown_file(
            UnknownKind.ONLY_A_BUILD, file, entry.removesuffix(_EARLIER_ONLY_A_BUILD).removesuffix(", and ")
        )
    return unknown_file(UnknownKind.BAD_METADATA, file, entry)


_EARLIER_OFFLINE = "offline and not in the cache"
_EARLIER_ONLY_A_BUILD = "only its build would tell its dependencies"
"""How recordings said it that were made before they had kinds."""


def document_text(document: dict[str, Any]) -> str:
    """Return a project's document as JSON with one line an entry, so that recordings can be compared by line."""
    lines = []
    for key, value in document.items():
        if key == "files":
            inner = ",\n  ".join(json.dumps(entry, separators=(",", ":")) for entry in value)
            lines.append(f' "{key}": [\n  {inner}\n ]')
        elif isinstance(value, dict):
            inner = ",\n  ".join(f"{json.dumps(k)}: {json.dumps(v, separators=(',', ':'))}" for k, v in value.items())
            lines.append(f' "{key}": {{\n  {inner}\n }}')
        else:
            lines.append(f" {json.dumps(key)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def trim(directory: Path, usable: Callable[[str], bool], only_considered: bool = False) -> None:
    """Make a recording small: drop wheels that the target cannot use.

    ``usable`` judges a file name. Kept always: files of which something was asked, and one file of a version that
    has none for the target, so that it is still known to exist. Sdists go where a usable wheel is kept.
    ``only_considered`` drops versions of which nothing was asked, too.
    """
    for path in sorted(directory.glob("*.json")):
        document = json.loads(path.read_text(encoding="utf-8"))
        if path.name == "recording.json" or "files" not in document:
            continue
        asked = {name for part in PARTS for name in document.get(part, ())}
        considered = {entry["version"] for entry in document["files"] if entry["filename"] in asked}
        kept, seen = [], set()
        # The best first, so that a lesser file is only kept where a version has no better one.
        for entry in sorted(document["files"], key=lambda entry: _preference(entry["filename"], usable)):
            name, version = entry["filename"], entry["version"]
            if name not in asked and only_considered and version not in considered:
                continue
            wheel = name.endswith(".whl")
            if name in asked or (usable(name) and wheel) or version not in seen:
                kept.append(entry)
                seen.add(version)
        order = {entry["filename"]: number for number, entry in enumerate(document["files"])}
        document["files"] = sorted(kept, key=lambda entry: order[entry["filename"]])
        path.write_text(document_text(document), encoding="utf-8")


def _preference(filename: str, usable: Callable[[str], bool]) -> int:
    """Usable wheels before sdists, and those before other wheels."""
    if not filename.endswith(".whl"):
        return 1
    return 0 if usable(filename) else 2
