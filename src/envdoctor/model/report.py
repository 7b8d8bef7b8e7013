"""What one run has found out, the exit code that it asks for, and how two reports or many differ."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Literal, TypeAlias

from envdoctor.model.dataclass import dataclass
from envdoctor.model.finding import Finding, Severity

if TYPE_CHECKING:
    from packaging.version import Version

    from envdoctor.model.conflict import Conflict, GroupOutcome
    from envdoctor.model.fact import Fact
    from envdoctor.model.kernel import KernelResult, Placement
    from envdoctor.model.project import FileLeftOut
    from envdoctor.model.repair import Repair
    from envdoctor.model.requirement import GroupName
    from envdoctor.model.resolution import Explanation, OtherWish, Resolution
    from envdoctor.model.target import Target
    from envdoctor.model.unknown import Unknown

__all__ = [
    "SCHEMA",
    "Change",
    "Deviation",
    "Explained",
    "FailOn",
    "FileRead",
    "Outlier",
    "Rank",
    "Report",
    "Scope",
    "Setting",
    "Verdict",
    "exit_code",
]

FailOn: TypeAlias = Literal["error", "warning", "never"]

_FAILS = 1
_COULD_NOT_CHECK = 3


def exit_code(report: Report, fail_on: FailOn = "error") -> int:
    """Return 1 where something fails, else 3 where not everything could be looked at, else 0.

    Usage errors (2) never get as far as a report.
    Fails: an open finding at or above ``fail_on``, requirements that cannot hold together with no repair in use,
    or a kernel that neither passed nor was skipped. ``never`` lets all of these pass, but not an incomplete look.
    """
    if fail_on != "never" and _fails(report, Severity(fail_on)):
        return _FAILS
    return 0 if report.complete else _COULD_NOT_CHECK


def _fails(report: Report, threshold: Severity) -> bool:
    if any(finding.severity.rank <= threshold.rank for finding in report.open_findings):
        return True
    if report.unresolved:
        return True
    return any(result.failed for result in report.kernels)


SCHEMA = "envdoctor.report/1"


class Verdict(enum.Enum):
    """The whole in one word."""

    HEALTHY = "healthy"
    DEGRADED = "degraded"
    """Warnings, or a placement moved work off the GPU."""
    BROKEN = "broken"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class FileRead:
    """A file that was read, and the form that it was read as."""

    path: str
    form: str


@dataclass(frozen=True, slots=True)
class Setting:
    """Something that was chosen, and who or what chose it."""

    name: str
    value: str
    origin: str


@dataclass(frozen=True, slots=True)
class Scope:
    """What a report speaks of; it says nothing of anything else."""

    read: tuple[FileRead, ...] = ()
    not_read: tuple[FileLeftOut, ...] = ()
    """Files that say what is needed, and that were seen and not read."""
    asked: tuple[GroupName, ...] = ()
    """Extras and groups that decide with the main list."""
    beside: tuple[GroupOutcome, ...] = ()
    """Lists that nobody asked for; they decide nothing."""
    environments: tuple[str, ...] = ()
    index_settings: tuple[Setting, ...] = ()
    upload_settings: tuple[Setting, ...] = ()
    """From when on files are too new: by ``package NAME`` or ``index NAME``, or for everything, without a name.
    Without a value all are admitted."""
    own_indexes: tuple[str, ...] = ()
    """Names of those that the project's own files name."""
    target_facts: tuple[Setting, ...] = ()
    root: str = ""
    """The folder that paths of the report are relative to; empty where no project was read."""


