"""Versions of a project that a target could use, from one page of an index."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import overload

from packaging.specifiers import InvalidSpecifier, Specifier, SpecifierSet
from packaging.tags import Tag, parse_tag
from packaging.utils import NormalizedName
from packaging.version import Version

from envdoctor.model.candidate import (
    Candidate,
    DistributionFile,
    ProjectPage,
    Rejection,
    RejectionKind,
)
from envdoctor.model.file_table import table_of, tags_of
from envdoctor.model.target import OperatingSystem, Target
from envdoctor.resolve.manifest import Policy

__all__ = ["CandidateList", "Selector", "accepts_python"]

_MANYLINUX = re.compile(r"manylinux_(\d+)_(\d+)_")
_SDIST_RANK = 1_000_000
_UPPER_BOUNDS = ("<", "<=")


@dataclass(frozen=True, slots=True)
class CandidateList:
    """Versions of one project that have a usable file, oldest first; a position is an index into them."""

    name: NormalizedName
    versions: tuple[Version, ...]
    files: Sequence[tuple[DistributionFile, ...]]
    """Per position, best first."""
    page: ProjectPage | None
    yanked: int = 0
    """Bits of positions of which every usable file is yanked, or stands in for one of which nobody knows."""
    capped: int = 0
    """Bits of positions that only an exact pin admits: Requires-Python ends below the target."""
    opaque: bool = False
    """True where nothing is known of the project's versions (a direct reference): any demand on it is met."""

    @property
    def all(self) -> int:
        """Bits of every position."""
        return 1 if self.opaque else (1 << len(self.versions)) - 1

    @property
    def ghost(self) -> int:
        """A bit that no version has: what a demand that nothing can meet asks for."""
        return 1 << (1 if self.opaque else len(self.versions))

    def bits(self, version: Version) -> int:
        """Return the bit of ``version``, 0 where the target cannot use it."""
        for position, candidate in enumerate(self.versions):
            if candidate == version:
                return 1 << position
        return 0

    def candidate(self, position: int) -> Candidate:
        """Return the candidate at a position."""
        return Candidate(
            project=self.name,
            version=self.versions[position],
            files=self.files[position],
            yanked=bool(self.yanked >> position & 1),
        )


class _FilesOf(Sequence[tuple[DistributionFile, ...]]):
    """The usable files per position, made when a version is looked at."""

    __slots__ = ("_files", "_made", "_rows")

    def __init__(self, files: Sequence[DistributionFile], rows: Sequence[Sequence[tuple[int, int]]]) -> None:
        self._files = files
        self._rows = rows
        self._made: dict[int, tuple[DistributionFile, ...]] = {}

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, position: int) -> tuple[DistributionFile, ...]: ...

    @overload
    def __getitem__(self, position: slice) -> Sequence[tuple[DistributionFile, ...]]: ...

    def __getitem__(
        self, position: int | slice
    ) -> tuple[DistributionFile, ...] | Sequence[tuple[DistributionFile, ...]]:
        if isinstance(position, slice):
            return [self[number] for number in range(*position.indices(len(self)))]
        made = self._made.get(position)
        if made is None:
            ranked = [(rank, self._files[row]) for rank, row in self._rows[position]]
            ranked.sort(key=lambda entry: (entry[0], entry[1].filename))
            made = self._made[position] = tuple(file for _, file in ranked)
        return made


