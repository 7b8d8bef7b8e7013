"""An index that answers from a recording: for tests, examples, and a diagnosis without a network."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packaging.utils import NormalizedName
from packaging.version import Version

from envdoctor.adapters.index.index_settings import IndexSettings, limits_in, without_late
from envdoctor.adapters.index.recording_format import HOST, file_of, index_unknown, metadata_of, unread_unknown
from envdoctor.adapters.index.recording_reader import BadRecording, read_about, read_document
from envdoctor.adapters.index.workers import Stopwatch
from envdoctor.model.candidate import (
    BuildRisk,
    CoreMetadata,
    DistributionFile,
    FileKind,
    ProjectPage,
    Rejection,
    unknown_file,
)
from envdoctor.model.unknown import Subject, SubjectKind, Unknown, UnknownKind
from envdoctor.model.upload_limit import UploadLimits
from envdoctor.ports import IndexUnavailable, MetadataUnavailable, ProjectNotFound

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["RecordedIndex"]


class RecordedIndex:
    """Implements ``ports.Index`` and ``ports.ArchiveReader`` over a directory that RecordingIndex wrote.

    What was not recorded is IndexUnavailable or MetadataUnavailable with that reason, never an empty answer.
    """

    def __init__(self, directory: Path, settings: IndexSettings | None = None) -> None:
        """Open a recording. Raises IndexUnavailable where the directory is not one."""
        self._directory = directory
        self._limits = limits_in(settings) if settings is not None else UploadLimits()
        self._projects: dict[NormalizedName, dict[str, Any]] = {}
        self._pages: dict[NormalizedName, ProjectPage] = {}
        self._too_new: dict[NormalizedName, tuple[Rejection, ...]] = {}
        self._stopwatch = Stopwatch()
        self.unreachable: tuple[Unknown, ...] = ()
        """Indexes that were out of reach when it was recorded."""
        self.notes: tuple[str, ...] = ()
        self.confused: tuple[tuple[NormalizedName, str, Version, Version], ...] = ()
        """A recording keeps no word of it."""
        try:
            about = read_about(directory)
        except BadRecording as error:
            raise _missing(str(directory), str(error), UnknownKind.BAD_ANSWER) from None
        self.unreachable = tuple(map(index_unknown, about.get("unreachable", ())))

    @property
    def seconds(self) -> float:
        """Wall-clock seconds for which callers waited for recordings to be read."""
        return self._stopwatch.seconds

    def page(self, name: NormalizedName) -> ProjectPage:
        """Return the recorded page. Raises ProjectNotFound or IndexUnavailable."""
        page = self._pages.get(name)
        if page is None:
            with self._stopwatch:
                page = self._pages[name] = self._admissible(self._read_page(name))
        return page

    def prefetch_pages(self, names: Iterable[NormalizedName]) -> None:
        """Nothing to do: the recording is at hand."""

    def metadata(self, file: DistributionFile) -> CoreMetadata:
        """Return recorded metadata. Raises MetadataUnavailable."""
        table = self._project(file.project)
        failed = table.get("metadata-unavailable", {}).get(file.filename)
        if failed is not None:
            raise MetadataUnavailable(unread_unknown(failed, file))
        entry = table.get("metadata", {}).get(file.filename)
        if entry is None:
            raise _not_recorded(file, "not in the recording")
        return metadata_of(entry, file.project, file.version)

    def prefetch_metadata(self, files: Iterable[DistributionFile]) -> None:
        """Nothing to do: the recording is at hand."""

    def names(self, file: DistributionFile) -> tuple[str, ...]:
        """Return recorded member names. Raises MetadataUnavailable."""
        names = self._project(file.project).get("names", {}).get(file.filename)
        if names is None:
            raise _not_recorded(file, "its list of members is not in the recording")
        return tuple(names)

    def read(self, file: DistributionFile, member: str) -> bytes | None:
        """Return a recorded member, None where it was absent. Raises MetadataUnavailable."""
        members = self._project(file.project).get("members", {}).get(file.filename, {})
        if member not in members:
            raise _not_recorded(file, f"its member `{member}` is not in the recording")
        text = members[member]
        return None if text is None else text.encode("utf-8", "surrogateescape")

    def build_risk(self, file: DistributionFile) -> BuildRisk:
        """Return the recorded grade; UNKNOWN where the recording has none."""
        if file.kind is FileKind.WHEEL:
            return BuildRisk.ANYWHERE
        grade = self._project(file.project).get("build-risk", {}).get(file.filename)
        return BuildRisk(grade) if grade is not None else BuildRisk.UNKNOWN

    def repository_files(self, reference: str, names: Sequence[str]) -> dict[str, bytes]:
        """Return the files of a repository of this machine. Raises RepositoryUnread for any other."""
        from envdoctor.adapters.index.repository_files import local_files

        return local_files(reference, names)

    def too_new(self, name: NormalizedName) -> tuple[Rejection, ...]:
        """Return the files that were left out, as they are newer than a date."""
        return self._too_new.get(name, ())

    def note(self, text: str) -> None:
        """Add a note."""
        self.notes = tuple(dict.fromkeys((*self.notes, text)))

    def close(self) -> None:
        """Nothing is held open."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    def _project(self, name: NormalizedName) -> dict[str, Any]:
        if name not in self._projects:
            path = self._directory / f"{name}.json"
            try:
                self._projects[name] = read_document(path)
            except FileNotFoundError:
                raise _missing(HOST, f"`{name}` is not in the recording") from None
            except BadRecording as error:
                raise _missing(str(self._directory), str(error), UnknownKind.BAD_ANSWER) from None
        return self._projects[name]

    def _read_page(self, name: NormalizedName) -> ProjectPage:
        table = self._project(name)
        if "unavailable" in table:
            raise IndexUnavailable(index_unknown(table["unavailable"]))
        if "files" not in table:
            raise ProjectNotFound(name, "default")
        files = tuple(file_of(entry, name) for entry in table["files"])
        unread = index_unknown(table["unread"]) if "unread" in table else None
        return ProjectPage(name, files, table.get("index", "default"), tuple(table.get("skipped", ())), unread)

    def _admissible(self, page: ProjectPage) -> ProjectPage:
        kept, too_new, _ = without_late(page, self._limits)
        if too_new:
            self._too_new[page.name] = too_new
        return kept


def _missing(url: str, cause: str, kind: UnknownKind = UnknownKind.UNREACHABLE) -> IndexUnavailable:
    return IndexUnavailable(Unknown(kind, Subject(SubjectKind.INDEX, "recorded"), "recorded", url, cause=cause))


def _not_recorded(file: DistributionFile, cause: str) -> MetadataUnavailable:
    return MetadataUnavailable(unknown_file(UnknownKind.NO_METADATA, file, cause))
