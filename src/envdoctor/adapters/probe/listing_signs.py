"""The operating system of a listing, by distributions that are installed on one of them alone, and by paths in it."""

from __future__ import annotations

import re

from envdoctor.adapters.probe.listing_parts import Listing

__all__ = ["platform_of_names", "platform_of_paths"]

_SIGNS = {
    "win32": frozenset(
        {"pywin32", "pywinpty", "pypiwin32", "pywin32-ctypes", "comtypes", "win32-setctime", "wmi", "triton-windows",
         "onnxruntime-directml"}
    ),
    "darwin": frozenset({"appnope", "pyobjc-core", "pyobjc", "mlx", "mlx-metal", "rumps"}),
    "linux": frozenset(
        {"triton", "pytorch-triton-rocm", "secretstorage", "jeepney", "nvidia-nccl-cu12", "nvidia-nccl-cu13",
         "nvidia-cufile", "nvidia-cufile-cu12", "vllm"}
    ),
}  # fmt: skip
"""Their wheels, or the markers on requirements that bring them, are for one system."""


def platform_of_names(listing: Listing) -> str | None:
    """Return the system as ``sys.platform`` says it, None where no name or names of several systems tell."""
    names = {item.name for item in listing.distributions}
    found = [platform for platform, signs in _SIGNS.items() if names & signs]
    return found[0] if len(found) == 1 else None


_PATHS = {
    "win32": re.compile(r"(?<![\w/])[A-Za-z]:\\|\bfile:///[A-Za-z]:/"),
    "darwin": re.compile(r"(?<![\w.:/\\])(?:file://)?/(?:Users|opt/homebrew)/"),
    "linux": re.compile(r"(?<![\w.:/\\])(?:file://)?/(?:home|root|mnt/[a-z])/"),
}
"""Folders that only one system has: in prompts, in conda's head line, in the places of editable installs."""


def platform_of_paths(text: str) -> str | None:
    """Return the system whose paths stand in ``text``, None where there are none or those of several systems."""
    found = [platform for platform, pattern in _PATHS.items() if pattern.search(text)]
    return found[0] if len(found) == 1 else None
