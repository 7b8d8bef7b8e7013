"""Takes out of a text that will be shown to others where on this machine things lie, and whose they are."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from envdoctor.render import RenderOptions

__all__ = ["without_places"]

# A listing, a log or facts may come from another machine: home folders are known by their shape, too.
_HOMES = re.compile(
    r"(?<![\w.])(?:(?:/home|/Users)/[^/\s<>&\"']+|/root"
    # A name on Windows may have spaces; where no folder follows, it ends at the first.
    r"|[A-Za-z]:[\\/]+Users[\\/]+(?:[^\\/<>&\"':]+(?=[\\/])|[^\\/\s<>&\"':]+))(?=[\\/\s<,;:)&]|$)"
)


def without_places(text: str, options: RenderOptions) -> str:
    """Return HTML in which the project's folder is ``.``, every home folder ``~``, and no other place is private."""
    for place, instead in ((options.folder, "."), *options.private):
        written = escape(place.rstrip("/\\")) if place else ""
        if len(written) > 1:
            text = re.sub(rf"(?<![\w.]){re.escape(written)}(?=[\\/\s<,;:)&]|$)", instead, text)
    return _HOMES.sub("~", text)
