"""What a person may have meant by a name that no index has."""

from __future__ import annotations

import difflib
from functools import lru_cache

from packaging.utils import canonicalize_name

from envdoctor.diagnose.shipped import data_file

__all__ = ["meant_by"]

_ALIKE = 0.84
"""How alike two names must be, as difflib rates it: one wrong, missing or doubled letter in six."""
_MOST = 2
"""Other names have at most so many projects; of names that are merely alike, the likeliest is asked about alone."""


@lru_cache(maxsize=1)
def _other_names() -> dict[str, tuple[str, ...]]:
    """Return the names of modules and the like, with the projects that are meant by them."""
    modules = {canonicalize_name(name): tuple(of) for name, of in data_file("import-names")["modules"].items()}
    return modules | {name: tuple(of) for name, of in data_file("known-names")["meant"].items()}


def meant_by(name: str) -> tuple[str, ...]:
    """Return well-known projects that ``name`` (normalised) may have been written for, the likeliest first."""
    others = [item for item in _other_names().get(name, ()) if item != name]
    if others:
        return tuple(others[:_MOST])
    known: list[str] = data_file("known-names")["names"]["known"]
    return tuple(item for item in difflib.get_close_matches(name, known, 1, _ALIKE) if item != name)
