"""Lines of metadata that only an extra asks for, told by their text: most lines of most projects are, and are not read.

A marker without ``or`` is a conjunction, and one part of it that does not hold settles it.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from packaging.utils import canonicalize_name

__all__ = ["may_count"]

_EXTRA = re.compile(r"""\bextra\s*==\s*['"]([^'"]*)['"]""")
_OR = re.compile(r"\bor\b")


def may_count(line: str, extras: Collection[str]) -> bool:
    """Return False where a line of ``Requires-Dist`` waits for an extra that is not among ``extras``."""
    marker = line.partition(";")[2]
    if "extra" not in marker or _OR.search(marker):
        return True
    return all(canonicalize_name(name) in extras for name in _EXTRA.findall(marker))