@dataclass(frozen=True, slots=True)
class Rank:
    """Which of a launcher's many processes a report is of."""

    host: str
    rank: int
    """Among all, from 0."""
    local_rank: int
    """Among those of the host, from 0: it takes the card of that number."""
    size: int
    """How many there are in all."""
    launcher: str


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a command."""

    command: str
    target: Target | None = None
    profile: str | None = None
    complete: bool = True
    """False when something could not be looked at (index unreachable, metadata missing, a probe timed out)."""
    unknowns: tuple[Unknown, ...] = ()
    """What an index or the search left open, each with its reason; a report that has any is not complete."""
    conflicts: tuple[Conflict, ...] = ()
    conflicts_truncated: bool = False
    repairs: tuple[Repair, ...] = ()
    resolution: Resolution | None = None
    findings: tuple[Finding, ...] = ()
    facts: tuple[Fact, ...] = ()
    kernels: tuple[KernelResult, ...] = ()
    placement: tuple[Placement, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict)
    """Seconds by phase: ``total_s``, ``index_s``, ``resolve_s``."""
    scope: Scope = Scope()
    """What was looked at."""
    next_command: str | None = None
    """The one command to type next."""
    next_elsewhere: str | None = None
    """The one to type on a machine of the target, where this is none and nothing is left to do here."""
    environment: str = ""
    """Which of a profile's environments this is about; empty where there is one, or where it is about all."""
    rank: Rank | None = None
    """None where no launcher has started the command."""
    parts: tuple[Report, ...] = ()
    """The reports of a profile's environments, where it has several; each has its own target and resolution."""

    @property
    def open_findings(self) -> tuple[Finding, ...]:
        """Findings that no waiver accepts."""
        return tuple(finding for finding in self.findings if finding.waived is None)

    @property
    def repairs_in_use(self) -> frozenset[str]:
        """The ids of the repairs with which the resolutions in use were made."""
        if self.parts:
            return frozenset(f"{part.environment}:{used}" for part in self.parts for used in part.repairs_in_use)
        used = self.resolution.repair if self.resolution else None
        return frozenset((used,) if used else ())

    @property
    def unresolved(self) -> bool:
        """Whether requirements cannot be installed together and no repair is in use, in any environment."""
        if self.parts:
            return any(part.unresolved for part in self.parts)
        return bool(self.conflicts) and self.resolution is None

    @property
    def verdict(self) -> Verdict:
        """``broken`` over ``unknown`` over ``degraded`` over ``healthy``."""
        severities = {finding.severity for finding in self.open_findings}
        if Severity.ERROR in severities or self.unresolved:
            return Verdict.BROKEN
        if not self.complete:
            return Verdict.UNKNOWN
        moved = any(item.device == "cpu" and item.because for item in self.placement)
        failed = any(result.failed for result in self.kernels)
        if Severity.WARNING in severities or moved or failed:
            return Verdict.DEGRADED
        return Verdict.HEALTHY


@dataclass(frozen=True, slots=True)
class Explained:
    """The answer; ``report`` holds the conflict where the topic is one."""

    report: Report
    explanation: Explanation | None = None
    others: tuple[OtherWish, ...] = ()
    not_of_its_index: tuple[Version, ...] = ()
    """Newer versions of the default index, newest first, where its files stand in for an index that is out of reach."""
    because: str = ""
    """Why another version was set aside, where a profile says it."""
    unknown_topic: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """One point in which the second differs from the first."""

    about: str
    """``package``, ``python``, ``fact``, ``finding``, ``conflict``, ``kernel``, ``verdict``, ``complete``, ``profile``,
    ``target`` or ``resolution``."""
    name: str
    before: str | None
    after: str | None
    matters: bool
    because: str = ""


@dataclass(frozen=True, slots=True)
class Deviation:
    """One point in which a report is not like most others."""

    about: str
    """As in ``Change``, or ``rate``."""
    name: str
    value: str | None
    """None: it has nothing there."""
    usual: str | None
    """What most have, or the median."""
    share: int
    """How many have the usual, or how many the median is of."""
    matters: bool


@dataclass(frozen=True, slots=True)
class Outlier:
    """A report and where it differs, what matters first."""

    report: str
    """Its file, by its path in the folder."""
    host: str | None
    rank: int | None
    verdict: str
    deviations: tuple[Deviation, ...]

    @property
    def weight(self) -> int:
        """How many deviations matter."""
        return sum(item.matters for item in self.deviations)
