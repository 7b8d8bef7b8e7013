"""What a card can do, by the name that it is sold under.

Sources: NVIDIA, "CUDA GPUs"; AMD, "Accelerator and GPU hardware specifications". Names that stand for several chips are
left out.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["CardListing", "architecture_of_amd_name", "capability_of_name", "may_have_a_card", "vendor_of_name"]

# By name alone, where the name leaves no doubt.
_CAPABILITIES = (
    (r"RTX 50\d\d|RTX PRO \d+ (?:\w+ )*Blackwell", "12.0"),
    (r"GB10\b", "12.1"),
    (r"\bThor\b", "11.0"),
    (r"\bB300\b|\bGB300\b", "10.3"),
    (r"\bB200\b|\bGB200\b", "10.0"),
    (r"\bH100\b|\bH200\b|\bGH200\b|\bH20\b|\bH800\b", "9.0"),
    (r"RTX 40\d\d|\bL40S?\b|\bL4\b|RTX \d000 Ada|RTX \d000 SFF Ada", "8.9"),
    (r"\bOrin\b", "8.7"),
    (r"RTX 30\d\d|\bA10G?\b|\bA40\b|\bA16\b|\bA2\b|RTX A\d000", "8.6"),
    (r"\bA100\b|\bA800\b|\bA30\b", "8.0"),
    (r"RTX 20\d\d|GTX 16\d\d|\bT4\b|TITAN RTX|Quadro RTX", "7.5"),
    (r"\bXavier\b", "7.2"),
    (r"\bV100S?\b|TITAN V\b", "7.0"),
    (r"GTX 10\d\d|\bP40\b|\bP4\b|TITAN X[Pp]\b", "6.1"),
    (r"\bP100\b", "6.0"),
    (r"GTX 9\d\d|\bM40\b|\bM60\b", "5.2"),
)
_GFX = (
    (r"RX 9070", "gfx1201"),
    (r"RX 9060", "gfx1200"),
    (r"RX 7900|PRO W7900|PRO W7800", "gfx1100"),
    (r"RX 7[78]00", "gfx1101"),
    (r"RX 7600", "gfx1102"),
    (r"RX 6[89][05]0", "gfx1030"),
    (r"RX 6[67][05]0 ?XT|RX 67\d0", "gfx1031"),
    (r"RX 66[05]0", "gfx1032"),
    (r"RX 5700|RX 5600", "gfx1010"),
    (r"RX 5500", "gfx1012"),
    (r"Radeon VII|MI50|MI60", "gfx906"),
    (r"MI100", "gfx908"),
    (r"MI2[015]0X?", "gfx90a"),
    (r"MI300[XA]?|MI325X", "gfx942"),
    (r"MI350X|MI355X", "gfx950"),
    (r"RX (?:Vega|VEGA) (?:56|64)", "gfx900"),
    (r"RX 5[789]0", "gfx803"),
    (r"8060S|8050S", "gfx1151"),
    (r"890M|880M", "gfx1150"),
    (r"780M|760M", "gfx1103"),
)


def capability_of_name(name: str) -> str | None:
    """Return the compute capability of a card by its marketing name, None where the name is not known."""
    return next((value for pattern, value in _CAPABILITIES if re.search(pattern, name)), None)


def architecture_of_amd_name(name: str) -> str | None:
    """Return the gfx name of an AMD card by its marketing name, None where the name is not known."""
    return next((value for pattern, value in _GFX if re.search(rf"\b(?:{pattern})", name)), None)


def vendor_of_name(name: str) -> str | None:
    """Return ``nvidia`` or ``amd``, None where the name leaves it open."""
    if re.search(r"NVIDIA|GeForce|Quadro|Tesla", name, re.IGNORECASE) or capability_of_name(name):
        return "nvidia"
    return "amd" if re.search(r"AMD|Radeon|Instinct", name, re.IGNORECASE) else None


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
