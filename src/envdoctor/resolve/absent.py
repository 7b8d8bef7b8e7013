"""Why a resolution does not have a package that somebody speaks of."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from packaging.utils import NormalizedName, canonicalize_name

from envdoctor.model.repair import Repair
from envdoctor.model.requirement import Requirement
from envdoctor.resolve.universe import Universe

__all__ = ["Absence", "AbsenceKind", "absence"]


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


def absence(universe: Universe, repair: Repair | None, name: str) -> Absence | None:
    """Return why a project is not there with the repair in use, None where nobody has heard of it."""
    project = canonicalize_name(name)
    override = next((o for o in repair.overrides if o.requirement.name == project), None) if repair else None
    asked = override.sets_aside if override else ()
    exclusion = next((item for item in universe.problem.exclusions if item.name == project), None)
    if exclusion is not None:
        return Absence(AbsenceKind.PROFILE, exclusion.because, asked)
    if override is not None:
        return Absence(_kind(universe, project, by_profile=override.from_profile), override.because, asked)
    written = tuple(line for line in universe.problem.requirements if line.name == project)
    if project in universe.unknown:
        reason = next((text for text in universe.incomplete if text.startswith(f"`{project}`: ")), "")
        return Absence(AbsenceKind.UNKNOWN, reason.partition(": ")[2], written)
    if written and not any(universe.counts(line) for line in written):
        return Absence(AbsenceKind.OTHER_TARGETS, "", written)
    return None


def _kind(universe: Universe, project: NormalizedName, *, by_profile: bool) -> AbsenceKind:
    if by_profile:
        return AbsenceKind.PROFILE
    if project in universe.missing:
        return AbsenceKind.NO_SUCH_PROJECT
    return AbsenceKind.NO_FILE if not universe.candidates(project).all else AbsenceKind.REPAIR
