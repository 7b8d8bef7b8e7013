"""Requirements that cannot be installed together, where their demands clash, and what came out for a group of them."""

from __future__ import annotations

from packaging.utils import NormalizedName

from envdoctor.model.candidate import Rejection, RejectionKind
from envdoctor.model.dataclass import dataclass
from envdoctor.model.requirement import GroupName, Requirement
from envdoctor.model.unknown import Unknown

__all__ = ["Clash", "ClashSide", "Conflict", "GroupOutcome"]


@dataclass(frozen=True, slots=True)
class ClashSide:
    """One demand on the package where the chains of a conflict meet."""

    requirement: Requirement
    via: tuple[str, ...] = ()
    """Project names from the person's requirement down to the one that makes this demand; empty for their own line."""
    versions_considered: tuple[str, ...] = ()
    """Versions of the demanding project that all make such a demand."""


@dataclass(frozen=True, slots=True)
class Clash:
    """The package that a conflict's chains cannot agree on."""

    package: NormalizedName
    sides: tuple[ClashSide, ...]
    available: tuple[str, ...] = ()
    """Versions that the target could use, newest first, where a side asks for one that does not exist."""
    rejections: tuple[Rejection, ...] = ()
    """Files or versions that would have answered a side but cannot be used on the target, and why."""

    @property
    def is_nowhere(self) -> bool:
        """Whether no index has the project at all: that is no matter of the target."""
        return any(item.kind is RejectionKind.NOT_FOUND for item in self.rejections)


@dataclass(frozen=True, slots=True)
class Conflict:
    """A minimal set of requirements that people wrote: together impossible, possible when any one goes."""

    id: str
    core: tuple[Requirement, ...]
    clash: Clash
    python: str = ""
    """The nearest Python on which they hold together, where binaries are what keeps them apart; else empty."""
    environment: str = ""
    """Which of a profile's environments it is of, where there are several."""


@dataclass(frozen=True, slots=True)
class GroupOutcome:
    """What came out for a list that nobody asked for, judged with the main list or alone."""

    name: GroupName
    conflicts: tuple[Conflict, ...] = ()
    """Those that one of its own lines has a part in; empty where it holds, or where nothing is known."""
    elsewhere: str = ""
    """The first other target that it holds for, in words; empty where it holds for none that was tried."""
    without_file: tuple[str, ...] = ()
    """Projects of which none of the files that its hashes name can be used on the target, though others could."""
    lacks: tuple[Requirement, ...] = ()
    """Of a lock: what is asked for now, and what it does not have so."""
    unknown: Unknown | None = None
    """Why it was not judged; None where it was."""
