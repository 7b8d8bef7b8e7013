"""Versions of a project that a target could use, from one page of an index."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from packaging.specifiers import InvalidSpecifier, Specifier, SpecifierSet
from packaging.tags import Tag
from packaging.utils import NormalizedName
from packaging.version import Version

from envdoctor.model.candidate import (
    Candidate,
    DistributionFile,
    FileKind,
    ProjectPage,
    Rejection,
    RejectionKind,
)
from envdoctor.model.target import Target
from envdoctor.resolve.problem import Policy

__all__ = ["CandidateList", "Selector", "accepts_python"]

_SDIST_RANK = 1_000_000
_UPPER_BOUNDS = ("<", "<=")


@dataclass(frozen=True, slots=True)
class CandidateList:
    """Versions of one project that have a usable file, oldest first; a position is an index into them."""

    name: NormalizedName
    versions: tuple[Version, ...]
    files: tuple[tuple[tuple[int, DistributionFile], ...], ...]
    """Per position: ``(rank, file)``, best first."""
    page: ProjectPage | None
    yanked: int = 0
    """Bits of positions of which every usable file is yanked."""
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
            files=tuple(file for _, file in self.files[position]),
            yanked=bool(self.yanked >> position & 1),
        )


class Selector:
    """Sorts a page's files into candidates for one target; answers are memoised, for pages repeat the same tags."""

    def __init__(self, target: Target, policy: Policy) -> None:
        self._target = target
        self._policy = policy
        self._ranks: dict[str, int | None] = {}
        self._pythons: dict[str, bool] = {}
        self._priorities = target.tag_priorities()
        self._full = Version(target.python_full_version)

    def select(self, page: ProjectPage) -> CandidateList:
        """Return the candidates of a page."""
        groups: dict[Version, list[tuple[int, DistributionFile]]] = {}
        capped: set[Version] = set()
        ranks, pythons = self._ranks, self._pythons
        for file in page.files:
            # Pages list tens of thousands of files whose tags and bounds repeat: two look-ups settle most of them.
            rank = ranks.get(_tag_text(file.filename), -1) if file.kind is FileKind.WHEEL else -1
            if rank == -1:
                rank = self._usable_rank(page.name, file)
            if rank is None:
                continue
            if not pythons.get(file.requires_python or "") and not self._python_accepts(file.requires_python):
                if not self._only_capped(file):
                    continue
                capped.add(file.version)
            groups.setdefault(file.version, []).append((rank, file))
        versions = tuple(sorted(groups))
        yanked = capped_bits = 0
        files: list[tuple[tuple[int, DistributionFile], ...]] = []
        for position, version in enumerate(versions):
            group = groups[version]
            if version in capped:
                group = self._without_capped(group) or group
                capped_bits |= self._is_capped(group) << position
            kept = [entry for entry in group if entry[1].yanked is None]
            yanked |= (not kept) << position
            files.append(tuple(sorted(kept or group, key=lambda entry: (entry[0], entry[1].filename))))
        return CandidateList(page.name, versions, tuple(files), page, yanked, capped_bits)

    def rejections(self, page: ProjectPage, versions: Iterable[Version]) -> tuple[Rejection, ...]:
        """Return why files of these versions cannot be used, in the order of the page."""
        wanted = set(versions)
        found: list[Rejection] = []
        for file in page.files:
            if file.version in wanted:
                rejection = self._reject(page.name, file)
                if rejection is not None:
                    found.append(rejection)
        return tuple(found)

    def _reject(self, name: NormalizedName, file: DistributionFile) -> Rejection | None:
        if self._usable_rank(name, file) is None:
            if file.kind is FileKind.SDIST:
                return Rejection(RejectionKind.SOURCE_ONLY, name, file.version, file.filename, "builds are not allowed")
            return Rejection(RejectionKind.TAG, name, file.version, file.filename, _tag_text(file.filename))
        if not self._python_accepts(file.requires_python):
            detail = f"needs Python {file.requires_python}"
            return Rejection(RejectionKind.REQUIRES_PYTHON, name, file.version, file.filename, detail)
        if file.yanked is not None:
            return Rejection(RejectionKind.YANKED, name, file.version, file.filename, file.yanked)
        return None

    def _usable_rank(self, name: NormalizedName, file: DistributionFile) -> int | None:
        if file.kind is FileKind.SDIST:
            banned = self._policy.no_build
            return None if banned and (":all:" in banned or name in banned) else _SDIST_RANK
        tags = _tag_text(file.filename)
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

    def _only_capped(self, file: DistributionFile) -> bool:
        """Return whether the file is a pure wheel that only an upper bound of Requires-Python shuts out."""
        if not self._policy.trust_pins_over_python_caps or not file.filename.endswith("-none-any.whl"):
            return False
        lower = [s for s in _specifiers(file.requires_python or "") if s.operator not in _UPPER_BOUNDS]
        return all(s.contains(self._full, prereleases=True) for s in lower)

    def _without_capped(self, group: Sequence[tuple[int, DistributionFile]]) -> list[tuple[int, DistributionFile]]:
        return [entry for entry in group if self._python_accepts(entry[1].requires_python)]

    def _is_capped(self, group: Sequence[tuple[int, DistributionFile]]) -> bool:
        return not self._without_capped(group)


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


def _tag_text(filename: str) -> str:
    """Return ``cp311-cp311-win_amd64`` of a wheel's file name, an empty text where it has no three tags."""
    third = filename.rfind("-", 0, filename.rfind("-", 0, filename.rfind("-")))
    return filename[third + 1 : -len(".whl")] if third > 0 else ""
