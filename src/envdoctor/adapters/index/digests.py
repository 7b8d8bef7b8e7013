"""Whether bytes are the ones that an index lists."""

from __future__ import annotations

import hashlib

__all__ = ["matches"]


def matches(content: bytes, hashes: tuple[tuple[str, str], ...]) -> bool:
    """Return False where a listed hash differs; a file without hashes matches."""
    for name, digest in hashes:
        if name not in hashlib.algorithms_guaranteed:
            continue
        if hashlib.new(name, content, usedforsecurity=False).hexdigest() != digest.lower():
            return False
    return True
