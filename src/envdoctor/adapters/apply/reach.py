"""What taking a fix back may touch: the environment, and the project that the person vouches for.

A journal lies in the environment, and an environment can come from anywhere, in an archive or a checkout. What it says
about files elsewhere counts only where somebody has named that place.
"""

from __future__ import annotations

import errno
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from envdoctor.adapters.apply.journal import JournalRecord
from envdoctor.adapters.apply.paths import fault_of_relative, inside
from envdoctor.adapters.apply.snapshot import load_listing
from envdoctor.shell_line import shell_line

__all__ = ["OutOfReach", "check_reach"]


class OutOfReach(OSError):
    """A journal that speaks of what it has no business with, or that makes no sense; nothing was changed."""

    def __init__(self, text: str) -> None:
        super().__init__(errno.EPERM, text)


def check_reach(environment: Path, record: JournalRecord, project: Path | None) -> None:
    """Look through a journal before anything is taken back. Raises OutOfReach.

    ``project``: the folder that the person has named. The folder that the environment lies in is taken for one, too.
    """
    if record.damage:
        raise OutOfReach(
            f"the journal of the fix `{record.id}` is damaged: {record.damage}. Its copies of files are in "
            f"`{record.folder / 'backups'}`, named by their SHA-256, and `{record.folder / 'before.json'}` lists what "
            f"the environment held. Take from there what you need, or make the environment anew; then remove "
            f"`{record.folder}`"
        )
    claimed = record.begin.get("project")
    folder = Path(claimed) if isinstance(claimed, str) and claimed else None
    vouched = folder is not None and any(
        inside(folder, known) and inside(known, folder) for known in (environment.parent, project) if known is not None
    )
    for event in record.of_kind("file-before"):
        _check_event(event, environment, folder, vouched=vouched)
    if record.of_kind("packages-begin"):
        try:
            names = [name for name in load_listing(record.folder / "before.json")[0] if fault_of_relative(name)]
        except (OSError, ValueError, TypeError, IndexError) as error:
            raise OutOfReach(f"`{record.folder / 'before.json'}` is damaged: {error}") from None
        if names:
            raise OutOfReach(f"the journal `{record.id}` speaks of `{names[0]}`, which is not in the environment")


def _check_event(event: Mapping[str, Any], environment: Path, project: Path | None, *, vouched: bool) -> None:
    real, digest, folders = event.get("real"), event.get("digest", 0), event.get("folders", [])
    whole = isinstance(real, str) and isinstance(folders, list) and {"root", "result"} <= event.keys()
    kept = digest is None or (
        _is_digest(digest) and all(isinstance(event.get(key), int) for key in ("mode", "mtime_ns"))
    )
    if not whole or not kept:
        raise OutOfReach("the journal is damaged: an entry of it makes no sense")
    for name in (str(real), *(str(folder) for folder in folders)):
        path = Path(name)
        if _holds(environment, path):
            continue
        if project is None or not _holds(project, path):
            raise OutOfReach(f"the journal speaks of `{name}`, which is neither in the environment nor in its project")
        if not vouched:
            option = shell_line(["--project", str(project)])
            raise OutOfReach(f"this fix has patched files of `{project}`; `{option}` takes them back, too")


def _holds(root: Path, path: Path) -> bool:
    return path.is_absolute() and ".." not in path.parts and inside(path.parent, root)


def _is_digest(value: object) -> bool:
    return isinstance(value, str) and len(value) == 64 and set(value) <= set("0123456789abcdef")
