"""A requirement replaced on purpose: the same from a profile to the resolution, into a lock and back, and to a fix."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import field, replace

from packaging.utils import NormalizedName

from envdoctor.model.dataclass import dataclass
from envdoctor.model.requirement import Requirement

__all__ = ["NOWHERE", "PROJECT", "Override", "OverrideSource", "nothing_instead"]

NOWHERE = 'python_version < "0"'
"""The marker of an override that leaves a project out; no target meets it. uv's overrides say it so, too."""
PROJECT = "project"
"""The author of what people write: lines of the project's files, of a profile and of the command line."""


class OverrideSource(enum.Enum):
    """Who asks for an override."""

    PROFILE = "profile"
    """It goes when the profile no longer asks for it."""
    PROJECT = "project"
    """``[tool.uv] override-dependencies``; it goes when the project no longer asks for it."""
    LOCK = "lock"
    """A lock recorded it: a person took it before."""
    SEARCH = "search"
    """envdoctor found it."""


@dataclass(frozen=True, slots=True)
class Override:
    """One requirement that holds instead of what others ask for."""

    requirement: Requirement
    """What holds instead, such as ``torch==2.4.1``; with the marker ``NOWHERE``, nothing."""
    sets_aside: tuple[Requirement, ...] = ()
    """The requirements that no longer count; known once it is resolved."""
    because: str = ""
    """The reason that a profile gives, or what is known of the version that would have come; else empty."""
    source: OverrideSource = OverrideSource.SEARCH
    replaces: tuple[str, ...] = ()
    """Whose demands are set aside: ``project``, or names of distributions; empty for everybody's."""
    evidence: str = ""
    index: str = field(default="", compare=False)
    """Name of the index that has what holds instead; empty where it is not resolved."""
    instead: Requirement | None = None
    """Of a project that is left out: another distribution with its module, which is asked for in its place."""

    @property
    def name(self) -> NormalizedName:
        """The project it speaks of."""
        return self.requirement.name

    @property
    def from_profile(self) -> bool:
        """Whether a profile asks for it."""
        return self.source is OverrideSource.PROFILE

    @property
    def leaves_out(self) -> bool:
        """Whether nothing holds instead: the project is not installed at all."""
        return str(self.requirement.marker or "") == NOWHERE

    def replaces_demand_of(self, author: str) -> bool:
        """Return whether what a distribution, or ``project``, asks of the project does not count."""
        return not self.replaces or author in self.replaces

    def resolved(self, requirement: Requirement, sets_aside: Iterable[Requirement]) -> Override:
        """Return the override with what came out: the version that holds, and the demands it really sets aside."""
        aside = tuple(sets_aside)
        return replace(self, requirement=requirement, sets_aside=aside, replaces=authors_of(aside))


def authors_of(requirements: Iterable[Requirement]) -> tuple[str, ...]:
    """Return who asks: ``project``, or the distribution whose metadata it is; sorted."""
    return tuple(sorted({item.asked_by or PROJECT for item in requirements}))


def nothing_instead(asked: Requirement) -> Requirement:
    """Return what stands in place of a requirement that is left out."""
    from packaging.markers import Marker

    return Requirement(asked.name, asked.origin, extras=asked.extras, marker=Marker(NOWHERE))
