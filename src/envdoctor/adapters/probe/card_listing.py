"""The cards that one source lists, and why there may be more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["CardListing"]


@dataclass(frozen=True, slots=True)
class CardListing:
    """What one vendor's sources say."""

    cards: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    """Each card with the source that told."""
    uncounted: str | None = None
    """Why it is not known whether there are cards, or more of them; None where all that there are have been listed."""
