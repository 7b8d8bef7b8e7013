"""The target as the user typed it, else the profile's, else the running machine."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from envdoctor.cli.errors import UsageFault
from envdoctor.cli.options import TargetArch, TargetBackend, TargetOs
from envdoctor.model.admitted_python import admits, admitted_minors
from envdoctor.model.target import Arch, Backend, OperatingSystem, Target

if TYPE_CHECKING:
    from packaging.specifiers import SpecifierSet

    from envdoctor.model.profile import Profile
    from envdoctor.workflow.settings import Settings

__all__ = ["TargetChoice", "for_environment_python", "host_target", "pick_target"]

_OLDEST, _NEWEST = (3, 8), (3, 14)


@dataclass(frozen=True, slots=True)
class TargetChoice:
    """Target options as typed."""

    os: TargetOs | None = None
    arch: TargetArch | None = None
    python: str | None = None
    backend: TargetBackend | None = None

    def __post_init__(self) -> None:
        """Refuse a Python that nobody can judge for, before anything is read. Raises UsageFault."""
        _python(self.python)


def pick_target(
    choice: TargetChoice, profile: Profile | None, settings: Settings | None
) -> tuple[Target, tuple[tuple[int, int], ...]]:
    """Return the target, and the interpreters to try where neither the user nor the project names one."""
    python = _python(choice.python or (settings.target_python if settings else None))
    if profile is None:
        target = host_target()
        choices: tuple[tuple[int, int], ...] = ()
    else:
        from envdoctor.profile import python_choices, target_for

        target = target_for(profile)
        choices = () if python else tuple(python_choices(profile))
    if choice.os is not None:
        target = replace(target, os=OperatingSystem(choice.os.value), wsl=target.wsl and choice.os is TargetOs.LINUX)
    target = replace(target, arch=_arch(choice, target))
    if choice.backend is not None:
        target = replace(target, backend=Backend(choice.backend.value))
    if python is not None:
        target = replace(target, python=python, python_full=None)
    elif choices:
        target = replace(target, python=choices[0])
    return target, choices


def for_environment_python(
    target: Target, choices: tuple[tuple[int, int], ...], wanted: SpecifierSet
) -> tuple[Target, tuple[tuple[int, int], ...]]:
    """Return target and interpreters for the Python that a conda environment file installs (``wanted``).

    ``choices`` are the profile's: those that the file admits remain. Without a profile this machine's Python stays
    where the file admits it, as it does with ``python>=3.9``; else all that it admits are tried, the newest first.
    Where none is left nothing changes: a finding then says that the two do not agree.
    """
    possible = choices or ((target.python,) if admits(wanted, target.python) else admitted_minors(wanted)[::-1])
    admitted = tuple(python for python in possible if admits(wanted, python))
    if not admitted or admitted == (choices or (target.python,)):
        return target, choices
    return replace(target, python=admitted[0], python_full=None), admitted if len(admitted) > 1 else ()


def _python(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    parts = text.strip().split(".")
    if len(parts) in (2, 3) and all(part.isascii() and part.isdecimal() and len(part) < 6 for part in parts):
        python = (int(parts[0]), int(parts[1]))
        if _OLDEST <= python <= _NEWEST:
            return python
    raise UsageFault(f"--target-python: `{text[:40]}` is not a CPython from 3.8 to 3.14; write it as 3.11")


def _arch(choice: TargetChoice, target: Target) -> Arch:
    """Return the architecture by the name that the target's operating system uses for it."""
    if choice.arch is not None:
        x86 = choice.arch in (TargetArch.X86_64, TargetArch.AMD64)
    elif choice.os is TargetOs.MACOS:
        x86 = False  # The Macs of this decade.
    else:
        x86 = target.arch is Arch.X86_64
    if x86:
        return Arch.X86_64
    return Arch.AARCH64 if target.os is OperatingSystem.LINUX else Arch.ARM64


def host_target() -> Target:
    """Return the running machine as a target: the default where no profile and no option says otherwise."""
    import platform

    system = {"Windows": OperatingSystem.WINDOWS, "Darwin": OperatingSystem.MACOS}
    found = system.get(platform.system(), OperatingSystem.LINUX)
    x86 = platform.machine().lower() in ("x86_64", "amd64", "")
    arm = Arch.AARCH64 if found is OperatingSystem.LINUX else Arch.ARM64
    python = min(max(sys.version_info[:2], _OLDEST), _NEWEST)
    return Target(os=found, arch=Arch.X86_64 if x86 else arm, python=(python[0], python[1]))
