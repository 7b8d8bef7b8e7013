"""The smallest set of overrides after which a target resolves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from packaging.utils import NormalizedName

    from envdoctor.model.override import Override

__all__ = ["Repair", "VersionChange"]


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
    command: str = ""
    """What to type to see it as a diff of the project's files."""
