"""Which index a project's files come from, several indexes' pages as one; the rules stand in ``live``."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from packaging.utils import NormalizedName
from packaging.version import Version

from envdoctor.adapters.index.cache import Cache, CachedPage
from envdoctor.adapters.index.source import FlatSource, PageSource, Source
from envdoctor.adapters.index.stand_ins import carries, standing_in
from envdoctor.adapters.index.workers import Job
from envdoctor.model.candidate import DistributionFile, ProjectPage
from envdoctor.model.file_table import FileTable, Kind, TabledFiles, table_of
from envdoctor.model.index_url import label_of
from envdoctor.model.unknown import Unknown
from envdoctor.ports import IndexUnavailable, ProjectNotFound

__all__ = ["Confused", "Router", "Sources"]


def merged(pages: Sequence[ProjectPage]) -> ProjectPage:
    """Return all files of these pages; of files that are the same by version and tags, those of the earlier page.

    Files are made when they are looked at, as those of the pages.
    """
    pages = [page for number, page in enumerate(pages) if number == 0 or len(page.files)]
    if len(pages) == 1:
        return pages[0]
    tables = [table_of(page.files) for page in pages]
    versions = tuple(sorted({version for table in tables for version in table.versions}))
    numbers = {version: number for number, version in enumerate(versions)}
    kinds: dict[Kind, int] = {}
    places: list[tuple[int, int]] = []
    version_of: list[int] = []
    kind_of: list[int] = []
    only_pinned: set[int] = set()
    seen: set[tuple[int, str | None]] = set()
    for at, table in enumerate(tables):
        own = [numbers[version] for version in table.versions]
        alike = {
            (own[number], table.kinds[kind][0]) for number, kind in zip(table.version_of, table.kind_of, strict=True)
        }
        for row, (number, kind) in enumerate(zip(table.version_of, table.kind_of, strict=True)):
            if (own[number], table.kinds[kind][0]) in seen:
                continue
            if row in table.only_pinned:
                only_pinned.add(len(places))
            places.append((at, row))
            version_of.append(own[number])
            kind_of.append(kinds.setdefault(table.kinds[kind], len(kinds)))
        seen |= alike

    def make(row: int) -> DistributionFile:
        at, own_row = places[row]
        return pages[at].files[own_row]

    columns = FileTable(versions, tuple(kinds), version_of, kind_of, frozenset(only_pinned))
    skipped = tuple(dict.fromkeys(name for page in pages for name in page.skipped))
    return replace(pages[0], files=TabledFiles(columns, make), skipped=skipped)


def best_version(page: ProjectPage) -> Version | None:
    """Return a page's highest version, a final release where there is one."""
    final = [version for version in page.versions if not version.is_prerelease]
    versions = final or page.versions
    return versions[-1] if versions else None


def has_real(pages: Sequence[ProjectPage], label: str) -> bool:
    """Return whether any of these pages holds files of a local label that are no stand-ins."""
    return any(
        version.local == label and not all(file.stand_in for file in page.of_version(version))
        for page in pages
        for version in page.versions
    )


_Answer = ProjectPage | IndexUnavailable | None
"""A page, None where the index has no such project, the error where it cannot be asked."""


class Confused(NamedTuple):
    """A project that the default index and an extra one both have, of which the extra one offers a higher version."""

    project: NormalizedName
    index_name: str
    version: Version
    default_version: Version


