"""Whether this machine may have a GPU that programs compute on: by files alone, in microseconds, nothing asked."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["may_have_a_card"]

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
