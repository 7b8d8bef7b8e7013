"""Which Pythons a ``requires-python`` admits, and whether a target can use a file: asked here and nowhere else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from packaging.specifiers import InvalidSpecifier, Specifier, SpecifierSet

from envdoctor.model.candidate import DistributionFile, RejectionKind
from envdoctor.model.dataclass import dataclass
from envdoctor.model.environment import EnvironmentProblem, EnvironmentProblemKind
from envdoctor.model.file_table import tags_of
from envdoctor.model.requirement import endless_number, may_hold
from envdoctor.model.target import OperatingSystem, Target, dotted

if TYPE_CHECKING:
    from packaging.markers import Marker

__all__ = [
    "KNOWN_PYTHONS",
    "KNOWN_SPAN",
    "Compatibilities",
    "Compatibility",
    "admits",
    "admits_python",
    "admitted_beyond",
    "admitted_minors",
    "can_use",
    "compatibility",
    "may_hold_on",
    "nearest_beyond",
    "nearest_known",
    "newer_level",
    "not_judged",
    "read_python",
]

KNOWN_PYTHONS = tuple((3, minor) for minor in range(8, 16))
"""The versions that a target may have, oldest first."""
KNOWN_SPAN = f"{dotted(KNOWN_PYTHONS[0])} to {dotted(KNOWN_PYTHONS[-1])}"
_PATCHES = (*range(41), 99)
"""No CPython 3 has had a patch release above 3.x.30; 99 stands for all that may come."""
_SDIST_RANK = 1_000_000
_UPPER_BOUNDS = ("<", "<=")


def read_python(text: str | None) -> tuple[int, int] | None:
    """Read ``3.11``. Raises ValueError for what is no known Python."""
    if text is None:
        return None
    oldest, newest = KNOWN_PYTHONS[0], KNOWN_PYTHONS[-1]
    parts = text.strip().split(".")
    if len(parts) in (2, 3) and all(part.isascii() and part.isdecimal() and len(part) < 6 for part in parts):
        python = (int(parts[0]), int(parts[1]))
        if oldest <= python <= newest:
            return python
    raise ValueError(f"`{text[:40]}` is not a CPython from {KNOWN_SPAN}; write it as 3.11")


@lru_cache(maxsize=4096)
def admits(requires_python: SpecifierSet, python: tuple[int, int]) -> bool:
    """Return whether any patch release of a minor version is admitted."""
    major, minor = python
    return any(requires_python.contains(f"{major}.{minor}.{patch}", prereleases=True) for patch in _PATCHES)


_TEXT = r"""(?:"[^"]*"|'[^']*')"""
_OPERATOR = r" (?:not in|in|[<>=!~]+) "
_RELEASE = r"\bplatform_(?:release|version)\b"
_OF_RELEASE = re.compile(f"{_RELEASE}{_OPERATOR}{_TEXT}|{_TEXT}{_OPERATOR}{_RELEASE}")
_HOLDS = 'os_name != ""'


def may_hold_on(marker: Marker, target: Target) -> bool:
    """Return whether a marker may hold on a target, whose system's release is not known, nor always its patch release.

    What compares a system's release counts as if it held: markers know no negation around it.
    """
    from packaging.markers import InvalidMarker, Marker

    try:
        asked = Marker(_OF_RELEASE.sub(_HOLDS, str(marker)))
    except InvalidMarker:  # A line break in one of its texts: written out it is no marker any more.
        return True
    patches = (target.python_full,) if target.python_full else [f"{target.python_version}.{one}" for one in _PATCHES]
    return any(may_hold(asked, replace(target, python_full=one).marker_environment()) for one in patches)


def admitted_minors(requires_python: SpecifierSet) -> tuple[tuple[int, int], ...]:
    """Return the minor versions that envdoctor knows and that are admitted, oldest first."""
    return tuple(python for python in KNOWN_PYTHONS if admits(requires_python, python))


def nearest_known(python: tuple[int, int]) -> tuple[int, int]:
    """Return a Python that is judged for: this one, else the oldest or the newest that is known."""
    return min(max(python, KNOWN_PYTHONS[0]), KNOWN_PYTHONS[-1])


def not_judged(subject: str, python: tuple[int, int] | None) -> tuple[EnvironmentProblem, ...]:
    """Return that an environment's Python is not known, and as which it is judged; nothing where it is known."""
    if python is None or (known := nearest_known(python)) == python:
        return ()
    kind, how = EnvironmentProblemKind.INTERPRETER_NEW, "newer"
    if python < known:
        kind, how = EnvironmentProblemKind.INTERPRETER_OLD, "older"
    detail = f"Python {dotted(python)} is {how} than {dotted(known)}, as which it is judged"
    return (EnvironmentProblem(kind, subject, detail),)


def nearest_beyond(requires_python: SpecifierSet) -> tuple[int, int] | None:
    """Return the known Python next to those that are admitted where nothing is judged for any of them; else None."""
    return next(map(nearest_known, admitted_beyond(requires_python)), None)


def admitted_beyond(requires_python: SpecifierSet) -> Iterator[tuple[int, int]]:
    """Yield the Pythons that are admitted where nothing is judged for any of them, oldest first."""
    if not admitted_minors(requires_python):
        others = ((2, 7), *((3, minor) for minor in range(40)))
        yield from (python for python in others if admits(requires_python, python))


