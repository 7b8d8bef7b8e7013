"""What a target ends up with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from packaging.utils import NormalizedName
    from packaging.version import Version

    from envdoctor.model.candidate import BuildRisk, DistributionFile
    from envdoctor.model.requirement import Requirement

__all__ = ["Resolution", "ResolvedPackage", "Unmet", "WalkedBack"]


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


@dataclass(frozen=True, slots=True)
class WalkedBack:
    """A package that had to go far back in time, and who forced it."""

    name: NormalizedName
    version: Version
    newest: Version
    """The newest version the target could have had."""
    forced_by: tuple[Requirement, ...]


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
        for package in self.packages:
            if package.name == name:
                return package
        return None


@dataclass(frozen=True, slots=True)
class Unmet:
    """Something that a version asks for and the resolution does not have."""

    requirement: Requirement
    there: Version | None
    """The version that the resolution has of it; None where the target can have none that would do."""
    held_by: tuple[Requirement, ...] = ()
    """Who asks for that version and admits none that would do."""
