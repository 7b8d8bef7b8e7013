"""Versions of a project that a target could use, from one page of an index."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import overload
from urllib.parse import unquote

from packaging.specifiers import SpecifierSet
from packaging.utils import NormalizedName, parse_wheel_filename
from packaging.version import Version

from envdoctor.model.candidate import (
    DIRECT_REFERENCE,
    Candidate,
    DistributionFile,
    FileKind,
    ProjectPage,
    Rejection,
    RejectionKind,
)
from envdoctor.model.compatibility import Compatibilities, Compatibility, can_use, newer_level
from envdoctor.model.dataclass import dataclass
from envdoctor.model.file_table import Kind, table_of, tags_of
from envdoctor.model.target import Arch, Target, dotted
from envdoctor.resolve.edges import admitted_bits, positions_of
from envdoctor.resolve.manifest import Policy
from envdoctor.shipped import refused_builds

__all__ = ["CandidateList", "Selector", "pins", "stands_in_elsewhere", "wheel_at", "why_no_wheel"]


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
        position = bisect_left(self.versions, version)
        there = position < len(self.versions) and self.versions[position] == version
        return 1 << position if there else 0

    def eligible(self, written: Sequence[SpecifierSet], *, prereleases: bool) -> tuple[int, int]:
        """Return the positions open to a demand that names no pre-release, and to one that does.

        Yanked versions (PEP 592) and versions above a Python cap are open to every demand once a person pins
        them. Pre-releases are open where a person names one that is there, or where the project has nothing else.
        """
        guarded = self.yanked | self.capped
        every = self.all & ~guarded
        for position in positions_of(guarded) if written else ():
            if any(pins(specifier, self.versions[position]) for specifier in written):
                every |= 1 << position
        stable = every
        if not (prereleases or any(self._opens_prereleases(specifier) for specifier in written)):
            stable &= ~sum(1 << p for p, v in enumerate(self.versions) if v.is_prerelease)
        return stable or every, every

    def _opens_prereleases(self, specifier: SpecifierSet) -> bool:
        """Return whether a demand names a pre-release; one that has no version here at all asks for no other either."""
        return bool(specifier.prereleases) and any(specifier.contains(each, prereleases=True) for each in self.versions)

    def admitted(self, specifier: SpecifierSet, stable: int, every: int) -> int:
        """Return which of the eligible positions ``specifier`` admits, or the ghost bit where it admits none."""
        if self.opaque:
            return 1
        eligible = every if specifier.prereleases else stable
        if not len(specifier):
            return eligible or self.ghost
        return admitted_bits(self.versions, specifier) & eligible or self.ghost

    def candidate(self, position: int) -> Candidate:
        """Return the candidate at a position."""
        return Candidate(
            project=self.name,
            version=self.versions[position],
            files=self.files[position],
            yanked=bool(self.yanked >> position & 1),
        )

    def uploaded(self, position: int) -> datetime | None:
        """Return when a version came out, None where its index does not tell."""
        text = self.files[position][0].upload_time
        try:
            return datetime.fromisoformat(text.replace("Z", "+00:00")) if text else None
        except ValueError:
            return None


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


_NOT_ALLOWED = {
    RejectionKind.SOURCE_ONLY: "builds are not allowed",
    RejectionKind.NO_BINARY: "wheels are not allowed",
}


class Selector:
    """Sorts a page's files into candidates for one target; works on the page's columns and makes no file."""

    def __init__(self, target: Target, policy: Policy) -> None:
        self._target = target
        self._policy = policy
        self._judge = Compatibilities(target)
        self._known: dict[tuple[str | None, str | None, bool], Compatibility] = {}

    def select(self, page: ProjectPage) -> CandidateList:
        """Return the candidates of a page."""
        table = table_of(page.files)
        found = self._compatibilities(page.name, table.kinds)
        ranks = [kind.rank for kind in found]
        capped = {number for number, kind in enumerate(found) if kind.rejection is RejectionKind.REQUIRES_PYTHON}
        groups: dict[int, list[tuple[int, int]]] = {}
        refused = bool(refused_builds().get(page.name))
        # Of thousands of rows the target can use a few: the others are left out at the least cost.
        for row in [row for row, number in enumerate(table.kind_of) if ranks[number] is not None]:
            version, number = table.version_of[row], table.kind_of[row]
            if refused and table.kinds[number][0] is None and self._build_fails(page.name, table.versions[version]):
                continue
            groups.setdefault(version, []).append((ranks[number] or 0, row))
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
        kind = self._compatibility(name, tags, file.requires_python).rejection
        fails = self._build_fails(name, file.version) if kind is None and tags is None else ""
        if fails:
            return Rejection(RejectionKind.SOURCE_ONLY, name, file.version, file.filename, fails)
        if kind is None:
            if file.yanked is None:
                return None
            return Rejection(RejectionKind.YANKED, name, file.version, file.filename, file.yanked)
        if kind in _NOT_ALLOWED:
            detail = _NOT_ALLOWED[kind]
        elif kind is RejectionKind.TAG:
            detail = self._newer_level(tags or "") or tags or ""
        else:
            detail = f"needs Python {file.requires_python}"
        return Rejection(kind, name, file.version, file.filename, detail)

    def _newer_level(self, tags: str) -> str:
        """Say which glibc or macOS a wheel needs; empty where something else shuts it out."""
        needed, now = newer_level(tags, self._target), self._target.level
        if needed is None or now is None:
            return ""
        return f"needs {self._target.level_name} {dotted(needed)}, the target is taken to have {dotted(now)}"

    def _build_fails(self, name: NormalizedName, version: Version) -> str:
        """Return why no build of a version can succeed on the target's Python, an empty text where one may."""
        python = self._target.python_version
        for versions, pythons, why in refused_builds().get(name, ()):
            if pythons.contains(python) and versions.contains(version, prereleases=True):
                return why or f"its build refuses Python {python}"
        return ""

    def _compatibilities(self, name: NormalizedName, kinds: Iterable[Kind]) -> list[Compatibility]:
        """Return what is known of each kind of file of a project: of most kinds other projects have some, too."""
        builds, wheels = self._policy.no_build, self._policy.no_wheel
        if wheels:
            return [self._compatibility(name, tags, python) for tags, python in kinds]
        known, allowed = self._known, not builds or not _banned(name, builds, wheels)
        return [known.get((*kind, allowed)) or self._judged(*kind, allowed) for kind in kinds]

    def _compatibility(self, name: NormalizedName, tags: str | None, python: str | None) -> Compatibility:
        builds, wheels = self._policy.no_build, self._policy.no_wheel
        if tags is not None and wheels and _banned(name, wheels, builds):
            return Compatibility(None, RejectionKind.NO_BINARY)
        kind = tags, python, not builds or not _banned(name, builds, wheels)
        return self._known.get(kind) or self._judged(*kind)

    def _judged(self, tags: str | None, python: str | None, builds: bool) -> Compatibility:
        caps = self._policy.trust_pins_over_python_caps
        found = self._judge.of(tags, python, builds=builds, pins_outrank_python_caps=caps)
        self._known[tags, python, builds] = found
        return found


