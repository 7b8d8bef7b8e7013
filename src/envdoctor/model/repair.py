"""The smallest set of overrides after which a target resolves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from packaging.utils import NormalizedName

    from envdoctor.model.requirement import Requirement

__all__ = ["NOWHERE", "Override", "Repair", "VersionChange"]

NOWHERE = 'python_version < "0"'
"""The marker of an override that leaves a project out; no target meets it."""


@dataclass(frozen=True, slots=True)
class Override:
    """One requirement replaced on purpose."""

    requirement: Requirement
    """What holds instead, such as ``torch==2.4.1``."""
    sets_aside: tuple[Requirement, ...]
    """The requirements that no longer count: lines of the project, or demands of a distribution."""
    because: str = ""
    """The reason that a profile gives, or what is known of the version that would have come; else empty."""
    from_profile: bool = False
    """A profile asks for it, so that it goes when the profile no longer does."""

    @property
    def leaves_out(self) -> bool:
        """Whether nothing holds instead: the project is not installed at all."""
        return str(self.requirement.marker or "") == NOWHERE


@dataclass(frozen=True, slots=True)
class VersionChange:
    """A pin of the project that a repair moves."""

    name: NormalizedName
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Repair:
    """A set of overrides that was resolved to the end."""

    id: str
    overrides: tuple[Override, ...]
    resolves: tuple[str, ...]
    """Ids of the conflicts it resolves."""
    changes: tuple[VersionChange, ...] = ()
    cost: int = 0
    """Number of requirements replaced or left out."""
    verified: bool = False
    """Resolved to the end on the target."""
    from_profile: bool = False
    cautions: tuple[str, ...] = ()
    """What a careful person would be told before taking it."""
