"""The environment variable that names a mirror of an index."""

from __future__ import annotations

import re

__all__ = ["mirror_variable"]


def mirror_variable(index: str) -> str:
    """Return ``ENVDOCTOR_INDEX_<NAME>`` for an index's name, as the index adapter reads it."""
    return "ENVDOCTOR_INDEX_" + re.sub(r"[^A-Za-z0-9]", "_", index).upper()
