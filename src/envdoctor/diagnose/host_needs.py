"""What stacks need outside Python, and the facts that show whether it is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.version import Version

from envdoctor.model.fact import Facts, FactState

if TYPE_CHECKING:
    from envdoctor.diagnose.examination import Examination

__all__ = ["COMPILERS", "is_below", "is_missing", "speaks_of_target"]

COMPILERS = ("tool.g++.version", "tool.gcc.version", "tool.clang.version", "tool.cl.version")
_ANY_OF: dict[str, tuple[str, ...]] = {
    "cxx-compiler": COMPILERS,
    "ffmpeg": ("tool.ffmpeg.version", "library.libavutil"),
    "espeak-ng": ("library.libespeak-ng",),
    "libsndfile": ("library.libsndfile",),
    "driver": ("driver.version",),
    "rocm": ("rocm.version",),
    "rocm-wsl": ("rocm.wsl_runtime",),
    "hip-sdk": ("rocm.version",),
    "zluda": ("zluda.libraries",),
}
_VERSION_OF = {"driver": "driver.version", "rocm": "rocm.version", "hip-sdk": "rocm.version"}
_TOOLS = ("cmake", "ninja", "git", "git-lfs", "nvcc", "rustc", "pkg-config")


def is_missing(facts: Facts, need: str) -> bool:
    """Return whether a need was looked for and is not there; what was not looked for is not missing."""
    names = _ANY_OF.get(need) or ((f"tool.{need}.version",) if need in _TOOLS else ())
    return bool(names) and all(facts.get(name).state is FactState.ABSENT for name in names)


def is_below(facts: Facts, need: str, minimum: str) -> str | None:
    """Return the version that is there where it is below the minimum, else None."""
    found = facts.value(_VERSION_OF.get(need) or f"tool.{need}.version")
    try:
        return str(found) if found is not None and Version(str(found)) < Version(minimum) else None
    except ValueError:
        return None


def speaks_of_target(examination: Examination) -> bool:
    """Return whether the facts are of a machine like the target: those of a laptop say nothing of a Jetson."""
    target, facts = examination.target, examination.facts
    if target is None:
        return True
    system, machine = facts.value("os"), str(facts.value("arch") or "")
    same = {"arm64": "aarch64", "amd64": "x86_64"}
    fits = not machine or same.get(machine, machine) == same.get(target.arch.value, target.arch.value)
    return system in (None, target.os.value) and fits
