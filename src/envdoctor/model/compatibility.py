"""Which Pythons a ``requires-python`` admits, and whether a target can use a file: asked here and nowhere else."""

from __future__ import annotations

from functools import lru_cache

from packaging.specifiers import InvalidSpecifier, Specifier, SpecifierSet

from envdoctor.model.candidate import DistributionFile, RejectionKind
from envdoctor.model.dataclass import dataclass
from envdoctor.model.file_table import tags_of
from envdoctor.model.requirement import endless_number
from envdoctor.model.target import Target

__all__ = ["Compatibility", "admits", "admits_python", "admitted_minors", "can_use", "compatibility"]

_MINORS = tuple((3, minor) for minor in range(8, 15))
_PATCHES = (*range(41), 99)
"""No CPython 3 has had a patch release above 3.x.30; 99 stands for all that may come."""
_SDIST_RANK = 1_000_000
_UPPER_BOUNDS = ("<", "<=")


def admits(requires_python: SpecifierSet, python: tuple[int, int]) -> bool:
    """Return whether any patch release of a minor version is admitted."""
    major, minor = python
    return any(requires_python.contains(f"{major}.{minor}.{patch}", prereleases=True) for patch in _PATCHES)


def admitted_minors(requires_python: SpecifierSet) -> tuple[tuple[int, int], ...]:
    """Return the minor versions that envdoctor knows and that are admitted, oldest first."""
    return tuple(python for python in _MINORS if admits(requires_python, python))


@dataclass(frozen=True, slots=True)
class Compatibility:
    """How well a target likes the files of one kind."""

    rank: int | None
    """0 is the best, every wheel comes before every sdist; None: not even an exact pin makes it usable."""
    rejection: RejectionKind | None = None
    """Why not, or why only an exact pin takes it."""


@lru_cache(maxsize=16384)
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
    built = _SDIST_RANK if builds else None
    rank = built if tags is None else _rank(tags, target)
    if rank is None:
        return Compatibility(None, RejectionKind.SOURCE_ONLY if tags is None else RejectionKind.TAG)
    if admits_python(requires_python, target):
        return Compatibility(rank)
    pure = tags is not None and tags.endswith("-none-any")
    if not (pins_outrank_python_caps and pure and _lower_bounds_admit(requires_python, target)):
        rank = None
    return Compatibility(rank, RejectionKind.REQUIRES_PYTHON)


def can_use(file: DistributionFile, target: Target) -> bool:
    """Return whether a target can use a file without anybody asking for just this one; yanked files are left out."""
    return file.yanked is None and compatibility(tags_of(file.filename), file.requires_python, target).rejection is None


@lru_cache(maxsize=4096)
def admits_python(requires_python: str | None, target: Target) -> bool:
    """Return whether a file's Requires-Python admits the target; what cannot be read admits it, as pip does.

    Where the target's patch release is unknown, its first one is assumed, as for markers.
    """
    return all(item.contains(target.python_full_version, prereleases=True) for item in _specifiers(requires_python))


def _lower_bounds_admit(requires_python: str | None, target: Target) -> bool:
    lower = [item for item in _specifiers(requires_python) if item.operator not in _UPPER_BOUNDS]
    return all(item.contains(target.python_full_version, prereleases=True) for item in lower)


def _specifiers(text: str | None) -> tuple[Specifier, ...]:
    if endless_number(text or ""):
        return ()
    try:
        return tuple(SpecifierSet(text or ""))
    except InvalidSpecifier:
        return ()


@lru_cache(maxsize=8192)
def _rank(tags: str, target: Target) -> int | None:
    """Return the best rank of a wheel's tags (``py2.py3-none-any``), None where the target takes none of them."""
    from packaging.tags import Tag

    parts = tags.split("-")
    if len(parts) != 3:
        return None
    priorities = target.tag_priorities()
    ranks = (
        priorities.get(Tag(python, abi, platform))
        for python in parts[0].split(".")
        for abi in parts[1].split(".")
        for platform in parts[2].split(".")
    )
    return min((rank for rank in ranks if rank is not None), default=None)
