"""Releases whose wheels were built against NumPy 1 alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from packaging.version import Version

from envdoctor.diagnose.shipped import data_file

__all__ = ["NumpyOneBuilds", "built_for_numpy1"]


@dataclass(frozen=True, slots=True)
class NumpyOneBuilds:
    """Up to when the wheels of a project were built against NumPy 1."""

    last: Version
    """The last release of that kind."""
    first: Version
    """The first release after it, whose wheels load with NumPy 2."""


@lru_cache(maxsize=1)
def built_for_numpy1() -> dict[str, NumpyOneBuilds]:
    """Return the table of ``advisories/data/numpy-abi.toml``, by project."""
    rows = data_file("numpy-abi")["numpy1"]
    return {row["package"]: NumpyOneBuilds(Version(row["last"]), Version(row["first"])) for row in rows}
