"""Distributions that the operating system's package manager keeps, and not an installer of Python's."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from envdoctor.model.environment import InstalledDistribution

__all__ = ["of_the_system"]


def of_the_system(distribution: InstalledDistribution) -> bool:
    """Return whether the system keeps it: Debian's folder for its own packages, or what rpm wrote as the installer."""
    if distribution.installer in ("rpm", "debian", "apt"):
        return True
    debian = distribution.location.endswith("dist-packages") and "/local/" not in distribution.location
    return debian and distribution.installer not in ("pip", "uv")