def _banned(name: NormalizedName, names: frozenset[str], others: frozenset[str]) -> bool:
    """Return whether files of one form are banned; a project's own name outdoes ``:all:``, as with pip."""
    return name in names or (":all:" in names and name not in others)


def wheel_at(name: NormalizedName, url: str) -> DistributionFile | None:
    """Return the wheel that a direct reference names; its name alone may say that the target cannot use it."""
    filename = _filename(url)
    try:
        version = parse_wheel_filename(filename)[1]
    except ValueError:
        return None
    return DistributionFile(name, version, filename, FileKind.WHEEL, url, index=DIRECT_REFERENCE)


def why_no_wheel(url: str) -> str:
    """Return what is wrong with the file's name where a direct reference calls it a wheel; else an empty text."""
    filename = _filename(url)
    if not filename.lower().endswith(".whl"):
        return ""
    try:
        parse_wheel_filename(filename)
    except ValueError:
        return f"`{filename}` is not named as a wheel must be (`name-version-python-abi-platform.whl`)"
    return ""


def stands_in_elsewhere(page: ProjectPage, version: Version, target: Target) -> bool:
    """Return whether a version stands in, without a label, for what an index may have for the target's processor.

    By its files it is there for another processor: PyTorch's index has triton 3.3.1 for aarch64, the default one not.
    """
    files = page.of_version(version) if version.local is None else ()
    others = [replace(target, arch=arch) for arch in Arch if arch is not target.arch]
    return any(file.stand_in and can_use(file, other) for file in files for other in others)


def _filename(url: str) -> str:
    return unquote(url.partition("#")[0].partition("?")[0].replace("\\", "/").rpartition("/")[2])


def pins(specifier: SpecifierSet, version: Version) -> bool:
    """Return whether a specifier names exactly this version (``==1.2`` or ``===1.2``, not ``==1.*``)."""
    return any(
        s.operator in ("==", "===") and not s.version.endswith(".*") and s.contains(version, prereleases=True)
        for s in specifier
    )
