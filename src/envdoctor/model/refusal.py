"""Why what was asked for is not done: said before anything is changed."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from envdoctor.model.unknown import Unknown

__all__ = ["LockFault", "Refusal", "RefusalKind"]


class RefusalKind(enum.Enum):
    """What stands in the way."""

    NO_HASH = "no-hash"
    WRONG_HASH = "wrong-hash"
    WRONG_INDEX = "wrong-index"
    INDEX = "index"
    PATH = "path"
    ANCHOR = "anchor"
    PYTHON = "python"
    SYSTEM_NEED = "system-need"
    DISK = "disk"
    ARCHIVE = "archive"
    ENVIRONMENT = "environment"
    PLAN = "plan"
    """Not even a plan could be made."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """One reason."""

    kind: RefusalKind
    subject: str
    """The package, file or environment that it is about."""
    message: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class LockFault:
    """Why a package cannot be locked."""

    package: str
    """Its name; empty where it is about a line or a file."""
    reason: str = ""
    """In words; empty where ``unknown`` says it."""
    wrong: bool = False
    """Something that a person must correct; else it could not be known."""
    place: str = ""
    """The file and line, or the URL, that it is about."""
    index: str = ""
    """The index that would settle it, had it been reached."""
    unknown: Unknown | None = None
    environment: str = ""
    """Which of a profile's environments it stands in the way of, where others have a lock."""
