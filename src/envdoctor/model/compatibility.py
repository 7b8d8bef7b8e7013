"""Which Pythons a ``requires-python`` admits."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from packaging.specifiers import SpecifierSet

__all__ = ["admits", "admitted_minors"]

_MINORS = tuple((3, minor) for minor in range(8, 15))
_PATCHES = (*range(41), 99)
"""No CPython 3 has had a patch release above 3.x.30; 99 stands for all that may come."""


def admits(requires_python: SpecifierSet, python: tuple[int, int]) -> bool:
    """Return whether any patch release of a minor version is admitted."""
    major, minor = python
    return any(requires_python.contains(f"{major}.{minor}.{patch}", prereleases=True) for patch in _PATCHES)


def admitted_minors(requires_python: SpecifierSet) -> tuple[tuple[int, int], ...]:
    """Return the minor versions that envdoctor knows and that are admitted, oldest first."""
    return tuple(python for python in _MINORS if admits(requires_python, python))
