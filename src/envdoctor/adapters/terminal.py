"""What the terminal behind standard output can show."""

from __future__ import annotations

import os
import sys

__all__ = ["follows_links", "speaks_unicode", "wants_colour"]

_FOLLOWS_NO_LINKS = ("dumb", "linux", "unknown")


def wants_colour(asked: str) -> bool:
    """Return whether colours are shown: on a terminal, unless ``NO_COLOR`` is set; elsewhere where ``FORCE_COLOR`` is.

    Source: https://no-color.org and https://force-color.org; a variable that is set to nothing counts as not set, and
    what is typed (``asked``: ``auto``, ``always`` or ``never``) outweighs both.
    """
    if asked != "auto":
        return asked == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def follows_links() -> bool:
    """Return whether the terminal takes links (OSC 8): most show the text alone where they do not know them.

    ``FORCE_HYPERLINK`` decides where it is set, as for other programs.
    """
    forced = os.environ.get("FORCE_HYPERLINK")
    if forced:
        return forced != "0"
    if not sys.stdout.isatty() or os.environ.get("TERM", "").partition("-")[0] in _FOLLOWS_NO_LINKS:
        return False
    if os.name == "nt":
        return "WT_SESSION" in os.environ or "TERM_PROGRAM" in os.environ
    return os.environ.get("TERM_PROGRAM") != "Apple_Terminal"


def speaks_unicode() -> bool:
    """Return whether standard output takes every character."""
    encoding = (getattr(sys.stdout, "encoding", None) or "ascii").lower().replace("-", "")
    return encoding.startswith("utf")
