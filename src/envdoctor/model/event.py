"""What treating an environment, or taking that back, has to tell; ``render.treatment_text`` has the words."""

from __future__ import annotations

import enum

from envdoctor.model.dataclass import dataclass

__all__ = ["EventKind", "FixEntry", "TreatmentEvent"]


class EventKind(enum.Enum):
    """What there is to tell of a treatment, or of taking one back."""

    ELSEWHERE = enum.auto()
    """The plan is for another machine; ``detail``: how that differs from this one."""
    WAITING = enum.auto()
    """Somebody else treats the environment."""
    KERNELS_BEGIN = enum.auto()
    RECOVERED = enum.auto()
    """A fix was cut short, and the environment was put back as it was."""
    CUT_SHORT = enum.auto()
    """A fix was cut short and not taken back."""
    FIXED = enum.auto()
    AS_WANTED = enum.auto()
    AS_LOCKED = enum.auto()
    """The same where no profile is in use."""
    LEFT = enum.auto()
    """What somebody changed is not put back."""
    ACCEPTED = enum.auto()
    """An installer complains of what was set aside on purpose."""
    LAUNCHERS = enum.auto()
    IN_FORCE = enum.auto()
    """The fix had ended when it was interrupted."""
    RUNS_ON = enum.auto()
    RUNS_ON_BECAUSE = enum.auto()
    NO_KERNELS = enum.auto()
    NOT_SET_ANEW = enum.auto()
    """Kernels call for something else than is set, and nobody has agreed to that."""
    PLACED = enum.auto()
    SET = enum.auto()
    """Settings that kernels called for."""
    LIFTED = enum.auto()
    """A placement that is no longer needed."""
    PASSES_NOW = enum.auto()
    """The kernels of a component that a fix has placed elsewhere."""
    TO_BE_PLACED = enum.auto()
    NOT_PLACED = enum.auto()
    """What kernels called for was refused."""
    FAILED = enum.auto()
    PROBLEM = enum.auto()
    """What could not be put back."""
    PUT_BACK = enum.auto()
    NOT_PUT_BACK = enum.auto()
    """Not all of it."""
    TAKEN_BACK = enum.auto()
    KEPT = enum.auto()
    """A person's own later work, which was put aside."""
    REFUSED = enum.auto()
    """Nothing was changed."""
    BUSY = enum.auto()
    """Somebody else treats the environment, and has not ended in time."""
    CHANGED_SINCE = enum.auto()
    """The environment is not the one that the plan was made for."""
    HALF_DONE = enum.auto()
    """Something is left to be taken back."""
    HALF_DONE_FULL = enum.auto()
    """Something is left to be taken back, and there is no room for that."""
    HALF_TAKEN_BACK = enum.auto()


@dataclass(frozen=True, slots=True)
class TreatmentEvent:
    """One thing to tell a person, with what it is about."""

    kind: EventKind
    subject: str = ""
    """The environment, fix, component or file."""
    names: tuple[str, ...] = ()
    detail: str = ""
    """A device; else words of the system, of an installer or of a step: shown, never read."""
    because: tuple[str, ...] = ()
    output: tuple[str, ...] = ()
    """The end of what an installer wrote."""
    commands: tuple[str, ...] = ()
    """What can be typed."""
    steps: int = 0
    restored: int = 0
    """Files that are as they were."""
    removed: int = 0
    """Files that are gone."""
    environment_removed: bool = False


@dataclass(frozen=True, slots=True)
class FixEntry:
    """A fix as its journal tells it."""

    id: str
    state: str
    """``done``, ``open`` (cut short), ``undone``, ``damaged``."""
    time: str = ""
    profile: str | None = None
    summary: tuple[str, ...] = ()
    follows: str | None = None
    """The fix that this one completes (a placement after its kernels were run)."""
    group: str = ""
    """What the fixes of several environments by one command have in common."""
    project: str = ""
    """The folder of the project that it was made for; empty where an older journal does not say it."""
