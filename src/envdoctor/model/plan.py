"""What ``fix`` will do, as a value: the dry run prints the very object that is applied."""

from __future__ import annotations

from typing import Literal

from envdoctor.model.dataclass import dataclass
from envdoctor.model.finding import Finding
from envdoctor.model.refusal import Refusal
from envdoctor.model.repair import Repair
from envdoctor.model.step import DownloadFiles, PatchFile, PatchLater, RemoveFile, Step, WriteRecord, WriteVariables

__all__ = [
    "PatchPreview",
    "PatchState",
    "Plan",
    "StepOutcome",
]


@dataclass(frozen=True, slots=True)
class PatchState:
    """How a patch stands to the project's files as they are."""

    name: str
    files: tuple[str, ...]
    """Those that it would touch; as the profile names them where none is there."""
    state: Literal["fits", "applied", "misfit", "absent", "optional"]
    """``optional``: it may miss its place, and does."""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """An ordered list of steps against one environment."""

    steps: tuple[Step, ...]
    environment: str
    """The environment's folder."""
    project: str = ""
    profile: str | None = None
    lock_digest: str = ""
    """SHA-256 of the lock's text."""
    before_digest: str | None = None
    """Digest of the environment as it was looked at; None where there is none yet."""
    download_bytes: int = 0
    disk_bytes: int = 0
    """What the treatment needs at its peak: downloads, installed files, backups."""
    disk_free: int | None = None
    refusals: tuple[Refusal, ...] = ()
    skipped: tuple[str, ...] = ()
    """What an ``optional`` patch or a condition left out, and why."""
    notes: tuple[str, ...] = ()
    known_errors: tuple[Finding, ...] = ()
    """What is known to fail once all steps are done: findings at error level that nobody has accepted."""
    repair: Repair | None = None
    """The repair that what is installed was locked with."""
    label: str = ""
    """Name of the environment within a profile that has several."""
    group: str = ""
    """The same for all environments that one `fix` has treated; an undo takes them back together."""
    follows: str | None = None
    """The fix that this one completes, once kernels have said where components run; an undo takes both back."""

    @property
    def changes(self) -> bool:
        """Whether applying it would change anything but records."""
        return any(not isinstance(step, WriteRecord | WriteVariables | DownloadFiles) for step in self.steps)


@dataclass(frozen=True, slots=True)
class PatchPreview:
    """What patches would do to the files as they are; the steps' ids are empty."""

    steps: tuple[PatchFile | RemoveFile | PatchLater, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    skipped: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    """Files that are as the patches want them already."""


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """How one step ended."""

    step: str
    status: str
    """``done``, ``unchanged``, ``failed`` or ``not-run``."""
    seconds: float = 0.0
    detail: str = ""
    output: str = ""
    """The end of what an installer wrote."""
