"""Many names as evidence: in rows, of which a page shows the first few."""

from __future__ import annotations

from collections.abc import Sequence

from envdoctor.model.finding import Evidence

__all__ = ["name_rows"]

_IN_A_ROW = 6


def name_rows(names: Sequence[str]) -> tuple[Evidence, ...]:
    """Return the names, a few to each piece of evidence, in their order."""
    return tuple(Evidence(", ".join(names[start : start + _IN_A_ROW])) for start in range(0, len(names), _IN_A_ROW))