@dataclass(frozen=True, slots=True)
class Compatibility:
    """How well a target likes the files of one kind."""

    rank: int | None
    """0 is the best, every wheel comes before every sdist; None: not even an exact pin makes it usable."""
    rejection: RejectionKind | None = None
    """Why not, or why only an exact pin takes it."""


_NO_BUILD = Compatibility(None, RejectionKind.SOURCE_ONLY)
_NO_TAG = Compatibility(None, RejectionKind.TAG)


class Compatibilities:
    """What one target says of many files; it is hashed once for all of them, which takes longer than an answer."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._priorities = {str(tag): rank for tag, rank in target.tag_priorities().items()}
        self._ranks: dict[str, int | None] = {}
        self._admitted: dict[str | None, bool] = {}

    def of(
        self, tags: str | None, requires_python: str | None, *, builds: bool, pins_outrank_python_caps: bool
    ) -> Compatibility:
        """Return what ``compatibility`` says."""
        built = _SDIST_RANK if builds else None
        rank = built if tags is None else self._rank(tags)
        if rank is None:
            return _NO_BUILD if tags is None else _NO_TAG
        if self.admits_python(requires_python):
            return Compatibility(rank)
        pure = tags is not None and tags.endswith("-none-any")
        if not (pins_outrank_python_caps and pure and self._lower_bounds_admit(requires_python)):
            rank = None
        return Compatibility(rank, RejectionKind.REQUIRES_PYTHON)

    def admits_python(self, requires_python: str | None) -> bool:
        """Return what ``admits_python`` says."""
        admitted = self._admitted.get(requires_python)
        if admitted is None:
            admitted = self._admitted[requires_python] = self._is_in(_specifiers(requires_python))
        return admitted

    def _lower_bounds_admit(self, requires_python: str | None) -> bool:
        return self._is_in(item for item in _specifiers(requires_python) if item.operator not in _UPPER_BOUNDS)

    def _is_in(self, specifiers: Iterable[Specifier]) -> bool:
        """Return whether the target's Python is admitted, any patch release of it where nobody tells which it has."""
        wanted, minor = list(specifiers), f"{self._target.python_version}."
        named = any(item.version.startswith(minor) for item in wanted)
        possible = [f"{minor}{patch}" for patch in (_PATCHES if named else (_PATCHES[0], _PATCHES[-1]))]
        pythons = [self._target.python_full] if self._target.python_full else possible
        return any(all(item.contains(python, prereleases=True) for item in wanted) for python in pythons)

    def _rank(self, tags: str) -> int | None:
        """Return the best rank of a wheel's tags (``py2.py3-none-any``), None where the target takes none of them."""
        if tags not in self._ranks:
            self._ranks[tags] = self._best(tags.lower())
        return self._ranks[tags]

    def _best(self, tags: str) -> int | None:
        parts = tags.split("-")
        if len(parts) != 3:
            return None
        if "." not in tags:
            return self._priorities.get(tags)
        ranks = (
            self._priorities.get(f"{python}-{abi}-{platform}")
            for python in parts[0].split(".")
            for abi in parts[1].split(".")
            for platform in parts[2].split(".")
        )
        return min((rank for rank in ranks if rank is not None), default=None)


_compatibilities = lru_cache(maxsize=64)(Compatibilities)


def compatibility(
    tags: str | None,
    requires_python: str | None,
    target: Target,
    *,
    builds: bool = True,
    pins_outrank_python_caps: bool = True,
) -> Compatibility:
    """Return whether a target can use the files of these tags (None: an sdist) and this Requires-Python.

    ``builds``: an sdist may be built. ``pins_outrank_python_caps``: a pure wheel that only an upper bound of
    Requires-Python shuts out is still there for an exact pin.
    """
    found = _compatibilities(target)
    return found.of(tags, requires_python, builds=builds, pins_outrank_python_caps=pins_outrank_python_caps)


def can_use(file: DistributionFile, target: Target) -> bool:
    """Return whether a target can use a file without anybody asking for just this one; yanked files are left out."""
    return file.yanked is None and compatibility(tags_of(file.filename), file.requires_python, target).rejection is None


_LEVELS = {
    OperatingSystem.LINUX: re.compile(r"manylinux_(\d+)_(\d+)_"),
    OperatingSystem.MACOS: re.compile(r"macosx_(\d+)_(\d+)_"),
}


def newer_level(tags: str, target: Target) -> tuple[int, int] | None:
    """Return which glibc (PEP 600) or macOS a wheel of these tags needs, where the target's alone shuts it out."""
    pattern, now = _LEVELS.get(target.os), target.level
    named = {(int(found[1]), int(found[2])) for found in pattern.finditer(tags)} if pattern is not None else set()
    newer = sorted(level for level in named if now is not None and level > now)
    # One wheel may name several, for two processors, say.
    usable = (level for level in newer if _takes(target.at_level(level), tags))
    return None if not newer or _takes(target, tags) else next(usable, None)


def _takes(target: Target, tags: str) -> bool:
    return compatibility(tags, None, target).rank is not None


def admits_python(requires_python: str | None, target: Target) -> bool:
    """Return whether a file's Requires-Python admits the target; what cannot be read admits it, as pip does.

    Where the target's patch release is unknown, its first one is assumed, as for markers.
    """
    return _compatibilities(target).admits_python(requires_python)


def _specifiers(text: str | None) -> tuple[Specifier, ...]:
    if endless_number(text or ""):
        return ()
    try:
        return tuple(SpecifierSet(text or ""))
    except InvalidSpecifier:
        return ()
