"""The machine that is diagnosed; never the host that runs the diagnosis."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from envdoctor.model.dataclass import dataclass

if TYPE_CHECKING:
    from packaging import tags  # with logging and more, which help and options do without

__all__ = ["Arch", "Backend", "OperatingSystem", "Target", "TargetArch", "TargetBackend", "dotted"]


class OperatingSystem(enum.Enum):
    """Operating systems that profiles can name."""

    WINDOWS = "windows"
    LINUX = "linux"
    MACOS = "macos"


class Arch(enum.Enum):
    """Machine architectures, by their usual names."""

    X86_64 = "x86_64"
    AARCH64 = "aarch64"
    ARM64 = "arm64"


class Backend(enum.Enum):
    """What runs the tensors."""

    CUDA = "cuda"
    ROCM = "rocm"
    ZLUDA = "zluda"
    DIRECTML = "directml"
    MPS = "mps"
    XPU = "xpu"
    COREML = "coreml"
    CPU = "cpu"
    UNKNOWN = "unknown"
    """No profile and no option says; rules then speak of what would matter to a GPU without assuming one."""


class TargetProperty(enum.Enum):
    """What may be known of a target, or only be assumed."""

    PYTHON = "python"
    OS = "os"
    ARCH = "arch"
    BACKEND = "backend"
    WSL = "wsl"


class TargetArch(str, enum.Enum):
    """What a person may type for an architecture; ``amd64`` is x86_64, ``arm64`` on Linux is aarch64."""

    X86_64 = "x86_64"
    AMD64 = "amd64"
    AARCH64 = "aarch64"
    ARM64 = "arm64"


class TargetBackend(str, enum.Enum):
    """What a person may type for a backend; ``Backend.UNKNOWN`` is for those who type none."""

    CUDA = "cuda"
    ROCM = "rocm"
    ZLUDA = "zluda"
    DIRECTML = "directml"
    MPS = "mps"
    XPU = "xpu"
    COREML = "coreml"
    CPU = "cpu"
    AUTO = "auto"
    """The best that the card has."""


_SYS_PLATFORM = {"windows": "win32", "linux": "linux", "macos": "darwin"}
_PLATFORM_SYSTEM = {"windows": "Windows", "linux": "Linux", "macos": "Darwin"}
_OS_NAME = {"windows": "nt", "linux": "posix", "macos": "posix"}
_LEVELS = {OperatingSystem.LINUX: "glibc", OperatingSystem.MACOS: "macOS"}
# glibc levels of the manylinux names that came before PEP 600 numbered them.
_LEGACY_MANYLINUX = {(2, 17): "manylinux2014", (2, 12): "manylinux2010", (2, 5): "manylinux1"}


@dataclass(frozen=True, slots=True)
class Target:
    """Operating system, architecture, Python and GPU backend that a diagnosis is for."""

    os: OperatingSystem
    arch: Arch
    python: tuple[int, int]
    """CPython ``(major, minor)``."""
    backend: Backend = Backend.UNKNOWN
    glibc: tuple[int, int] = (2, 28)
    """Lowest glibc promised on Linux; decides manylinux tags (PEP 600)."""
    macos: tuple[int, int] = (14, 0)
    """Lowest macOS release promised; decides macosx tags."""
    level_assumed: bool = False
    """Nothing and nobody tells the glibc or the macOS: that a file needs a newer one is then no fault, and not known.
    """
    gpu_architecture: str | None = None
    """``sm_110`` or ``gfx1030``, where the profile or a probe knows it."""
    python_full: str | None = None
    """Full version such as ``3.11.7`` where known; it goes with ``python``, so ``for_python`` changes both."""
    python_assumed: bool = False
    """Nothing and nobody tells the Python: it is the one that runs here. Or nothing is judged for the one that is told:
    it is the nearest that is known."""
    os_assumed: bool = False
    """Nothing and nobody tells the operating system; it is this machine's."""
    wsl: bool = False
    probed: bool = False
    backend_named: bool = False
    """A person or a profile names the backend, or had the card choose it; else it is what the cards are driven by."""

    @property
    def python_version(self) -> str:
        """``3.11``."""
        return dotted(self.python)

    @property
    def python_full_version(self) -> str:
        """``3.11.7`` where known, else ``3.11.0``: what older patch releases need is left out by none."""
        return self.python_full or f"{self.python_version}.0"

    @property
    def level_name(self) -> str:
        """What of the system wheels ask a level of: ``glibc`` or ``macOS``; empty on Windows, where they ask none."""
        return _LEVELS.get(self.os, "")

    @property
    def level_option(self) -> str:
        """``glibc`` or ``macos``, as the option, the fact and the field are called; empty on Windows."""
        return self.level_name.lower()

    @property
    def level(self) -> tuple[int, int] | None:
        """The glibc or macOS; None on Windows."""
        return {OperatingSystem.LINUX: self.glibc, OperatingSystem.MACOS: self.macos}.get(self.os)

    def at_level(self, level: tuple[int, int]) -> Target:
        """Return the same machine with another glibc or macOS; itself on Windows."""
        if self.os is OperatingSystem.LINUX:
            return replace(self, glibc=level)
        return replace(self, macos=level) if self.os is OperatingSystem.MACOS else self

    def on_system(self, system: OperatingSystem) -> Target:
        """Return the target on another operating system, of which nobody tells the level; itself on its own."""
        if system is self.os:
            return self
        return replace(self, os=system, wsl=self.wsl and system is OperatingSystem.LINUX, level_assumed=True)

    def for_python(self, python: tuple[int, int]) -> Target:
        """Return the same machine with another Python, whose patch release nobody tells; itself for its own."""
        return self if python == self.python else replace(self, python=python, python_full=None)

    def marker_environment(self, extra: str = "") -> dict[str, str]:
        """Return the PEP 508 marker environment of this target; only that of macOS knows the system's kernel."""
        os_ = self.os.value
        darwin = _darwin(self.macos) if self.os is OperatingSystem.MACOS else ""
        machine = {"windows": "AMD64"}.get(os_, self.arch.value) if self.arch is Arch.X86_64 else self.arch.value
        if os_ == "macos" and self.arch is Arch.AARCH64:
            machine = "arm64"
        if os_ == "windows" and self.arch is not Arch.X86_64:
            machine = "ARM64"
        return {
            "implementation_name": "cpython",
            "implementation_version": self.python_full_version,
            "os_name": _OS_NAME[os_],
            "platform_machine": machine,
            "platform_release": darwin,
            "platform_system": _PLATFORM_SYSTEM[os_],
            "platform_version": darwin and f"Darwin Kernel Version {darwin}",
            "platform_python_implementation": "CPython",
            "python_full_version": self.python_full_version,
            "python_version": self.python_version,
            "sys_platform": _SYS_PLATFORM[os_],
            "extra": extra,
        }

    def platforms(self) -> list[str]:
        """Return platform tags, best first."""
        return list(_platforms(self))

    def tag_priorities(self) -> Mapping[tags.Tag, int]:
        """Return every wheel tag the target accepts with its rank; 0 is the best."""
        return _tag_priorities(self)

    def __str__(self) -> str:
        backend = "no GPU backend named" if self.backend is Backend.UNKNOWN else self.backend.value
        python = f"Python {self.python_version}{' assumed' if self.python_assumed else ''}"
        assumed = " assumed" if self.os_assumed else ""
        return f"{self.os.value} {self.arch.value}{assumed}, {python}, {backend}"


