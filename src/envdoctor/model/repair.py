"""The smallest set of overrides after which a target resolves."""

from __future__ import annotations

import difflib
import io
from typing import TYPE_CHECKING

from envdoctor.model.dataclass import dataclass
from envdoctor.model.origin import ProfileOrigin
from envdoctor.model.requirement import Requirement, RequirementKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from packaging.utils import NormalizedName

    from envdoctor.model.override import Override
    from envdoctor.model.resolution import Resolution

__all__ = ["FileChange", "Repair", "VersionChange", "repair_in_use"]


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

    def given_up(self) -> tuple[Requirement, ...]:
        """Return what a profile itself requires and this leaves out: its target is lost without."""
        return tuple(
            aside
            for override in self.overrides
            if override.leaves_out and not override.from_profile
            for aside in override.sets_aside
            if isinstance(aside.origin, ProfileOrigin) and aside.kind is RequirementKind.REQUIRE
        )


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file of the project before and after."""

    path: str
    before: str
    after: str

    def diff(self) -> str:
        """Return the change as a unified diff."""
        rows = difflib.unified_diff(
            io.StringIO(self.before, newline="\n").readlines(),
            io.StringIO(self.after, newline="\n").readlines(),
            f"a/{self.path}",
            f"b/{self.path}",
        )
        return "".join(row if row.endswith("\n") else f"{row}\n\\ No newline at end of file\n" for row in rows)


def repair_in_use(repairs: Iterable[Repair], resolution: Resolution | None) -> Repair | None:
    """Return the repair of a resolution, None where the requirements hold as they stand, or nothing is resolved."""
    used = resolution.repair if resolution is not None else None
    return next((repair for repair in repairs if repair.id == used), None)
