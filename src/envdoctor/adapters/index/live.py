"""The package index: the default index, bound indexes, and those that a project's own files name.

Which index a project's files come from:

1. A project bound to an index by the profile comes from there alone, whatever else offers it; so does one that a step
   of the project's scripts installs with an ``--index-url`` of its own. Where both bind it, the profile's counts.
2. ``--index-url`` in a requirements file takes the place of the default index for everything, as in pip;
   ``--no-index`` leaves none, nor extra ones. The user's own ``--index-url`` wins over both, and a note says so.
3. ``--extra-index-url`` and ``--find-links`` are asked beside the default index, and all files are merged: the best
   version wins, from wherever it comes. That is what pip does, and uv with ``--index-strategy unsafe-best-match``.
   uv alone would take the first index that has the project (``first-index``), extra ones first. pip is followed,
   for it is what projects are written for. Where an extra index outbids the default one for a project that both have,
   ``confused`` says so: whoever registers a private project's name can take its place (dependency confusion). Of
   files that are the same by version and tags, the default index's is taken.
4. Where the default index does not answer, nothing is taken from extra ones in its stead: a version that they lack may
   be there. The project is not known. Where another index does not answer, the page says so (``unread``): that it
   lacks a version is no reason for a conflict.

Where an index cannot be reached, another's files stand in, so that a diagnosis can go on; they say so (``stand_in``),
and the index is listed in ``unreachable`` in any case. For a bound index and for one in the place of the default, the
default index's files stand in. For an extra index only labelled builds do: those that a requirement names
(``torch==2.1.1+cu118``), and those that an index of this label is known to carry (``labelled_builds``), for a local
version sorts above the public one. Of their requirements those on NVIDIA's libraries are left out where the label is
``cpu`` or another CUDA release: ``cpu`` builds have none, and the others' versions are not known.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from packaging.utils import NormalizedName

from envdoctor.adapters.index.cache import Cache
from envdoctor.adapters.index.files import FileReader, file_key
from envdoctor.adapters.index.index_settings import IndexSettings, limits_in, without_late
from envdoctor.adapters.index.metadata_text import MetadataRecord
from envdoctor.adapters.index.repository_files import RepositoryReader
from envdoctor.adapters.index.routing import Confused, Router, Sources
from envdoctor.adapters.index.stand_ins import without_foreign_libraries
from envdoctor.adapters.index.transport import Transport
from envdoctor.adapters.index.workers import Job, Stopwatch, Workers
from envdoctor.model.candidate import (
    BuildRisk,
    CoreMetadata,
    DistributionFile,
    FileKind,
    MetadataSource,
    ProjectPage,
    Rejection,
)
from envdoctor.model.unknown import Unknown
from envdoctor.ports import IndexUnavailable, MetadataUnavailable, Progress, ProjectNotFound

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Confused", "LiveIndex", "Sources"]

_ACTIVITY = "package index"


class LiveIndex:
    """Implements ``ports.Index`` and ``ports.ArchiveReader``. Thread-safe; calls Progress from several threads.

    Made by ``open_index``. Use as a context manager, or call ``close``.
    """

    def __init__(
        self, settings: IndexSettings, sources: Sources, transport: Transport, cache: Cache, progress: Progress | None
    ) -> None:
        self._transport = transport
        self._cache = cache
        self._limits = limits_in(settings)
        self._files = FileReader(transport, cache, settings.offline, sources.impatient)
        self._files.refusals.note = self.note
        self._repositories = RepositoryReader(transport, cache, settings.offline, settings.freshness)
        self._workers = Workers(settings.concurrency)
        self._router = Router(sources, cache, self._workers.submit)  # type: ignore[arg-type]
        self._lock = threading.Lock()
        self._pages: dict[NormalizedName, Job[ProjectPage]] = {}
        self._metadata: dict[str, Job[MetadataRecord]] = {}
        self._too_new: dict[NormalizedName, tuple[Rejection, ...]] = {}
        self._notes: dict[str, None] = {}
        self._progress = progress
        self._started = False
        self._stopwatch = Stopwatch()

    @property
    def seconds(self) -> float:
        """Wall-clock seconds for which callers waited so far: for the network, the disk, and pages to be read."""
        return self._stopwatch.seconds

    def page(self, name: NormalizedName) -> ProjectPage:
        """Return the project's admissible files. Raises ProjectNotFound or IndexUnavailable."""
        job = self._page_job(name)
        if job.done:
            return job.result()
        with self._stopwatch:
            return job.result()

    def prefetch_pages(self, names: Iterable[NormalizedName]) -> None:
        """Start fetching pages that are neither at hand nor fresh in the cache."""
        new = [name for name in dict.fromkeys(names) if name not in self._pages]
        if not new:
            return
        with self._stopwatch:
            self._start_pages(new)

    def _start_pages(self, new: list[NormalizedName]) -> None:
        unknown = set(self._router.unknown(new))
        for name in new:
            job = self._page_job(name)
            if name in unknown:
                self._workers.submit(job)  # type: ignore[arg-type]

    def metadata(self, file: DistributionFile) -> CoreMetadata:
        """Return core metadata. Raises MetadataUnavailable or IndexUnavailable.

        Of an sdist beside which wheels for other platforms stand, one of these is read: a few kilobytes by range in
        place of a whole archive, which may say nothing without a build.
        """
        told_by = self._told_by(file)
        job = self._metadata_job(told_by)
        if not job.done:
            with self._stopwatch:
                job.result()
        metadata = job.result().named(file.project, file.version)
        if file.stand_in and file.version.local:
            metadata = self._of_build(metadata, file)
        return metadata if told_by is file else replace(metadata, source=MetadataSource.SIBLING)

    def _of_build(self, metadata: CoreMetadata, file: DistributionFile) -> CoreMetadata:
        label = file.version.local or ""
        metadata, unknown = without_foreign_libraries(metadata, label)
        if unknown:
            what = f"what `{file.project}` builds of index `{file.index}` require {unknown}"
            self.note(f"{what} is left out: it differs between builds, and {label} could not be looked at")
        return metadata

    def prefetch_metadata(self, files: Iterable[DistributionFile]) -> None:
        """Start fetching metadata that is not in the cache."""
        new = {file_key(told_by): told_by for file in files for told_by in (self._told_by(file),)}
        new = {key: file for key, file in new.items() if key not in self._metadata}
        if not new:
            return
        with self._stopwatch:
            self._start_metadata(new)

    def _start_metadata(self, new: dict[str, DistributionFile]) -> None:
        stored = self._cache.parts((key for key, file in new.items() if file.kind is FileKind.WHEEL), "metadata")
        for key, file in new.items():
            body = stored.get(key)
            if body is not None:
                with self._lock:
                    self._metadata.setdefault(key, Job(partial(self._record, file, body)))
            else:
                self._workers.submit(self._metadata_job(file, b""))  # type: ignore[arg-type]

    def _told_by(self, file: DistributionFile) -> DistributionFile:
        """Return the file whose metadata speaks for ``file``."""
        if file.kind is FileKind.WHEEL or file.project not in self._pages:
            return file
        try:
            siblings = self._pages[file.project].result().of_version(file.version)
        except (ProjectNotFound, IndexUnavailable):
            return file
        wheels = (other for other in siblings if other.kind is FileKind.WHEEL and other.index == file.index)
        return next(wheels, file)

    def names(self, file: DistributionFile) -> tuple[str, ...]:
        """Return member names. Raises MetadataUnavailable or IndexUnavailable."""
        with self._stopwatch:
            return self._files.names(file)

    def read(self, file: DistributionFile, member: str) -> bytes | None:
        """Return a member's bytes, None where there is none. Raises MetadataUnavailable or IndexUnavailable."""
        with self._stopwatch:
            return self._files.read(file, member)

    def build_risk(self, file: DistributionFile) -> BuildRisk:
        """Grade what building this file would need; UNKNOWN where the file itself cannot be had."""
        with self._stopwatch:
            try:
                return self._files.risk(file)
            except (MetadataUnavailable, IndexUnavailable):
                return BuildRisk.UNKNOWN

    def repository_files(self, reference: str, names: Sequence[str]) -> dict[str, bytes]:
        """Return the files of a repository that a VCS URL names. Raises RepositoryUnread."""
        with self._stopwatch:
            return self._repositories.files(reference, names)

    def too_new(self, name: NormalizedName) -> tuple[Rejection, ...]:
        """Return the files of a project that were left out of its page, as they are newer than a date."""
        return self._too_new.get(name, ())

    @property
    def unreachable(self) -> tuple[Unknown, ...]:
        """Indexes that could not be asked, whether or not others' files stand in: the report is not complete."""
        return self._router.unreachable

    @property
    def confused(self) -> tuple[Confused, ...]:
        """Projects that the default index has, and an extra one in a higher version."""
        return self._router.confused

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know about how the indexes were asked, each once."""
        return tuple(self._notes)

    def note(self, text: str) -> None:
        """Add a note."""
        self._notes.setdefault(text)

    def fetched(self, name: str) -> None:
        """Tell Progress of one request's worth of work."""
        self._tell(name, 1)

    def waits_for(self, host: str) -> None:
        """Tell Progress which host keeps a request waiting."""
        self._tell(f"waiting for {host}", 0)

    def _tell(self, note: str, done: int) -> None:
        if self._progress is None:
            return
        with self._lock:
            if not self._started:
                self._started = True
                self._progress.start(_ACTIVITY)
            self._progress.advance(_ACTIVITY, by=done, note=note)

    def close(self) -> None:
        """Leave outstanding work, close connections and the cache."""
        self._workers.close()
        self._transport.close()
        self._cache.close()
        if self._started and self._progress is not None:
            self._started = False
            self._progress.finish(_ACTIVITY)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    def _page_job(self, name: NormalizedName) -> Job[ProjectPage]:
        with self._lock:
            job = self._pages.get(name)
            if job is None:
                job = self._pages[name] = Job(partial(self._routed, name))
            return job

    def _metadata_job(self, file: DistributionFile, stored: bytes | None = None) -> Job[MetadataRecord]:
        key = file_key(file)
        with self._lock:
            job = self._metadata.get(key)
            if job is None:
                job = self._metadata[key] = Job(partial(self._record, file, stored))
            return job

    def _record(self, file: DistributionFile, body: bytes | None) -> MetadataRecord:
        """Return metadata; ``body`` is what the cache has, nothing where it has none, None where it was not asked."""
        if body is None and file.kind is FileKind.WHEEL:
            key = file_key(file)
            body = self._cache.parts((key,), "metadata").get(key)
        if body:
            try:
                return MetadataRecord.decode(body)
            except (ValueError, TypeError):
                pass
        record = self._files.record(file)
        self.fetched(file.filename)
        return record

    def _routed(self, name: NormalizedName) -> ProjectPage:
        return self._admissible(self._router.page(name))

    def _admissible(self, page: ProjectPage) -> ProjectPage:
        """Take out files that are too new."""
        kept, too_new, untold = without_late(page, self._limits)
        if untold:
            self.note(f"index `{page.index}` gives no upload times for all files: those are not excluded as too new")
        if too_new:
            self._too_new[page.name] = too_new
        return kept
