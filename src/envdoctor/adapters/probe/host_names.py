"""The facts that a host may have; ``docs/facts.md`` says the same at length, and a test holds the two together."""

from __future__ import annotations

__all__ = ["CARD_FACTS", "FACT_NAMES"]

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
    "torch.arch_list",
)
"""Facts with one value; besides them ``tool.<program>.version``, ``.path`` and ``environment.<VARIABLE>``."""
