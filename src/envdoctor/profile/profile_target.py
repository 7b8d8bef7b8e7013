"""Which interpreters a profile accepts, and the target that it is for."""

from __future__ import annotations

from dataclasses import replace

from packaging.specifiers import SpecifierSet

from envdoctor.model.profile import Profile
from envdoctor.model.target import Target

__all__ = ["KNOWN", "admitted", "python_choices", "target_for"]

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


def target_for(profile: Profile) -> Target:
    """Return the target of a profile, with the first of `python_choices`.

    A GPU architecture is taken from the profile only where it names a single one.
    """
    declared = profile.target
    architectures = declared.gpu_architectures
    target = Target(
        os=declared.os,
        arch=declared.arch,
        python=python_choices(profile)[0],
        backend=declared.backend,
        gpu_architecture=architectures[0] if len(architectures) == 1 else None,
        wsl=declared.wsl,
    )
    return replace(target, glibc=declared.glibc or target.glibc, macos=declared.macos or target.macos)