class Sources(NamedTuple):
    """All indexes, by their part in the routing."""

    default: PageSource | None
    """None: the project's files say ``--no-index``."""
    bound: dict[NormalizedName, tuple[Source, str | None]]
    """Project to its index and the local label that its files carry there."""
    extra: tuple[tuple[Source, frozenset[tuple[NormalizedName, str]]], ...]
    """Index and the ``(project, label)`` that requirements want from it, in the order of the files."""
    fallback: PageSource | None = None
    """Whose files stand in where ``default`` is an index that the project names, and out of reach."""

    otherwise: tuple[Source, ...] = ()
    """Asked for projects that none of the others has: what comes from an index may need more of it."""
    private: frozenset[NormalizedName] = frozenset()
    """Projects that no other index is asked for, although theirs is out of reach."""

    @property
    def every(self) -> tuple[Source, ...]:
        """All of them."""
        single = [source for source in (self.default, self.fallback) if source is not None]
        return (
            *single,
            *(entry[0] for entry in self.bound.values()),
            *(entry[0] for entry in self.extra),
            *self.otherwise,
        )

    @property
    def impatient(self) -> frozenset[str]:
        """Names of those that get one short attempt."""
        return frozenset(source.name for source in self.every if not source.patient)


class Router:
    """Finds pages. Thread-safe."""

    def __init__(self, sources: Sources, cache: Cache, submit: Callable[[Job[_Answer]], None]) -> None:
        self._sources = sources
        self._cache = cache
        self._submit = submit
        self._lock = threading.Lock()
        self._stored: dict[str, CachedPage] = {}
        self._unreachable: dict[str, Unknown] = {}
        self._confused: dict[tuple[NormalizedName, str], Confused] = {}
        self._asked: set[int] = set()
        self._first: NormalizedName | None = None

    @property
    def unreachable(self) -> tuple[Unknown, ...]:
        """Indexes out of reach, whether or not others' files stand in.

        One that nothing needed so far is asked now, for one project.
        """
        for source, _ in self._sources.extra:
            if self._first is not None and id(source) not in self._asked:
                self._load(source, self._first)
        return tuple(self._unreachable.values())

    @property
    def confused(self) -> tuple[Confused, ...]:
        """Projects for which an extra index outbids the default one, by name."""
        return tuple(self._confused[key] for key in sorted(self._confused))

    def unknown(self, names: Iterable[NormalizedName]) -> list[NormalizedName]:
        """Take what the cache has of these projects; return those for which some index has to be asked."""
        keys = {name: self._keys(name) for name in names}
        stored = self._cache.pages([key for asked in keys.values() for key in asked])
        with self._lock:
            self._stored.update(stored)
        return [
            name for name, asked in keys.items() if not all(self._at_hand(s, stored.get(k)) for k, s in asked.items())
        ]

    def page(self, name: NormalizedName) -> ProjectPage:
        """Return the project's page. Raises ProjectNotFound or IndexUnavailable."""
        self._first = self._first or name
        bound = self._sources.bound.get(name)
        return self._of_all(name) if bound is None else self._from_bound(name, *bound)

    def _keys(self, name: NormalizedName) -> dict[str, PageSource]:
        bound = self._sources.bound.get(name)
        if bound is not None:
            return {bound[0].key(name): bound[0]} if isinstance(bound[0], PageSource) else {}
        asked = (self._sources.default, *(source for source, _ in self._sources.extra))
        return {source.key(name): source for source in asked if isinstance(source, PageSource)}

    @staticmethod
    def _at_hand(source: PageSource, cached: CachedPage | None) -> bool:
        return cached is not None and source.fresh(cached)

    def _read(self, source: Source, name: NormalizedName) -> ProjectPage:
        self._asked.add(id(source))
        if isinstance(source, FlatSource):
            return source.load(name)
        with self._lock:
            stored = self._stored.pop(source.key(name), None)
        return source.load(name, stored)

    def _load(self, source: Source, name: NormalizedName) -> _Answer:
        """Return the index's answer."""
        try:
            return self._read(source, name)
        except ProjectNotFound:
            return None
        except IndexUnavailable as error:
            self._missed(error)
            return error

    def _from_default(self, name: NormalizedName) -> ProjectPage:
        default, fallback = self._sources.default, self._sources.fallback
        if default is None:
            raise ProjectNotFound(name, "default (the project says `--no-index`)")
        try:
            return self._read(default, name)
        except IndexUnavailable as error:
            if fallback is None:
                raise
            return self._replaced(default, label_of(default.url), error, partial(self._read, fallback, name))

    def _from_bound(self, name: NormalizedName, source: Source, label: str | None) -> ProjectPage:
        try:
            return self._read(source, name)
        except IndexUnavailable as error:
            if name in self._sources.private:
                raise
            return self._replaced(source, label, error, partial(self._from_default, name), everything=True)

    def _replaced(
        self, source: Source, label: str | None, error: IndexUnavailable, other: Callable[[], ProjectPage],
        *, everything: bool = False,
    ) -> ProjectPage:  # fmt: skip
        """Return another index's page in the place of one that is out of reach."""
        try:
            page = other()
        except (ProjectNotFound, IndexUnavailable):
            raise error from None
        self._missed(error)
        made = standing_in(page, source.name, label if everything or carries(label, page.name) else None)
        return replace(made, unread=error.unknown)

    def _of_all(self, name: NormalizedName) -> ProjectPage:
        """Return the files of the default index and of all extra ones, as pip merges them."""
        jobs = [self._begun(source, name) for source, _ in self._sources.extra]
        first: ProjectPage | None = None
        failure: IndexUnavailable | None = None
        try:
            first = self._from_default(name)
        except ProjectNotFound:
            pass
        except IndexUnavailable as error:
            failure = error
        answers = [job.result() for job in jobs]
        more = [answer for answer in answers if isinstance(answer, ProjectPage)]
        if first is not None:
            self._compare(first, more)
            page = merged([first, *more, *self._stand_ins(first, more, answers)])
            return _without(page, answers)
        if failure is not None:
            # The index that nearly everything comes from might have what the others lack.
            raise failure
        if not more:
            answers += [self._load(source, name) for source in self._sources.otherwise]
            more = [answer for answer in answers if isinstance(answer, ProjectPage)][:1]
        if more:
            return _without(merged(more), answers)
        failure = next((answer for answer in answers if isinstance(answer, IndexUnavailable)), None)
        if failure is not None:
            raise failure
        raise ProjectNotFound(name, self._sources.default.name if self._sources.default else "find-links")

    def _begun(self, source: Source, name: NormalizedName) -> Job[_Answer]:
        """Return the work of asking an index, begun where that takes a request."""
        job: Job[_Answer] = Job(partial(self._load, source, name))
        if isinstance(source, PageSource):
            with self._lock:
                stored = self._stored.get(source.key(name))
            if not self._at_hand(source, stored):
                self._submit(job)
        return job

    def _stand_ins(self, page: ProjectPage, more: list[ProjectPage], answers: list[_Answer]) -> list[ProjectPage]:
        """Return labelled builds in the place of those that indexes out of reach are known, or said, to have."""
        made: list[ProjectPage] = []
        for (source, wanted), answer in zip(self._sources.extra, answers, strict=True):
            if not isinstance(answer, IndexUnavailable):
                continue
            own = label_of(source.url)
            labels = {label for project, label in wanted if project == page.name and own in (None, label)}
            if own is not None and carries(own, page.name):
                labels.add(own)
            made += [
                standing_in(page, source.name, label, builds_alone=True)
                for label in sorted(labels)
                if not has_real([page, *more], label)
            ]
        return made

    def _compare(self, page: ProjectPage, more: list[ProjectPage]) -> None:
        default = best_version(page)
        for other in more:
            best = best_version(other)
            if default is None or best is None or Version(best.public) <= Version(default.public):
                continue
            told = Confused(page.name, other.index, best, default)
            with self._lock:
                self._confused[page.name, other.index] = told

    def _missed(self, error: IndexUnavailable) -> None:
        with self._lock:
            self._unreachable.setdefault(error.unknown.index, error.unknown)


def _without(page: ProjectPage, answers: Iterable[_Answer]) -> ProjectPage:
    """Return a page that says which index beside those that it is of could not be read."""
    failure = next((answer for answer in answers if isinstance(answer, IndexUnavailable)), None)
    return page if failure is None else replace(page, unread=page.unread or failure.unknown)
