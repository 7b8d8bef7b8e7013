"""Which distributions of an environment load which CUDA libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envdoctor.diagnose.binary_links import cuda_library, links_of, owner

if TYPE_CHECKING:
    from envdoctor.model.binary import Binary, BinaryInventory

__all__ = ["users_of"]


def users_of(inventory: BinaryInventory, family: str) -> dict[int, dict[str, Binary]]:
    """Return number of the library to the distributions whose importable parts need it, each with one binary.

    NVIDIA's own packages need each other's libraries; they are not users. A distribution that brings builds for several
    numbers loads one of them, nobody can tell from here which, and is left out.
    """
    found: dict[int, dict[str, Binary]] = {}
    for binary in links_of(inventory).importable():
        name = owner(binary)
        if name.startswith(("nvidia-", "cuda-toolkit")):
            continue
        for wanted in binary.needed:
            known = cuda_library(wanted)
            if known is not None and known[0] == family:
                found.setdefault(known[1], {}).setdefault(name, binary)
    several = {name for names in found.values() for name in names if sum(name in item for item in found.values()) > 1}
    return {
        number: kept
        for number, names in sorted(found.items())
        if (kept := {name: binary for name, binary in names.items() if name not in several})
    }
