"""What ``check`` is asked to look at, and what came out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from envdoctor.diagnose.examination import Sources
from envdoctor.model.dataclass import dataclass
from envdoctor.model.fact import Facts
from envdoctor.model.project import GroupChoice, Project
from envdoctor.model.report import Scope
from envdoctor.resolve.diagnosis import Diagnosis
from envdoctor.verbs.settings import Settings

if TYPE_CHECKING:
    from packaging.utils import NormalizedName

    from envdoctor.diagnose.advisories.advisory import Advisory
    from envdoctor.diagnose.torch_ways import TorchChoice
    from envdoctor.lock.locked_way import LockedWay
    from envdoctor.lock.pylock_reader import LockedProject
    from envdoctor.model.binary import BinaryInventory
    from envdoctor.model.candidate import BuildRisk, DistributionFile
    from envdoctor.model.conflict import GroupOutcome
    from envdoctor.model.environment import InstalledEnvironment
    from envdoctor.model.finding import Finding
    from envdoctor.model.plan import PatchState
    from envdoctor.model.profile import Profile
    from envdoctor.model.target import Target
    from envdoctor.model.unknown import Unknown
    from envdoctor.ports import ArchiveReader, Index, Progress

__all__ = ["CheckRequest", "Diagnosed"]


@dataclass(frozen=True, slots=True)
class CheckRequest:
    """Everything that ``check`` may look at; what is None is not looked at."""

    target: Target
    today: date
    python_choices: tuple[tuple[int, int], ...] = ()
    """Interpreters to try, best first; empty: the target's own."""
    project: Project | None = None
    sources: Sources | None = None
    profile: Profile | None = None
    settings: Settings = Settings()
    locked: LockedProject | None = None
    lock_folder: Path | None = None
    """Where a lock is written; None: the project's folder."""
    index: Index | None = None
    archives: ArchiveReader | None = None
    plain_index: Index | None = None
    """The index without the profile's bound indexes; None: the same."""
    plain_archives: ArchiveReader | None = None
    build_risk: Callable[[DistributionFile], BuildRisk] | None = None
    environment: InstalledEnvironment | None = None
    binaries: BinaryInventory | None = None
    facts: Facts = Facts()
    log: str | None = None
    not_read: tuple[Unknown, ...] = ()
    """What is wrong with pastes that were not understood."""
    patches: tuple[PatchState, ...] = ()
    """How the profile's patches of the project stand to its files."""
    unreachable: Callable[[], Sequence[Unknown]] = tuple
    """Tells, afterwards, which indexes did not answer."""
    further: tuple[Advisory, ...] = ()
    """Advisories of others' files."""
    torch: TorchChoice | None = None
    """The ways to a torch for the card, where the card chose the backend."""
    way: LockedWay | None = None
    """The index of the torch that the card gets, chosen now or when the lock on disk was made."""
    progress: Progress | None = None
    upgrade: frozenset[str] = frozenset()
    offline: bool = False
    """No index may be asked: where the cache does not know, the lock may speak."""
    scope: Scope = Scope()
    """What is looked at, and who named it."""
    groups: GroupChoice = GroupChoice()
    """The lists that were asked for beside the main one; a lock of them is no lock of the main list."""
    part: str = ""
    """Which of the profile's environments this is about, where it has several."""

    def lock_for(self, target: Target) -> LockedProject | None:
        """Return the lock where it was made for the target; of another one's, the versions alone are of use."""
        return self.locked if self.locked is not None and self.locked.is_for(target) else None

    def names(self) -> Iterator[NormalizedName]:
        """Yield the projects that the lock and the project's lines speak of."""
        if self.locked is not None:
            yield from self.locked.versions
            yield from (override.name for override in self.locked.overrides)
        if self.project is not None:
            yield from (requirement.name for requirement in self.project.requirements)


@dataclass(frozen=True, slots=True)
class Diagnosed:
    """The diagnosis of a project with what the rules said of it."""

    target: Target
    diagnosis: Diagnosis | None
    findings: tuple[Finding, ...]
    timings: Mapping[str, float]
    """Seconds by phase, as the report has them."""
    by_lock: tuple[NormalizedName, ...] = ()
    """Projects that could not be read, where the lock alone was asked; the diagnosis is empty then."""
    groups: tuple[GroupOutcome, ...] = ()
    """What came out for the lists that nobody asked for."""
