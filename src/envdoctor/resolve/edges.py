"""Demands of one version on another, over sets of versions as bits: bit *n* is position *n* of a candidate list.

Python's integers are the algebra: ``~`` of a finite set is negative, which stands for a set that goes on for
ever, so the empty set, the full set and every complement are exact and cheap.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from packaging.requirements import Requirement as Pep508
from packaging.specifiers import SpecifierSet
from packaging.utils import NormalizedName
from packaging.version import Version

from envdoctor.model.dataclass import dataclass
from envdoctor.model.origin import DistributionOrigin
from envdoctor.model.requirement import Requirement

__all__ = ["Edge", "admitted_bits", "base_name", "highest", "nodes_of", "positions_of", "release_series"]


def highest(bits: int) -> int:
    """Return the highest position in a finite, non-empty set."""
    return bits.bit_length() - 1


def positions_of(bits: int) -> Iterator[int]:
    """Yield the positions of a finite set, highest (newest) first."""
    while bits:
        position = bits.bit_length() - 1
        yield position
        bits ^= 1 << position


def base_name(node: str) -> NormalizedName:
    """Return the project of a node: ``coqui-tts`` of ``coqui-tts[languages]``."""
    return NormalizedName(node.partition("[")[0])


def nodes_of(name: str, extras: Iterable[str]) -> tuple[str, ...]:
    """Return the nodes that a requirement asks for: the project itself, and one more per extra."""
    return (name, *(f"{name}[{extra}]" for extra in sorted(extras)))


@dataclass(frozen=True, slots=True)
class Edge:
    """A demand of one version of a project on another."""

    owner: NormalizedName
    dependency: str
    """A node: the project, or one of its extras."""
    bits: int
    """Positions of the dependency that meet the demand; its ghost bit where none does."""
    specifier: SpecifierSet
    extras: frozenset[str] = frozenset()
    coupling: bool = False
    hard: bool = False
    """A binary coupling, never set aside."""
    structural: bool = False
    """An extra's tie to its own project at the same version."""
    instead_of: str = ""
    """The excluded project that the metadata names."""
    stated: Pep508 | None = None
    """What its metadata asks for, where the project's own override stands in the place of that."""

    def requirement(self, version: Version) -> Requirement:
        """Return the demand as ``version`` of its owner makes it."""
        origin = DistributionOrigin(self.owner, str(version), coupling=self.coupling, instead_of=self.instead_of)
        return Requirement(base_name(self.dependency), origin, self.specifier, extras=self.extras)

    def own_words(self, version: Version) -> Requirement:
        """Return the demand as the metadata has it, whatever stands in its place."""
        found = self.requirement(version)
        return found if self.stated is None else replace(found, specifier=self.stated.specifier, url=self.stated.url)


_PLAIN = re.compile(r"\d+(\.\d+)*")
"""A release and nothing more: what else a bound may name has rules of its own, which ``packaging`` knows."""


def admitted_bits(versions: Sequence[Version], specifier: SpecifierSet) -> int:
    """Return the positions of sorted versions that a demand admits, pre-releases among them."""
    bits = (1 << len(versions)) - 1
    for clause in specifier:
        text = clause.version.removesuffix(".*")
        if clause.operator == "===" or not _PLAIN.fullmatch(text):
            hits = specifier.filter(range(len(versions)), prereleases=True, key=versions.__getitem__)
            return sum(1 << position for position in hits)
        start, stop = _bounds(versions, clause.operator, text, prefix=text != clause.version)
        inside = (1 << stop) - (1 << start) if start < stop else 0
        bits &= ~inside if clause.operator == "!=" else inside
    return bits


def _bounds(versions: Sequence[Version], operator: str, text: str, *, prefix: bool) -> tuple[int, int]:
    """Return where what a clause admits begins and ends; for ``!=`` what it does not admit."""
    if operator == ">=":
        return bisect_left(versions, _version(text)), len(versions)
    if operator == "<":
        # ``<2.0`` shuts out the pre-releases of 2.0 itself, too (PEP 440).
        return 0, bisect_left(versions, _version(f"{text}.dev0"))
    if operator == ">":
        return _after(versions, _version(text)), len(versions)
    if prefix:
        return bisect_left(versions, _version(f"{text}.dev0")), bisect_left(versions, _next(text))
    if operator == "~=":
        return bisect_left(versions, _version(text)), bisect_left(versions, _next(text.rpartition(".")[0]))
    # Builds of a version that a label tells apart are that version, and lie before its first post-release.
    behind = bisect_left(versions, _version(f"{text}.post0.dev0"))
    return 0 if operator == "<=" else bisect_left(versions, _version(text)), behind


def release_series(version: Version) -> tuple[int, ...]:
    """Return the numbers within which releases are said to stay compatible."""
    return (version.major,) if version.major else (0, version.minor)


def _after(versions: Sequence[Version], version: Version) -> int:
    """Return where the versions begin that are neither this one nor a build or post-release of it."""
    place = bisect_left(versions, version)
    while place < len(versions) and _version(versions[place].base_version) == version:
        place += 1
    return place


@lru_cache(maxsize=4_096)
def _version(text: str) -> Version:
    return Version(text)


@lru_cache(maxsize=4_096)
def _next(text: str) -> Version:
    """Return what is above every version that begins with these numbers."""
    start, dot, last = text.rpartition(".")
    return Version(f"{start}{dot}{int(last) + 1}.dev0")
