"""What a target ends up with, why a package has its version there, and why another is not in it."""

from __future__ import annotations

import enum
from bisect import bisect_left
from operator import attrgetter

from packaging.utils import NormalizedName
from packaging.version import Version

from envdoctor.model.candidate import BuildRisk, DistributionFile, Rejection
from envdoctor.model.dataclass import dataclass
from envdoctor.model.origin import DistributionOrigin
from envdoctor.model.requirement import Requirement
from envdoctor.model.unknown import Unknown

__all__ = [
    "Absence",
    "AbsenceKind",
    "Explanation",
    "NewerVersion",
    "OtherWish",
    "Resolution",
    "ResolvedPackage",
    "Unmet",
    "WalkedBack",
]


@dataclass(frozen=True, slots=True)
class ResolvedPackage:
    """One package of a resolution."""

    name: NormalizedName
    version: Version
    file: DistributionFile
    """The file an installer would take on the target."""
    files: tuple[DistributionFile, ...]
    """All files of that version that the target may use, best first."""
    extras: frozenset[str] = frozenset()
    dependencies: tuple[Requirement, ...] = ()
    """What its metadata (and couplings) ask for on this target; origin is the distribution."""
    wanted_by: tuple[Requirement, ...] = ()
    """Every requirement in force on it, of people and of distributions."""
    set_aside: tuple[Requirement, ...] = ()
    """Requirements on it that an override set aside."""
    build_risk: BuildRisk | None = None
    """Graded only where ``file`` is an sdist."""
    mended: tuple[str, ...] = ()
    """Invalid legacy metadata lines that were read as pip used to."""

    @property
    def overruled(self) -> frozenset[str]:
        """Distributions whose demands on it an override sets aside."""
        return frozenset(item.origin.name for item in self.set_aside if isinstance(item.origin, DistributionOrigin))


@dataclass(frozen=True, slots=True)
class WalkedBack:
    """A package that had to go far back in time, and who forced it."""

    name: NormalizedName
    version: Version
    newest: Version
    """The newest version the target could have had."""
    forced_by: tuple[Requirement, ...]


_BY_NAME = attrgetter("name")


@dataclass(frozen=True, slots=True)
class Resolution:
    """A consistent set of packages for one target."""

    packages: tuple[ResolvedPackage, ...]
    """Sorted by name."""
    repair: str | None = None
    """Id of the repair in use, None where the requirements held as they stand."""
    walked_back: tuple[WalkedBack, ...] = ()

    def get(self, name: str) -> ResolvedPackage | None:
        """Return the package called ``name`` (normalised), or None."""
        place = bisect_left(self.packages, name, key=_BY_NAME)
        found = self.packages[place] if place < len(self.packages) else None
        return found if found is not None and found.name == name else None


@dataclass(frozen=True, slots=True)
class Unmet:
    """Something that a version asks for and the resolution does not have."""

    requirement: Requirement
    there: Version | None
    """The version that the resolution has of it; None where the target can have none that would do."""
    held_by: tuple[Requirement, ...] = ()
    """Who asks for that version and admits none that would do."""
    unread: Unknown | None = None
    """Why no version that would do could be read, where that is what is in the way."""


@dataclass(frozen=True, slots=True)
class NewerVersion:
    """A version newer than the one in use, and why it is not in use."""

    version: Version
    excluded_by: tuple[Requirement, ...] = ()
    """Requirements in force that do not admit it."""
    unmet: tuple[Unmet, ...] = ()
    """Only where its metadata has been read."""
    rejections: tuple[Rejection, ...] = ()
    """Why the target cannot use it, or must not without being told to: yanked, too new, no file, no metadata."""
    prerelease: bool = False
    """A pre-release that nobody asks for by name."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """All that is known of one package in a resolution."""

    name: NormalizedName
    package: ResolvedPackage | None
    """None where the resolution does not have it."""
    absence: Absence | None = None
    """Why it does not, where somebody speaks of it."""
    chains: tuple[tuple[str, ...], ...] = ()
    """From a person's requirement down to the package, shortest first, one per person's requirement that leads here."""
    newer: tuple[NewerVersion, ...] = ()
    """Newest first."""
    older: int = 0
    """How many older versions the target could use."""


class AbsenceKind(enum.Enum):
    """Who, or what, leaves a package out."""

    PROFILE = "profile"
    REPAIR = "repair"
    NO_SUCH_PROJECT = "no-such-project"
    """A repair leaves it out because no index has it."""
    NO_FILE = "no-file"
    """A repair leaves it out because the target can use no version."""
    OTHER_TARGETS = "other-targets"
    """The lines that ask for it are for other targets."""
    UNKNOWN = "unknown"
    """A direct reference, or a page that could not be read: nothing is known of it."""


@dataclass(frozen=True, slots=True)
class Absence:
    """The reason, in the words of the profile where it gives one, and who asks for the package."""

    kind: AbsenceKind
    because: str = ""
    asked_by: tuple[Requirement, ...] = ()
    unknown: Unknown | None = None
    """Why nothing is known of it, where that is so."""


@dataclass(frozen=True, slots=True)
class OtherWish:
    """A demand for another version, by something that the repair in use has moved."""

    requirement: Requirement
    """The demand, of a distribution's metadata."""
    set_aside: Requirement
    """The pin that would have brought that distribution."""
