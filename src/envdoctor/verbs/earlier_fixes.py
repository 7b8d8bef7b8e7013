"""What earlier fixes have left in an environment, and the command that takes the last one back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from envdoctor.model.event import EventKind, TreatmentEvent
from envdoctor.ports import UsageError
from envdoctor.shell_line import shell_line
from envdoctor.verbs.environment_places import default_environment

__all__ = ["WAIT_S", "Say", "is_cut_short", "recover_cut_short", "refuse_damaged", "undo_command", "waiting"]

Say: TypeAlias = Callable[[TreatmentEvent], None]
"""Tells the person who waits, at once."""
WAIT_S = 60.0
"""Seconds to wait for whoever else treats an environment."""


def waiting(say: Say) -> Callable[[str], None]:
    """Return what tells that somebody else treats the environment."""
    return lambda text: say(TreatmentEvent(EventKind.WAITING, detail=text))


def is_cut_short(environment: Path) -> bool:
    """Return whether a fix was begun here and neither ended nor taken back."""
    from envdoctor.adapters.apply.journal import list_journals

    return any(record.state in ("open", "empty") for record in list_journals(environment))


def refuse_damaged(environment: Path, project: Path) -> None:
    """Raise UsageError where a journal is damaged: what a fix finds there is not what any of ours has left."""
    from envdoctor.adapters.apply.journal import list_journals
    from envdoctor.adapters.apply.reach import OutOfReach, check_reach

    for record in list_journals(environment):
        if record.state == "damaged":
            try:
                check_reach(environment, record, project)
            except OutOfReach as error:
                raise UsageError(str(error.strerror)) from error


def recover_cut_short(environment: Path, project: Path, say: Say) -> None:
    """Put an environment back as it was before a fix that was cut short. Raises UsageError."""
    from envdoctor.adapters.apply.holding import hold_environment
    from envdoctor.adapters.apply.lock_file import Busy
    from envdoctor.adapters.apply.reach import OutOfReach
    from envdoctor.adapters.apply.restore import recover

    try:
        with hold_environment(environment, wait_s=WAIT_S, say=waiting(say)):
            for name, restored in recover(environment, project):
                say(TreatmentEvent(EventKind.RECOVERED, name))
                for problem in restored.problems:
                    say(TreatmentEvent(EventKind.PROBLEM, detail=problem))
    except (Busy, OutOfReach) as error:
        raise UsageError(str(getattr(error, "strerror", None) or error)) from error


def undo_command(environment: Path, project: Path) -> str:
    """Return the command that takes the last fix of an environment back, as it can be typed here."""
    words = ["envdoctor", "undo"]
    if environment != default_environment(Path.cwd()):
        words += ["--env", str(environment)]
    if environment.parent != project:
        words += ["--project", str(project)]
    return shell_line(words)
