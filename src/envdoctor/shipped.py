"""The data files that ship with the package."""

from __future__ import annotations

import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["advisories_folder", "data_file"]


@lru_cache(maxsize=1)
def advisories_folder() -> Path:
    """Return the folder of ``advisories/*.toml``: inside an installed package, or at the top of a checkout."""
    package = Path(__file__).resolve().parent
    packed = package / "data" / "advisories"
    return packed if packed.is_dir() else package.parents[1] / "advisories"


@lru_cache(maxsize=16)
def data_file(name: str) -> dict[str, Any]:
    """Return the contents of ``advisories/data/<name>.toml``."""
    with (advisories_folder() / "data" / f"{name}.toml").open("rb") as stream:
        return tomllib.load(stream)
