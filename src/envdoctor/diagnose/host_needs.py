"""What stacks need outside Python, whose cards a backend drives, and the facts that show whether it is there."""

from __future__ import annotations

from packaging.version import Version

from envdoctor.diagnose.examination import Examination
from envdoctor.model.fact import Facts, FactState
from envdoctor.model.target import Backend

__all__ = ["card_against", "is_below", "is_missing", "speaks_of_target"]

# DirectML asks for DirectX 12 of any maker's card.
_VENDORS = {Backend.CUDA: ("nvidia",), Backend.ZLUDA: ("amd",), Backend.ROCM: ("amd",), Backend.XPU: ("intel",)}


def card_against(backend: Backend, facts: Facts) -> str:
    """Return why no card of a machine is one for a backend; empty where one is, or where none is known."""
    cards = [fact for fact in facts.of_cards("vendor") if fact.value]
    wanted = _VENDORS.get(backend)
    if wanted is None or not cards or any(fact.value in wanted for fact in cards):
        return ""
    named = (facts.value(fact.name.replace("].vendor", "].name")) or str(fact.value).upper() for fact in cards)
    return f"and the card is {' and '.join(dict.fromkeys(map(str, named)))}"


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
