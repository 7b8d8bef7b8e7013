"""``undo``: which fixes to take back, and in which order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["FixEntry", "NothingToUndo", "to_take_back"]


@dataclass(frozen=True, slots=True)
class FixEntry:
    """A fix as its journal tells it."""

    id: str
    state: str
    """``done``, ``open`` (cut short), ``undone``."""
    time: str = ""
    profile: str | None = None
    summary: tuple[str, ...] = ()
    follows: str | None = None
    """The fix that this one completes (a placement after its kernels were run)."""


class NothingToUndo(Exception):
    """No fix is there to take back; the text says what there is."""


def to_take_back(entries: Sequence[FixEntry], chosen: str | None = None) -> tuple[str, ...]:
    """Return the ids of fixes to take back, newest first. Raises NothingToUndo.

    What was cut short always goes. Without a choice the last fix goes, with what completes it; a chosen one goes with
    every later one, because they were made on top of it.
    """
    standing = [entry for entry in entries if entry.state in ("done", "open")]
    if chosen is not None:
        matches = [entry for entry in entries if entry.id == chosen or entry.id.startswith(chosen)]
        if not matches:
            known = ", ".join(entry.id for entry in standing) or "none"
            raise NothingToUndo(f"there is no fix `{chosen}` here; fixes: {known}")
        if matches[0].state == "undone":
            raise NothingToUndo(f"`{matches[0].id}` was taken back already")
        return tuple(entry.id for entry in reversed(standing) if entry.id >= matches[0].id)
    if not standing:
        raise NothingToUndo("there is no fix to take back here")
    open_ones = [entry.id for entry in standing if entry.state == "open"]
    if open_ones:
        return tuple(entry.id for entry in reversed(standing) if entry.id >= open_ones[0])
    last = standing[-1]
    first = last.follows or last.id
    return tuple(entry.id for entry in reversed(standing) if entry.id >= first)
