"""Why what was asked for is not done: said before anything is changed."""

from __future__ import annotations

import enum
from dataclasses import dataclass

__all__ = ["Refusal", "RefusalKind"]


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
