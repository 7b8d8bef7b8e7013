"""Where shipped profiles are, and what they are called; none is read as one for it."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

import envdoctor

__all__ = ["abstract_names", "shipped_folder", "shipped_names", "shipped_path"]

_ABSTRACT = re.compile(r"^abstract\s*=\s*true\b", re.MULTILINE)


@lru_cache(maxsize=1)
def shipped_folder() -> Path:
    """Return the folder of shipped profiles: beside the package in a wheel, at the top of a checkout otherwise."""
    package = Path(envdoctor.__file__).resolve().parent
    installed = package / "data" / "profiles"
    return installed if installed.is_dir() else package.parent.parent / "profiles"


def shipped_names() -> list[str]:
    """Return the names of all shipped profiles, abstract ones too, sorted."""
    folder = shipped_folder()
    return sorted(path.stem for path in folder.glob("*.toml")) if folder.is_dir() else []


def shipped_path(name: str) -> Path | None:
    """Return the file of a shipped profile, None where there is none of that name."""
    return shipped_folder() / f"{name}.toml" if name in shipped_names() else None


def abstract_names() -> frozenset[str]:
    """Return the names of shipped profiles that are only bases: those whose file says ``abstract = true``."""
    folder = shipped_folder()
    return frozenset(
        name for name in shipped_names() if _ABSTRACT.search((folder / f"{name}.toml").read_text(encoding="utf-8"))
    )
