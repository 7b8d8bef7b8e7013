"""Shared libraries and extension modules, read and never loaded."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator
from dataclasses import field
from typing import TYPE_CHECKING

from envdoctor.model.dataclass import dataclass

if TYPE_CHECKING:
    from envdoctor.model.environment import EnvironmentProblem

__all__ = ["Binary", "BinaryFormat", "BinaryInventory", "GpuCode"]


class BinaryFormat(enum.Enum):
    """Formats of object files."""

    ELF = "elf"
    PE = "pe"
    MACHO = "macho"


_NVIDIA = re.compile(r"(?:sm|compute)_(\d+)(\d)([af]?)")
# LLVM's generic processors: code for one runs on each card listed.
_AMD_GENERIC = {
    "gfx9-generic": ("gfx900", "gfx902", "gfx904", "gfx906", "gfx909", "gfx90c"),
    "gfx9-4-generic": ("gfx940", "gfx941", "gfx942", "gfx950"),
    "gfx10-1-generic": ("gfx1010", "gfx1011", "gfx1012", "gfx1013"),
    "gfx10-3-generic": ("gfx1030", "gfx1031", "gfx1032", "gfx1033", "gfx1034", "gfx1035", "gfx1036"),
    "gfx11-generic": ("gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151", "gfx1152", "gfx1153"),
    "gfx12-generic": ("gfx1200", "gfx1201"),
}


@dataclass(frozen=True, slots=True)
class GpuCode:
    """The GPU architectures that a library carries code for, each list sorted."""

    sass: tuple[str, ...] = ()
    """NVIDIA machine code: ``sm_90``, ``sm_90a``, ``sm_120f``."""
    ptx: tuple[str, ...] = ()
    """NVIDIA intermediate code, which newer cards compile: ``compute_90``."""
    amd: tuple[str, ...] = ()
    """AMD machine code, feature suffixes cut off: ``gfx1030``."""
    complete: bool = True
    """False where a part could not be read; a list that is not complete proves no absence."""

    @property
    def architectures(self) -> tuple[str, ...]:
        """All of them."""
        return (*self.sass, *self.ptx, *self.amd)

    def __bool__(self) -> bool:
        return bool(self.sass or self.ptx or self.amd)

    def runs_on(self, card: str) -> bool | None:
        """Return whether some of the code runs on ``card`` (``sm_110``, ``gfx1030``); None where that is not known.

        NVIDIA: machine code runs on the same major and a minor at least as high; with suffix ``a`` on exactly that
        architecture; PTX is compiled by any newer card, with suffix ``f`` of the same major, with ``a`` by that one.
        """
        if card.startswith("gfx"):
            wanted = card.partition(":")[0]
            if any(wanted == item or wanted in _AMD_GENERIC.get(item, ()) for item in self.amd):
                return True
            return False if self.amd and self.complete else None
        match = _NVIDIA.fullmatch(card)
        if match is None or not (self.sass or self.ptx):
            return None
        major, minor = int(match[1]), int(match[2])
        if any(_runs(item, major, minor) for item in (*self.sass, *self.ptx)):
            return True
        return False if self.complete else None


def _runs(code: str, major: int, minor: int) -> bool:
    match = _NVIDIA.fullmatch(code)
    if match is None:
        return False
    of, suffix = (int(match[1]), int(match[2])), match[3]
    if suffix == "a":
        return of == (major, minor)
    if code.startswith("sm_") or suffix == "f":
        return of[0] == major and of[1] <= minor
    return of <= (major, minor)


@dataclass(frozen=True, slots=True)
class Binary:
    """One shared library, extension module or program."""

    path: str
    """As it was asked for; forward slashes."""
    format: BinaryFormat
    architectures: tuple[str, ...]
    """``x86_64``, ``aarch64``, ``arm64``, ``i386``; several for a universal Mach-O."""
    needed: tuple[str, ...] = ()
    """The libraries it asks the loader for, as written: ``libcudart.so.12``, ``c10.dll``, ``@rpath/libc10.dylib``."""
    optional: tuple[str, ...] = ()
    """Libraries whose absence does not keep it from loading: delay-loaded (PE), weak (Mach-O)."""
    soname: str | None = None
    """What others ask for to get it: DT_SONAME, the Mach-O install name."""
    search: tuple[str, ...] = ()
    """DT_RPATH, DT_RUNPATH or LC_RPATH entries, ``$ORIGIN`` and ``@loader_path`` as written."""
    glibc: tuple[int, int] | None = None
    """Highest glibc symbol version needed."""
    macos: tuple[int, int] | None = None
    """Lowest macOS release that it says it runs on."""
    python: str | None = None
    """The interpreter an extension module is for: ``cp311``, ``cp313t``, ``abi3``, ``pypy310``; None where it is no
    extension module or its name does not say."""
    extension: bool = False
    """An extension module, by its name or its init function."""
    numpy: str | None = None
    """The NumPy C API it was compiled against: ``1``, ``2`` (runs with both); None: it uses none, or was not asked."""
    gpu: GpuCode = GpuCode()
    size: int = 0
    """Bytes."""
    distribution: str | None = None
    """The distribution that owns it."""

    @property
    def name(self) -> str:
        """The file's name."""
        return self.path.rsplit("/", 1)[-1]

    @property
    def module(self) -> str:
        """The name that an extension module is imported by: what its file's name begins with."""
        return self.name.partition(".")[0]

    @property
    def folder(self) -> str:
        """The folder it lies in."""
        return self.path.rpartition("/")[0]


@dataclass(frozen=True, slots=True)
class BinaryInventory:
    """The binaries of one environment, and what the loader of that machine could add."""

    binaries: tuple[Binary, ...]
    libraries: frozenset[str] | None = None
    """Names that the system's loader finds; None where it could not be asked: the environment is of another machine."""
    unreadable: tuple[tuple[str, str], ...] = ()
    """``(path, reason)`` of files that look like binaries and are not readable as such."""
    damaged: tuple[EnvironmentProblem, ...] = ()
    """Of the unreadable ones those whose contents are not what was recorded."""
    extra_names: frozenset[str] = field(default=frozenset())
    """Library names beside the interpreter (a conda environment's ``lib``), which were listed and not read."""

    def __iter__(self) -> Iterator[Binary]:
        return iter(self.binaries)

    def __len__(self) -> int:
        return len(self.binaries)
