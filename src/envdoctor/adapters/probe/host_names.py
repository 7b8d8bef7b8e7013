"""The facts that a host may have; ``docs/facts.md`` says the same at length, and a test holds the two together."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from envdoctor.adapters.probe.host_system import VARIABLES
from envdoctor.adapters.probe.host_tools import TOOLS

__all__ = ["CARD_FACTS", "FACT_NAMES", "closest", "is_known_name", "single_names"]

_ALIKE = 0.75
"""How alike two names must be, as difflib rates it: one letter in four may be wrong, missing or doubled."""
_OWN = ("probe.", "smoke.")
"""Facts about the asking itself, and of the child that runs kernels, which are in reports and decide nothing."""

CARD_FACTS = (
    "vendor",
    "name",
    "architecture",
    "compute_capability",
    "memory_bytes",
    "memory_free_bytes",
    "mig",
    "driver",
    "driver_version",
)
"""Facts of each card, as ``gpu[0].vendor``."""

FACT_NAMES = (
    "os",
    "arch",
    "host.wsl",
    "host.kernel",
    "host.distribution",
    "host.glibc",
    "host.macos",
    "host.memory_bytes",
    "host.memory_available_bytes",
    "host.disk_free_bytes",
    "host.jetson",
    "host.tegra",
    "host.l4t",
    "host.jetpack",
    "gpu.count",
    "driver.version",
    "driver.cuda",
    "amdgpu.version",
    "rocm.version",
    "rocm.wsl_runtime",
    "hip_sdk.path",
    "system.libhsa-runtime64-1",
    "zluda.libraries",
    "zluda.hip_library",
    "cuda.toolkits",
    "library.amdhip64_7",
    "library.libavutil",
    "library.libespeak-ng",
    "library.libsndfile",
    "device./dev/dxg",
    "device./dev/kfd",
    "device./dev/nvidiactl",
    "device./dev/accel",
    "device./dev/dri",
    "torch.version",
    "torch.cuda",
    "torch.is_available",
    "torch.arch_list",
    "python.version",
)
"""Facts with one value; besides them ``tool.<program>.version``, ``.path`` and ``environment.<VARIABLE>``."""


@lru_cache(maxsize=1)
def single_names() -> tuple[str, ...]:
    """Return every fact that a machine has one of, without those of its cards."""
    tools = (f"tool.{name}.{part}" for name in TOOLS for part in ("version", "path"))
    return (*FACT_NAMES, *tools, *(f"environment.{name}" for name in VARIABLES))


def is_known_name(name: str) -> bool:
    """Return whether a fact of that name is one that is measured, or that a rule may ask for."""
    card = re.fullmatch(r"gpu\[\d+\]\.(\w+)", name)
    return card[1] in CARD_FACTS if card else name in single_names() or name.startswith(_OWN)


def closest(name: str, known: Iterable[str] = ()) -> str | None:
    """Return the name that was most likely meant, of ``known`` or by default of the facts; None where none is alike."""
    import difflib

    index = re.search(r"\[\d+\]", name)
    cards = (f"gpu{index[0] if index else '[0]'}.{key}" for key in CARD_FACTS)
    choices = list(known) or [*single_names(), *cards]
    by_lower = {choice.lower(): choice for choice in choices}
    alike = difflib.get_close_matches(name.lower(), by_lower, 1, _ALIKE)
    return by_lower[alike[0]] if alike else None
