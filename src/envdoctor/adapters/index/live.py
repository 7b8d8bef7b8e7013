"""The package index: routing between the default index, bound indexes and those that a project's files name.

Which index a project comes from:

1. A project bound to an index by the profile comes from there alone, whatever else offers it.
2. Any other project comes from the default index if that has it.
3. Indexes that project files name (``--extra-index-url``, ``--find-links``) are asked only for projects that the
   default index does not have, and for requirements with a local label (``torch==2.1.1+cu118``) that it does not
   offer; then only the labelled files are taken. pip would take the highest version from any of them, which lets
   anyone who registers a private project's name take its place (dependency confusion).

Where a bound or extra index cannot be reached, the default index's files stand in, so that a diagnosis can go on.
They say so (``stand_in``), and the index is listed in ``unreachable``.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from packaging.utils import NormalizedName

from envdoctor.adapters.index.cache import Cache, CachedPage
from envdoctor.adapters.index.files import FileReader, file_key
from envdoctor.adapters.index.metadata_text import MetadataRecord
from envdoctor.adapters.index.settings import IndexSettings, cutoff_text
from envdoctor.adapters.index.source import PageSource, Source
from envdoctor.adapters.index.stand_ins import standing_in
from envdoctor.adapters.index.stopwatch import Stopwatch
from envdoctor.adapters.index.transport import Transport
from envdoctor.adapters.index.workers import Job, Workers
from envdoctor.model.candidate import (
    BuildRisk,
    CoreMetadata,
    DistributionFile,
    FileKind,
    MetadataSource,
    ProjectPage,
    Rejection,
    RejectionKind,
)
from envdoctor.ports import IndexUnavailable, Progress, ProjectNotFound

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["LiveIndex", "Sources", "UnreachableIndex"]

_ACTIVITY = "package index"


class UnreachableIndex(NamedTuple):
    """An index whose files others had to stand in for."""

    name: str
    url: str
    reason: str


class Sources(NamedTuple):
    """All indexes, by their part in the routing."""

    default: PageSource
    bound: dict[NormalizedName, tuple[PageSource, str | None]]
    """Project to its index and that index's local label."""
    extra: tuple[tuple[Source, frozenset[tuple[NormalizedName, str]]], ...]
    """Index and the ``(project, label)`` that requirements want from it, in the order of the files."""


