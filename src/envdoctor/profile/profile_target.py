"""Which interpreters a profile accepts."""

from __future__ import annotations

from packaging.specifiers import SpecifierSet

from envdoctor.model.profile import Profile
from envdoctor.model.target import Arch, Backend, OperatingSystem, Target

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


def target_for(
    profile: Profile,
    *,
    python: tuple[int, int] | None = None,
    os: OperatingSystem | None = None,
    arch: Arch | None = None,
    backend: Backend | None = None,
    glibc: tuple[int, int] | None = None,
    macos: tuple[int, int] | None = None,
    gpu_architecture: str | None = None,
) -> Target:
    """Return the target of a profile; what is given replaces what the profile says.

    Without ``python`` it is the first of `python_choices`. A GPU architecture is taken from the profile only where it
    names a single one. On another operating system the profile's libc and WSL mean nothing and are dropped.
    """
    declared = profile.target
    system = os or declared.os
    same = system is declared.os
    architectures = declared.gpu_architectures
    defaults = Target(os=system, arch=declared.arch, python=(3, 12))
    return Target(
        os=system,
        arch=arch or (declared.arch if same else _usual_arch(system, declared.arch)),
        python=python or python_choices(profile)[0],
        backend=backend or declared.backend,
        glibc=glibc or (declared.glibc if same else None) or defaults.glibc,
        macos=macos or (declared.macos if same else None) or defaults.macos,
        gpu_architecture=gpu_architecture or (architectures[0] if len(architectures) == 1 else None),
        wsl=same and declared.wsl,
    )


def _usual_arch(system: OperatingSystem, declared: Arch) -> Arch:
    """Return an architecture by the name that another system gives it."""
    if declared is Arch.X86_64:
        return declared
    return Arch.AARCH64 if system is OperatingSystem.LINUX else Arch.ARM64
