"""The operating system of a listing, by distributions that are installed on one of them alone."""

from __future__ import annotations

from envdoctor.adapters.probe.listing_parts import Listing

__all__ = ["platform_of_names"]

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
