"""Taking fixes back by their journals, and bringing back a whole state after one that was cut short."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from envdoctor.adapters.apply.journal import list_journals
from envdoctor.adapters.apply.restore import Restored, roll_back
from envdoctor.adapters.apply.shield import shielded

__all__ = ["recover", "take_back"]


def recover(environment: Path, project: Path | None = None) -> list[tuple[str, Restored]]:
    """Take back every fix that was cut short, newest first; return what was done. Raises OSError.

    ``project``: the folder whose files may be touched, see ``roll_back``.
    """
    records = [record for record in list_journals(environment) if record.state in ("open", "empty")]
    with shielded():
        return [(record.id, roll_back(environment, record, project)) for record in reversed(records)]


def take_back(environment: Path, ids: Iterable[str], project: Path | None = None) -> list[tuple[str, Restored]]:
    """Take back fixes in the order given. Raises OSError."""
    done = []
    for name in ids:
        record = next((item for item in list_journals(environment) if item.id == name), None)
        if record is not None:
            with shielded():
                done.append((name, roll_back(environment, record, project)))
    return done
