"""The user's folders."""

from __future__ import annotations

import os
import sys

__all__ = ["cache_folder", "home"]


def home() -> str:
    """Return the user's folder; of a user without a home and without an entry, one that can never be made."""
    found = os.path.expanduser("~")  # noqa: PTH111 - pathlib raises where there is none
    return f"{os.devnull}/home" if found == "~" else found


def cache_folder() -> str:
    """Return the user's cache folder for envdoctor: ``ENVDOCTOR_CACHE_DIR``, else the platform's custom.

    Of somebody without a home it is one that cannot be made: whoever keeps things there then does without.
    """
    named = os.environ.get("ENVDOCTOR_CACHE_DIR")
    if named:
        return named
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA") or f"{home()}\\AppData\\Local"
        return f"{local}\\envdoctor\\Cache"
    if sys.platform == "darwin":
        return f"{home()}/Library/Caches/envdoctor"
    return f"{os.environ.get('XDG_CACHE_HOME') or f'{home()}/.cache'}/envdoctor"
