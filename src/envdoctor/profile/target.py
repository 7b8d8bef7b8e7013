"""The target that a profile means, where the user does not say otherwise."""

from __future__ import annotations

from envdoctor.model.profile import Profile
from envdoctor.model.target import Arch, Backend, OperatingSystem, Target
from envdoctor.profile.pythons import python_choices

__all__ = ["target_for"]


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
