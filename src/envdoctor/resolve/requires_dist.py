"""What a version demands on one target: by the ``Requires-Dist`` lines of its metadata, and by its binaries.

Most lines wait for an extra and are never parsed: a marker without ``or`` is a conjunction, and one part of it that
does not hold settles it. Builds that belong together demand each other whether or not metadata says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, MutableMapping, Sequence
from functools import lru_cache

from packaging.requirements import InvalidRequirement
from packaging.requirements import Requirement as Pep508
from packaging.specifiers import SpecifierSet
from packaging.utils import NormalizedName, canonicalize_name
from packaging.version import Version

from envdoctor.model.candidate import CoreMetadata
from envdoctor.model.dataclass import dataclass
from envdoctor.model.profile import Coupling, CouplingRule
from envdoctor.model.requirement import holds
from envdoctor.model.target import Target
from envdoctor.model.unknown import Subject, SubjectKind, Unknown, UnknownKind
from envdoctor.model.version_table import VersionTable
from envdoctor.shipped import couplings

__all__ = ["Couplings", "MetadataLines", "may_count"]

_EXTRA = re.compile(r"""\bextra\s*==\s*['"]([^'"]*)['"]""")
_OR = re.compile(r"\bor\b")


def may_count(line: str, extras: Collection[str]) -> bool:
    """Return False where a line of ``Requires-Dist`` waits for an extra that is not among ``extras``."""
    waits_for = _waits_for(line)
    return not waits_for or all(name in extras for name in waits_for)


@lru_cache(maxsize=32_768)
def _waits_for(line: str) -> tuple[str, ...]:
    """Return the extras without which a line does not count, as far as its text tells; versions repeat their lines."""
    marker = line.partition(";")[2]
    if "extra" not in marker or _OR.search(marker):
        return ()
    return tuple(map(canonicalize_name, _EXTRA.findall(marker)))


class MetadataLines:
    """Reads ``Requires-Dist`` lines for one target; what cannot be read is put into ``unknowns``."""

    def __init__(self, target: Target, unknowns: MutableMapping[Unknown, None]) -> None:
        self.doubtful: set[str] = set()
        """Lines whose marker cannot be evaluated; they count."""
        self._environment = target.marker_environment()
        self._unknowns = unknowns
        self._parsed: dict[str, Pep508 | None] = {}
        self._markers: dict[tuple[str, str], bool] = {}
        self._wanted: dict[tuple[tuple[str, ...], str], Sequence[Pep508]] = {}

    def wanted(self, metadata: CoreMetadata, extra: str) -> Sequence[Pep508]:
        """Return the lines that count for a project's own node (``extra`` empty), or for that of an extra."""
        key = (metadata.requires_dist, extra)  # Most versions of a project have the same lines.
        if key not in self._wanted:
            extras = (extra,) if extra else ()
            parsed = [self._parse(text) for text in metadata.requires_dist if may_count(text, extras)]
            self._wanted[key] = [line for line in parsed if line is not None and self._asked(line, extra)]
        return self._wanted[key]

    def doubtful_in(self, metadata: CoreMetadata | None) -> tuple[str, ...]:
        """Return the lines of a version that count because their marker cannot be evaluated."""
        lines = [self._parse(text) for text in metadata.requires_dist] if metadata and self.doubtful else []
        return tuple(str(line) for line in lines if str(line) in self.doubtful)

    def direct_in(self, metadata: CoreMetadata | None, extras: Collection[str]) -> tuple[Pep508, ...]:
        """Return the lines of a version that count and ask for a file at a URL."""
        lines = [self._parse(text) for text in metadata.requires_dist if "@" in text] if metadata else []
        asked = [line for line in lines if line is not None and line.url]
        return tuple(line for line in asked if any(self._asked(line, extra) for extra in ("", *extras)))

    def _parse(self, text: str) -> Pep508 | None:
        if text not in self._parsed:
            try:
                self._parsed[text] = Pep508(text)
            except InvalidRequirement:
                subject = Subject(SubjectKind.PACKAGE)
                self._unknowns[Unknown(UnknownKind.NO_REQUIREMENT, subject, demand=text)] = None
                self._parsed[text] = None
        return self._parsed[text]

    def _asked(self, parsed: Pep508, extra: str) -> bool:
        """Return whether a line counts for this node: an extra's node has what its project's own node has not."""
        if parsed.marker is None:
            return not extra
        text = str(parsed.marker)
        return self._holds(parsed, text, extra) and not (extra and self._holds(parsed, text, ""))

    def _holds(self, parsed: Pep508, text: str, extra: str) -> bool:
        key = (text, extra)
        if key not in self._markers:
            assert parsed.marker is not None  # noqa: S101
            counts = holds(parsed.marker, {**self._environment, "extra": extra})
            if counts is None:
                self.doubtful.add(str(parsed))
            self._markers[key] = counts is not False
        return self._markers[key]