class LiveIndex:
    """Implements ``ports.Index`` and ``ports.ArchiveReader``. Thread-safe; calls Progress from several threads.

    Made by ``open_index``. Use as a context manager, or call ``close``.
    """

    def __init__(
        self, settings: IndexSettings, sources: Sources, transport: Transport, cache: Cache, progress: Progress | None
    ) -> None:
        self._sources = sources
        self._transport = transport
        self._cache = cache
        self._cutoff = cutoff_text(settings.exclude_newer)
        impatient = {source.name for source, _ in sources.bound.values()} | {s.name for s, _ in sources.extra}
        self._files = FileReader(transport, cache, settings.offline, impatient)
        self._workers = Workers(settings.concurrency)
        self._lock = threading.Lock()
        self._pages: dict[NormalizedName, Job[ProjectPage]] = {}
        self._metadata: dict[str, Job[MetadataRecord]] = {}
        self._stored_pages: dict[str, CachedPage] = {}
        self._too_new: dict[NormalizedName, tuple[Rejection, ...]] = {}
        self._unreachable: dict[str, UnreachableIndex] = {}
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
        default = self._sources.default
        keys = {default.key(name): name for name in new if name not in self._sources.bound}
        stored = self._cache.pages(keys)
        with self._lock:
            self._stored_pages.update(stored)
        for name in new:
            job = self._page_job(name)
            cached = stored.get(default.key(name))
            if cached is None or not default.fresh(cached):
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
        return metadata if told_by is file else replace(metadata, source=MetadataSource.SIBLING)

    def prefetch_metadata(self, files: Iterable[DistributionFile]) -> None:
        """Start fetching metadata that is not in the cache."""
        new = {file_key(told_by): told_by for file in files for told_by in (self._told_by(file),)}
        new = {key: file for key, file in new.items() if key not in self._metadata}
        if not new:
            return
        with self._stopwatch:
            self._start_metadata(new)

    def _start_metadata(self, new: dict[str, DistributionFile]) -> None:
        stored = self._cache.parts(new, "metadata")
        for key, file in new.items():
            body = stored.get(key)
            if body is not None:
                with self._lock:
                    self._metadata.setdefault(key, Job(partial(self._record, file, body)))
            else:
                self._workers.submit(self._metadata_job(file))  # type: ignore[arg-type]

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
        """Grade what building this file would need. Raises MetadataUnavailable or IndexUnavailable."""
        with self._stopwatch:
            return self._files.risk(file)

    def too_new(self, name: NormalizedName) -> tuple[Rejection, ...]:
        """Return the files of a project that ``exclude_newer`` left out of its page."""
        return self._too_new.get(name, ())

    @property
    def unreachable(self) -> tuple[UnreachableIndex, ...]:
        """Indexes whose files others stand in for: the report is not complete."""
        return tuple(self._unreachable.values())

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know about how the indexes were asked, each once."""
        return tuple(self._notes)

    def note(self, text: str) -> None:
        """Add a note."""
        self._notes.setdefault(text)

    def fetched(self, name: str) -> None:
        """Tell Progress of one request's worth of work."""
        if self._progress is None:
            return
        with self._lock:
            if not self._started:
                self._started = True
                self._progress.start(_ACTIVITY)
            self._progress.advance(_ACTIVITY, note=name)

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

    def _metadata_job(self, file: DistributionFile) -> Job[MetadataRecord]:
        key = file_key(file)
        with self._lock:
            job = self._metadata.get(key)
            if job is None:
                job = self._metadata[key] = Job(partial(self._record, file, None))
            return job

    def _record(self, file: DistributionFile, body: bytes | None) -> MetadataRecord:
        if body is None:
            key = file_key(file)
            body = self._cache.parts((key,), "metadata").get(key)
        if body is not None:
            try:
                return MetadataRecord.decode(body)
            except (ValueError, TypeError):
                pass
        record = self._files.record(file)
        self.fetched(file.filename)
        return record

    def _routed(self, name: NormalizedName) -> ProjectPage:
        bound = self._sources.bound.get(name)
        page = self._from_bound(name, *bound) if bound is not None else self._from_default(name)
        return self._admissible(page)

    def _default_page(self, name: NormalizedName) -> ProjectPage:
        default = self._sources.default
        with self._lock:
            stored = self._stored_pages.pop(default.key(name), None)
        return default.load(name, stored)

    def _from_bound(self, name: NormalizedName, source: PageSource, label: str | None) -> ProjectPage:
        try:
            return source.load(name)
        except IndexUnavailable as error:
            try:
                page = self._default_page(name)
            except (ProjectNotFound, IndexUnavailable):
                raise error from None
            self._missed(error)
            return standing_in(page, source.name, label)

    def _from_default(self, name: NormalizedName) -> ProjectPage:
        try:
            page = self._default_page(name)
        except ProjectNotFound:
            return self._from_extra(name)
        for source, labels in self._sources.extra:
            for wanted in sorted(label for project, label in labels if project == name):
                labelled = [version for version in page.versions if version.local == wanted]
                if all(file.stand_in for version in labelled for file in page.of_version(version)):
                    page = self._with_labelled(page, source, wanted)
        return page

    def _from_extra(self, name: NormalizedName) -> ProjectPage:
        """Ask the project files' indexes in turn for a project that the default index does not have."""
        missed: IndexUnavailable | None = None
        for source, _labels in self._sources.extra:
            with contextlib.suppress(ProjectNotFound):
                try:
                    return source.load(name)
                except IndexUnavailable as error:
                    self._missed(error)
                    missed = missed or error
        if missed is not None:
            raise missed
        raise ProjectNotFound(name, self._sources.default.name)

    def _with_labelled(self, page: ProjectPage, source: Source, label: str) -> ProjectPage:
        """Add an index's files of one label; where it is out of reach, stand-ins until an index really has them."""
        real = tuple(file for file in page.files if not (file.stand_in and file.version.local == label))
        try:
            listed = source.load(page.name)
        except ProjectNotFound:
            return page
        except IndexUnavailable as error:
            self._missed(error)
            unlabelled = replace(page, files=tuple(file for file in real if file.version.local is None))
            return replace(page, files=(*real, *standing_in(unlabelled, source.name, label).files))
        labelled = [version for version in listed.versions if version.local == label]
        more = tuple(file for version in labelled for file in listed.of_version(version))
        return replace(page, files=real + more) if more else page

    def _missed(self, error: IndexUnavailable) -> None:
        self._unreachable.setdefault(error.index, UnreachableIndex(error.index, error.url, error.reason))

    def _admissible(self, page: ProjectPage) -> ProjectPage:
        """Take out files that are too new. Whole seconds of ISO 8601 in UTC compare as text."""
        cutoff = self._cutoff
        if cutoff is None:
            return page
        if any(file.upload_time is None for file in page.files):
            self.note(f"index `{page.index}` gives no upload times for all files: those are not excluded as too new")
        late = [file for file in page.files if file.upload_time is not None and file.upload_time[:19] >= cutoff]
        if not late:
            return page
        self._too_new[page.name] = tuple(
            Rejection(RejectionKind.TOO_NEW, page.name, f.version, f.filename, f"uploaded {f.upload_time}")
            for f in late
        )
        left_out = {id(file) for file in late}
        return replace(page, files=tuple(file for file in page.files if id(file) not in left_out))
