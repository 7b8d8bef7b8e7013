"""Why something cannot be locked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envdoctor.model.refusal import LockFault

if TYPE_CHECKING:
    from envdoctor.model.candidate import DistributionFile
    from envdoctor.model.resolution import Resolution

__all__ = ["faults", "safe_hashes"]

_SAFE = ("sha256", "sha384", "sha512")


def faults(resolution: Resolution) -> tuple[LockFault, ...]:
    """Return every package that a lock could not pin: no hash, or a file that only stands in for another's."""
    found = []
    for package in resolution.packages:
        if package.file.stand_in:
            index = package.file.index
            reason = f"its index `{index}` could not be reached, so the hash of its file is not known"
            found.append(LockFault(package.name, reason, index=index))
        elif not safe_hashes(package.file):
            found.append(
                LockFault(package.name, f"`{package.file.filename}` has no hash on index `{package.file.index}`")
            )
    return tuple(found)


def safe_hashes(file: DistributionFile) -> dict[str, str]:
    """Return the digests that installers check; MD5 and SHA-1 prove nothing and are left out."""
    return {name: digest for name, digest in file.hashes if name in _SAFE}
