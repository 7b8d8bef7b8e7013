"""Which interpreters a profile accepts."""

from __future__ import annotations

from packaging.specifiers import SpecifierSet

from envdoctor.model.profile import Profile

__all__ = ["KNOWN", "admitted", "python_choices"]

KNOWN: tuple[tuple[int, int], ...] = tuple((3, minor) for minor in range(14, 7, -1))
"""CPython versions that a target can have, newest first."""
_LATE_PATCH = 99


def admitted(specifier: SpecifierSet) -> list[tuple[int, int]]:
    """Return the CPython versions that a specifier lets in, newest first.

    A minor version counts when its first or a late patch release fits, so ``>=3.10.2`` admits 3.10.
    """
    return [
        (major, minor)
        for major, minor in KNOWN
        if specifier.contains(f"{major}.{minor}.0") or specifier.contains(f"{major}.{minor}.{_LATE_PATCH}")
    ]


def python_choices(profile: Profile) -> list[tuple[int, int]]:
    """Return the CPython versions that a profile accepts: the preferred one, then newest first."""
    choices = admitted(profile.target.python)
    preferred = profile.target.preferred_python
    if preferred in choices:
        choices.sort(key=lambda version: version != preferred)
    return choices