def _darwin(macos: tuple[int, int]) -> str:
    """Return the kernel of a macOS release, as ``uname -r`` has it: ``23.4.0`` of macOS 14.4.

    The minor numbers of 11 to 13 are one ahead, and none goes beyond 6. Source: reports that name both, such as macOS
    13.4 with 22.5.0.
    """
    major, minor = macos
    if major < 11:
        return f"{minor + 4}.0.0"
    return f"{major + 9 if major < 26 else major - 1}.{min(minor + (major < 14), 6)}.0"


def _platforms(target: Target) -> Iterator[str]:
    if target.os is OperatingSystem.WINDOWS:
        yield "win_amd64" if target.arch is Arch.X86_64 else "win_arm64"
    elif target.os is OperatingSystem.MACOS:
        arch = "x86_64" if target.arch is Arch.X86_64 else "arm64"
        from packaging import tags

        yield from tags.mac_platforms(target.macos, arch)
    else:
        arch = "x86_64" if target.arch is Arch.X86_64 else "aarch64"
        lowest = 5 if arch == "x86_64" else 17
        for minor in range(target.glibc[1], lowest - 1, -1):
            yield f"manylinux_2_{minor}_{arch}"
            legacy = _LEGACY_MANYLINUX.get((2, minor))
            if legacy:
                yield f"{legacy}_{arch}"
        yield f"linux_{arch}"


@lru_cache(maxsize=64)
def _tag_priorities(target: Target) -> dict[tags.Tag, int]:
    from packaging import tags

    platforms = list(_platforms(target))
    interpreter = f"cp{target.python[0]}{target.python[1]}"
    ordered = [
        *tags.cpython_tags(target.python, [interpreter], platforms),
        *tags.compatible_tags(target.python, interpreter, platforms),
    ]
    ranks: dict[tags.Tag, int] = {}
    for tag in ordered:
        ranks.setdefault(tag, len(ranks))
    return ranks


def dotted(version: tuple[int, int]) -> str:
    """Return a version of two numbers as it is written: ``3.11``."""
    return f"{version[0]}.{version[1]}"