@dataclass(frozen=True, slots=True)
class _Pair:
    name: NormalizedName
    requires: NormalizedName
    demand: Callable[[Version], SpecifierSet | None]
    """Returns what a version was built for, None where nobody knows."""


class Couplings:
    """Which builds belong together: the shipped couplings and a profile's own."""

    def __init__(self, extra: Iterable[Coupling] = ()) -> None:
        shipped = [_of_table(table) for table in couplings()]
        self._take((*shipped, *_of_profile(extra, {(pair.name, pair.requires) for pair in shipped})))

    @classmethod
    def none(cls) -> Couplings:
        """Return no coupling at all: what metadata says is all that counts, as for an installer."""
        found = cls.__new__(cls)
        found._take(())
        return found

    def _take(self, pairs: Iterable[_Pair]) -> None:
        self._pairs: dict[NormalizedName, list[_Pair]] = {}
        for pair in pairs:
            self._pairs.setdefault(pair.name, []).append(pair)
        self._binary = frozenset((pair.name, pair.requires) for pairs in self._pairs.values() for pair in pairs)

    def is_binary(self, owner: str, dependency: str) -> bool:
        """Return whether a demand of ``owner`` on ``dependency`` follows from its binaries and must hold."""
        return (owner, dependency) in self._binary

    def demands(
        self, name: NormalizedName, version: Version, stated: frozenset[str]
    ) -> tuple[tuple[NormalizedName, SpecifierSet], ...]:
        """Return the couplings of a version on projects about which its metadata is silent (not ``stated``)."""
        found: dict[NormalizedName, SpecifierSet] = {}
        for pair in self._pairs.get(name, ()):
            demand = pair.demand(version) if pair.requires not in stated and pair.requires not in found else None
            if demand is not None:
                found[pair.requires] = demand
        return tuple(found.items())


def _of_table(table: VersionTable) -> _Pair:
    def demand(version: Version) -> SpecifierSet | None:
        wanted = table.wanted(version)
        return SpecifierSet(wanted) if wanted is not None else None

    return _Pair(canonicalize_name(table.subject), canonicalize_name(table.object), demand)


def _same_minor(version: Version) -> SpecifierSet:
    return SpecifierSet(f"=={version.major}.{version.minor}.*")


def _same_version(version: Version) -> SpecifierSet:
    return SpecifierSet(f"=={version.public}")


def _of_profile(extra: Iterable[Coupling], known: set[tuple[NormalizedName, NormalizedName]]) -> Iterable[_Pair]:
    for coupling in extra:
        first, *others = coupling.names
        same = _same_minor if coupling.rule is CouplingRule.SAME_MINOR else _same_version
        for other in others:
            # torchvision counts in its own series: where the shipped table knows the pair, it knows better.
            if coupling.rule is not CouplingRule.TABLE and (other, first) not in known:
                yield _Pair(other, first, same)
