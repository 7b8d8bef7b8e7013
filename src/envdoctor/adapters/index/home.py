"""The user's folder, also where nobody can tell it."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["home_folder"]


def home_folder() -> Path:
    """Return the user's folder; of a user without a home and without an entry, one that can never be made."""
    try:
        return Path.home()
    except RuntimeError:
        return Path(os.devnull) / "home"
