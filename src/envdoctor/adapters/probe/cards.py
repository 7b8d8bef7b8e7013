"""What a card can do, by the name that it is sold under, and whether there may be one."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from envdoctor.model.dataclass import dataclass
from envdoctor.shipped import architecture_of_card

__all__ = ["CardListing", "architecture_of_amd_name", "capability_of_name", "may_have_a_card", "vendor_of_name"]


def capability_of_name(name: str) -> str | None:
    """Return the compute capability of a card by its marketing name, None where the name is not known."""
    digits = (architecture_of_card(name) or "").removeprefix("sm_")
    return f"{digits[:-1]}.{digits[-1]}" if digits.isdecimal() else None


def architecture_of_amd_name(name: str) -> str | None:
    """Return the gfx name of an AMD card by its marketing name, None where the name is not known."""
    found = architecture_of_card(name)
    return found if found is not None and found.startswith("gfx") else None


def vendor_of_name(name: str) -> str | None:
    """Return ``nvidia``, ``amd``, ``intel`` or ``apple``, None where the name leaves it open."""
    if re.search(r"NVIDIA|GeForce|Quadro|Tesla", name, re.IGNORECASE) or capability_of_name(name):
        return "nvidia"
    if re.search(r"AMD|Radeon|Instinct", name, re.IGNORECASE):
        return "amd"
    if re.search(r"\bIntel\b|\bArc\b", name):
        return "intel"
    return "apple" if re.search(r"\bApple\b|^M\d( (Pro|Max|Ultra))?$", name, re.IGNORECASE) else None


_DEVICES = (
    "/proc/driver/nvidia/version",
    "/dev/nvidiactl",
    "/dev/nvhost-gpu",
    "/dev/nvgpu",
    "/dev/kfd",
    "/dev/dxg",
)
_WINDOWS = ("nvcuda.dll", "amdhip64.dll", "amdhip64_6.dll", "amdhip64_7.dll")


def may_have_a_card() -> bool:
    """Return whether NVIDIA's or AMD's driver for computing has left its files; True says no more than "perhaps"."""
    if os.name == "nt":
        system = Path(os.environ.get("SYSTEMROOT", "C:\\Windows"), "System32")
        return any(os.path.isfile(system / name) for name in _WINDOWS)
    return any(os.path.exists(name) for name in _DEVICES)


@dataclass(frozen=True, slots=True)
class CardListing:
    """What one vendor's sources say."""

    cards: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    """Each card with the source that told."""
    uncounted: str | None = None
    """Why it is not known whether there are cards, or more of them; None where all that there are have been listed."""
