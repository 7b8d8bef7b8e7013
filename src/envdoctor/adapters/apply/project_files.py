"""Writing files of a project under a journal, so that ``undo`` takes them back."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path

from envdoctor.adapters.apply.durable import shielded
from envdoctor.adapters.apply.holding import hold_environment
from envdoctor.adapters.apply.journal import Journal, own_folder, read_journal
from envdoctor.adapters.apply.paths import resolve_inside
from envdoctor.adapters.apply.restore import roll_back

__all__ = ["write_project_files"]


def write_project_files(
    project: Path,
    files: Mapping[str, bytes],
    summary: tuple[str, ...],
    *,
    say: Callable[[str], None],
    holds: Callable[[], bool],
) -> bool:
    """Write files of a project, relative to it; return whether they are written and ``holds`` says so.

    Where it does not, or anything is raised on the way, every file is as before. Raises OSError, Busy, PathEscape.
    """
    paths = {name: resolve_inside(project, name) for name in files}
    with hold_environment(project, wait_s=0, say=say):
        # What is kept here is for this machine: no repository takes it up.
        ignored = own_folder(project) / ".gitignore"
        if not ignored.exists():
            ignored.write_text("*\n", encoding="utf-8")
        journal = Journal.create(project, {"profile": None, "created": False, "summary": list(summary)})
        done = False
        try:
            for name, data in files.items():
                journal.write_file("repair", "project", name, paths[name], data, hashlib.sha256(data).hexdigest())
            done = holds()
            if done:
                journal.write("end")
        finally:
            journal.close()
            if not done:
                with shielded():
                    roll_back(project, read_journal(journal.folder), project)
    return done