class Selector:
    """Sorts a page's files into candidates for one target; works on the page's columns and makes no file."""

    def __init__(self, target: Target, policy: Policy) -> None:
        self._target = target
        self._policy = policy
        self._ranks: dict[str, int | None] = {}
        self._pythons: dict[str, bool] = {}
        self._priorities = target.tag_priorities()
        self._full = Version(target.python_full_version)

    def select(self, page: ProjectPage) -> CandidateList:
        """Return the candidates of a page."""
        table = table_of(page.files)
        ranks: list[int | None] = []
        capped: set[int] = set()
        for number, (tags, python) in enumerate(table.kinds):
            rank = self._usable_rank(page.name, tags)
            if rank is not None and not self._python_accepts(python):
                rank = rank if self._only_capped(tags, python) else None
                capped.add(number)
            ranks.append(rank)
        groups: dict[int, list[tuple[int, int]]] = {}
        for row, kind in enumerate(table.kind_of):
            rank = ranks[kind]
            if rank is not None:
                groups.setdefault(table.version_of[row], []).append((rank, row))
        numbers = sorted(groups)
        yanked = capped_bits = 0
        rows: list[list[tuple[int, int]]] = []
        for position, number in enumerate(numbers):
            group = groups[number]
            if capped:
                uncapped = [entry for entry in group if table.kind_of[entry[1]] not in capped]
                capped_bits |= (not uncapped) << position
                group = uncapped or group
            kept = [entry for entry in group if entry[1] not in table.only_pinned] if table.only_pinned else group
            yanked |= (not kept) << position
            rows.append(kept or group)
        versions = tuple(table.versions[number] for number in numbers)
        return CandidateList(page.name, versions, _FilesOf(page.files, rows), page, yanked, capped_bits)

    def rejections(self, page: ProjectPage, versions: Iterable[Version]) -> tuple[Rejection, ...]:
        """Return why files of these versions cannot be used, in the order of the page."""
        table = table_of(page.files)
        rows = sorted(row for version in set(versions) for row in table.rows_of(version))
        found = (self._reject(page.name, page.files[row]) for row in rows)
        return tuple(rejection for rejection in found if rejection is not None)

    def _reject(self, name: NormalizedName, file: DistributionFile) -> Rejection | None:
        tags = tags_of(file.filename)
        if self._usable_rank(name, tags) is None:
            if tags is None:
                return Rejection(RejectionKind.SOURCE_ONLY, name, file.version, file.filename, "builds are not allowed")
            detail = _newer_glibc(tags, self._target) or tags
            return Rejection(RejectionKind.TAG, name, file.version, file.filename, detail)
        if not self._python_accepts(file.requires_python):
            detail = f"needs Python {file.requires_python}"
            return Rejection(RejectionKind.REQUIRES_PYTHON, name, file.version, file.filename, detail)
        if file.yanked is not None:
            return Rejection(RejectionKind.YANKED, name, file.version, file.filename, file.yanked)
        return None

    def _usable_rank(self, name: NormalizedName, tags: str | None) -> int | None:
        """Return how well the target likes files of these tags (None: an sdist), None where it cannot use them."""
        if tags is None:
            banned = self._policy.no_build
            return None if banned and (":all:" in banned or name in banned) else _SDIST_RANK
        if tags not in self._ranks:
            self._ranks[tags] = self._rank(tags)
        return self._ranks[tags]

    def _rank(self, tags: str) -> int | None:
        parts = tags.split("-")
        if len(parts) != 3:
            return None
        best: int | None = None
        for python in parts[0].split("."):
            for abi in parts[1].split("."):
                for platform in parts[2].split("."):
                    rank = self._priorities.get(Tag(python, abi, platform))
                    if rank is not None and (best is None or rank < best):
                        best = rank
        return best

    def _python_accepts(self, text: str | None) -> bool:
        if not text:
            return True
        if text not in self._pythons:
            self._pythons[text] = accepts_python(text, self._target)
        return self._pythons[text]

    def _only_capped(self, tags: str | None, python: str | None) -> bool:
        """Return whether a file is a pure wheel that only an upper bound of Requires-Python shuts out."""
        if not self._policy.trust_pins_over_python_caps or tags is None or not tags.endswith("-none-any"):
            return False
        lower = [s for s in _specifiers(python or "") if s.operator not in _UPPER_BOUNDS]
        return all(s.contains(self._full, prereleases=True) for s in lower)


def _newer_glibc(tags: str, target: Target) -> str:
    """Return which glibc a wheel needs that nothing but the target's shuts out, else an empty text (PEP 600)."""
    found = [(int(level[1]), int(level[2])) for level in _MANYLINUX.finditer(tags)]
    needed = min(found, default=target.glibc)
    if target.os is not OperatingSystem.LINUX or needed <= target.glibc:
        return ""
    if parse_tag(tags).isdisjoint(replace(target, glibc=needed).tag_priorities()):
        return ""
    return "needs glibc {}.{}, the target is taken to have {}.{}".format(*needed, *target.glibc)


def accepts_python(text: str, target: Target) -> bool:
    """Return whether a Requires-Python admits the target; what cannot be read admits it, as pip does.

    Where the target's patch release is unknown, its first one is assumed, as for markers.
    """
    return all(s.contains(target.python_full_version, prereleases=True) for s in _specifiers(text))


def _specifiers(text: str) -> tuple[Specifier, ...]:
    try:
        return tuple(SpecifierSet(text))
    except InvalidSpecifier:
        return ()
