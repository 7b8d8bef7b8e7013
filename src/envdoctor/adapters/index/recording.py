"""Writes down what an index answered, so that the same questions can be asked again without it."""

from __future__ import annotations

import atexit
import json
import re
import threading
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packaging.utils import NormalizedName

from envdoctor.adapters.index.live import Confused, LiveIndex
from envdoctor.adapters.index.recording_format import (
    FORMAT,
    HOST,
    PARTS,
    Recorded,
    document_text,
    file_entry,
    index_entry,
    metadata_entry,
    unread_entry,
)
from envdoctor.model.candidate import BuildRisk, CoreMetadata, DistributionFile, FileKind, ProjectPage, Rejection
from envdoctor.model.unknown import Unknown
from envdoctor.ports import IndexUnavailable, MetadataUnavailable, ProjectNotFound

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["RecordingIndex"]

_MANY_NAMES = 3000
_TOP = re.compile(r"^[^/]+(?:/[^/]+)?$|\.dist-info/|\.(?:dll|pyd|dylib)$|\.so(?:\.|$)")


class RecordingIndex:
    """Passes questions on to an index and keeps the answers; ``close`` writes them.

    Whole pages are recorded (see ``trim`` in recording_format). An existing recording is added to, so that several
    runs make one.
    """

    def __init__(self, index: LiveIndex, directory: Path) -> None:
        self._index = index
        self._directory = directory
        self._lock = threading.Lock()
        self._seen: dict[NormalizedName, Recorded] = {}
        self._closed = False
        # Whoever forgets to close, or is interrupted, keeps what was recorded.
        atexit.register(self.close)

    def page(self, name: NormalizedName) -> ProjectPage:
        """Ask and record."""
        recorded = self._of(name)
        try:
            recorded.page = self._index.page(name)
        except IndexUnavailable as error:
            recorded.failure = error.unknown
            raise
        except ProjectNotFound:
            raise
        return recorded.page

    def prefetch_pages(self, names: Iterable[NormalizedName]) -> None:
        """Pass on."""
        self._index.prefetch_pages(names)

    def metadata(self, file: DistributionFile) -> CoreMetadata:
        """Ask and record."""
        recorded = self._of(file.project)
        try:
            metadata = self._index.metadata(file)
        except MetadataUnavailable as error:
            recorded.failures[file.filename] = error.unknown
            raise
        recorded.metadata[file.filename] = metadata
        return metadata

    def prefetch_metadata(self, files: Iterable[DistributionFile]) -> None:
        """Pass on."""
        self._index.prefetch_metadata(files)

    def names(self, file: DistributionFile) -> tuple[str, ...]:
        """Ask and record; of thousands of names only those near the top, and the binaries."""
        names = self._index.names(file)
        few = names if len(names) <= _MANY_NAMES else tuple(name for name in names if _TOP.search(name))
        self._of(file.project).names[file.filename] = few
        return names

    def read(self, file: DistributionFile, member: str) -> bytes | None:
        """Ask and record."""
        content = self._index.read(file, member)
        text = None if content is None else content.decode("utf-8", "surrogateescape")
        self._of(file.project).members.setdefault(file.filename, {})[member] = text
        return content

    def build_risk(self, file: DistributionFile) -> BuildRisk:
        """Ask and record."""
        risk = self._index.build_risk(file)
        if file.kind is FileKind.SDIST:
            self._of(file.project).risks[file.filename] = risk.value
        return risk

    def repository_files(self, reference: str, names: Sequence[str]) -> dict[str, bytes]:
        """Pass on; a recording keeps no word of it."""
        return self._index.repository_files(reference, names)

    def too_new(self, name: NormalizedName) -> tuple[Rejection, ...]:
        """Pass on."""
        return self._index.too_new(name)

    @property
    def seconds(self) -> float:
        """Pass on."""
        return self._index.seconds

    @property
    def unreachable(self) -> tuple[Unknown, ...]:
        """Pass on."""
        return self._index.unreachable

    @property
    def confused(self) -> tuple[Confused, ...]:
        """Pass on."""
        return self._index.confused

    @property
    def notes(self) -> tuple[str, ...]:
        """Pass on."""
        return self._index.notes

    def note(self, text: str) -> None:
        """Pass on."""
        self._index.note(text)

    def close(self) -> None:
        """Write the recording and close the index, once."""
        if self._closed:
            return
        self._closed = True
        atexit.unregister(self.close)
        self._directory.mkdir(parents=True, exist_ok=True)
        for name, recorded in sorted(self._seen.items()):
            _write(self._directory / f"{name}.json", self._document(name, recorded))
        about = {
            "format": FORMAT,
            "recorded": datetime.now(timezone.utc).strftime("%Y-%m-%d"),
            "unreachable": [index_entry(item) for item in self._index.unreachable],
        }
        (self._directory / "recording.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
        self._index.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    def _of(self, name: NormalizedName) -> Recorded:
        with self._lock:
            return self._seen.setdefault(name, Recorded())

    def _document(self, name: NormalizedName, recorded: Recorded) -> dict[str, Any]:
        document: dict[str, Any] = {"name": name}
        if recorded.failure is not None and recorded.page is None:
            failure = recorded.failure
            document["unavailable"] = index_entry(replace(failure, url=HOST) if failure.index == "default" else failure)
        if recorded.page is not None:
            document["files"] = [file_entry(file) for file in recorded.page.files]
            if recorded.page.unread is not None:
                document["unread"] = index_entry(recorded.page.unread)
            if recorded.page.index != "default":
                document["index"] = recorded.page.index
        document["metadata"] = {key: metadata_entry(value) for key, value in sorted(recorded.metadata.items())}
        document["metadata-unavailable"] = {
            key: unread_entry(value) for key, value in sorted(recorded.failures.items())
        }
        document["names"] = {key: list(value) for key, value in sorted(recorded.names.items())}
        document["members"] = {key: dict(sorted(value.items())) for key, value in sorted(recorded.members.items())}
        document["build-risk"] = dict(sorted(recorded.risks.items()))
        return {key: value for key, value in document.items() if value or key == "files"}


def _write(path: Path, document: dict[str, Any]) -> None:
    """Write a project's document, adding to what an earlier run recorded."""
    try:
        old = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        old = {}
    for key in PARTS:
        if key in old:
            document[key] = {**old[key], **document.get(key, {})}
    known = {entry["filename"] for entry in document.get("files", ())}
    more = [entry for entry in old.get("files", ()) if entry["filename"] not in known]
    if more or "files" in old:
        document["files"] = document.get("files", []) + more
    path.write_text(document_text(document), encoding="utf-8")
