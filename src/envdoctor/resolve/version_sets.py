"""Which of a project's versions a demand admits, by where its bounds lie among them: projects have hundreds."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache

from packaging.specifiers import SpecifierSet
from packaging.version import Version

__all__ = ["admitted_bits"]

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
