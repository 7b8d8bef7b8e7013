"""What is resolved, and for what machine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

__all__ = ["CONFLICTS", "INPUTS", "REQUIREMENTS", "Input", "Machine", "requirements_of", "static_versions"]

FOLDER = Path(__file__).parent / "inputs"
STATIC = FOLDER / "static-metadata.txt"


@dataclass(frozen=True, slots=True)
class Machine:
    """A target, in the words of each tool."""

    os: str
    arch: str
    python: str
    uv: str
    nab: str
    pip: tuple[str, ...]
    markers: tuple[tuple[str, str], ...]


def _machine(os: str, arch: str, python: str, uv: str, nab: str, pip: tuple[str, ...], *marks: str) -> Machine:
    names = ("os_name", "sys_platform", "platform_system", "platform_machine")
    return Machine(os, arch, python, uv, nab, pip, tuple(zip(names, marks, strict=True)))


_GLIBC = 28
_LINUX = _machine(
    "linux", "x86_64", "3.11", f"x86_64-manylinux_2_{_GLIBC}", f'{{id="linux_x86_64", runs-on-libc="2.{_GLIBC}"}}',
    (*(f"manylinux_2_{m}_x86_64" for m in range(_GLIBC, 4, -1)), "manylinux2014_x86_64", "linux_x86_64"),
    "posix", "linux", "Linux", "x86_64",
)  # fmt: skip
_WINDOWS = _machine(
    "windows", "x86_64", "3.11", "windows", '"windows_amd64"', ("win_amd64",), "nt", "win32", "Windows", "AMD64"
)
_MACOS = _machine(
    "macos", "arm64", "3.11", "aarch64-apple-darwin", '{id="macos_arm64", runs-on-macos="14.0"}',
    ("macosx_14_0_arm64",), "posix", "darwin", "Darwin", "arm64",
)  # fmt: skip
_ARM = _machine(
    "linux", "aarch64", "3.12", f"aarch64-manylinux_2_{_GLIBC}", f'{{id="linux_aarch64", runs-on-libc="2.{_GLIBC}"}}',
    (*(f"manylinux_2_{m}_aarch64" for m in range(_GLIBC, 16, -1)), "manylinux2014_aarch64", "linux_aarch64"),
    "posix", "linux", "Linux", "aarch64",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Input:
    """One list of requirements for one machine."""

    name: str
    machine: Machine
    file: str
    kind: str
    """``stack``, ``conflict``, ``large``, or ``growth``."""
    most: int | None = None
    """How many of the file's lines count; None: all of them."""


INPUTS = (
    Input("diffrhythm2", _WINDOWS, "diffrhythm2.txt", "stack"),
    Input("kokoro", _MACOS, "kokoro.txt", "stack"),
    Input("rvc", _WINDOWS, "rvc.txt", "stack"),
    Input("maskgct", _ARM, "maskgct.txt", "stack"),
    Input("xtts", _WINDOWS, "xtts.txt", "stack"),
    Input("diffrhythm2-as-it-is", _WINDOWS, "diffrhythm2-as-it-is.txt", "conflict"),
    Input("maskgct-as-it-is", _ARM, "maskgct-as-it-is.txt", "conflict"),
    Input("xtts-as-it-is", _WINDOWS, "xtts-as-it-is.txt", "conflict"),
    Input("sixteen-conflicts", _LINUX, "sixteen-conflicts.txt", "conflict"),
    Input("airflow", _LINUX, "airflow.txt", "large"),
    Input("developers", _LINUX, "developers.txt", "large"),
)
"""RVC and Kokoro are the same as they are and satisfiable: their own files hold together on their machines."""


REQUIREMENTS = tuple(Input(f"requirements-{n}", _LINUX, "growth.txt", "growth", n) for n in (8, 16, 32, 64))
"""Twice as many requirements each time."""
CONFLICTS = tuple(Input(f"conflicts-{n}", _LINUX, "sixteen-conflicts.txt", "conflict", 2 * n) for n in (1, 2, 4, 8, 16))
"""Two lines to a conflict."""


def requirements_of(what: Input) -> list[str]:
    """Return the lines of an input."""
    return (FOLDER / what.file).read_text(encoding="utf-8").splitlines()[: what.most]


def static_versions() -> dict[str, set[str]]:
    """Return project to versions that exist as sdists alone and get an entry with static metadata."""
    found: dict[str, set[str]] = {}
    for line in STATIC.read_text(encoding="utf-8").splitlines() if STATIC.exists() else ():
        name, _, version = line.partition("==")
        found.setdefault(name, set()).add(version)
    return found
