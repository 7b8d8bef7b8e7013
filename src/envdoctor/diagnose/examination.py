"""What the rules look at."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field
from typing import TYPE_CHECKING, Protocol

from envdoctor.model.dataclass import dataclass
from envdoctor.model.fact import Facts

if TYPE_CHECKING:
    from envdoctor.diagnose.demand import Demands
    from envdoctor.diagnose.torch_choice import TorchChoice
    from envdoctor.model.binary import BinaryInventory
    from envdoctor.model.candidate import Rejection
    from envdoctor.model.conflict import Conflict, GroupOutcome
    from envdoctor.model.environment import InstalledEnvironment
    from envdoctor.model.plan import PatchState
    from envdoctor.model.profile import Profile
    from envdoctor.model.project import Project, SourceFile
    from envdoctor.model.repair import Repair
    from envdoctor.model.requirement import Requirement
    from envdoctor.model.resolution import Resolution
    from envdoctor.model.target import Target, TargetProperty
    from envdoctor.model.unknown import Unknown
    from envdoctor.ports import ArchiveReader, Index

__all__ = ["Examination", "Sources"]


class Sources(Protocol):
    """The text files of a project checkout, read on demand."""

    def python_files(self) -> Iterator[SourceFile]:
        """Yield the project's Python files; environments, caches and vendored site-packages are left out."""
        ...

    def read(self, path: str) -> SourceFile | None:
        """Return one file by its path relative to the root, None where it is not there or not text."""
        ...

    def glob(self, pattern: str) -> Iterator[str]:
        """Yield relative paths of files that match; nothing outside the root."""
        ...


@dataclass(frozen=True, slots=True)
class Examination:
    """Everything that may be known when rules run; a rule says what it needs and stays silent without it."""

    target: Target | None = None
    profile: Profile | None = None
    project: Project | None = None
    sources: Sources | None = None
    conflicts: tuple[Conflict, ...] = ()
    repairs: tuple[Repair, ...] = ()
    resolution: Resolution | None = None
    rejections: tuple[Rejection, ...] = ()
    unknowns: tuple[Unknown, ...] = ()
    """What the resolver could not look at."""
    by_lock: tuple[str, ...] = ()
    """Projects that could not be looked at, where the lock alone shows that the requirements hold."""
    strict_core: tuple[str, ...] = ()
    """Requirement lines that cannot hold together for a tool that refuses versions with invalid metadata (pip 24.1)."""
    override_failure: tuple[Requirement, ...] = ()
    """Requirements that cannot be installed together even with the overrides of the profile and the lock."""
    groups: tuple[GroupOutcome, ...] = ()
    """What came out for extras, groups and files that nobody asked for."""
    environment: InstalledEnvironment | None = None
    demands: Callable[[], Demands] | None = None
    """Reads what the installed distributions ask of each other; None: each rule does so itself."""
    binaries: BinaryInventory | None = None
    """The libraries of the environment, read and not loaded."""
    facts: Facts = field(default_factory=Facts)
    index: Index | None = None
    archives: ArchiveReader | None = None
    torch: TorchChoice | None = None
    """The ways to a torch for the card, where the card chose the backend."""
    log: str | None = None
    """Text of an install log or traceback."""
    assumed: frozenset[TargetProperty] = frozenset()
    """What of the target was neither typed nor measured, so that this machine's own stands for it; it proves nothing.
    """
    not_read: tuple[Unknown, ...] = ()
    """What is wrong with pastes that were not understood, where others were."""
    patches: tuple[PatchState, ...] = ()
    """How the profile's patches of the project stand to its files."""
    accepted: bool = False
    """A lock was written with the profile: what is told before one takes it is not repeated."""
