"""Why what was asked for is not done, a lock or a treatment: said before anything is changed."""

from __future__ import annotations

import enum

from envdoctor.model.dataclass import dataclass
from envdoctor.model.unknown import Unknown

__all__ = ["Refusal", "RefusalKind"]


class RefusalKind(enum.Enum):
    """What stands in the way."""

    UNKNOWN = "unknown"
    """Something is not known that an index, or its cache, would tell."""
    FILE = "file"
    """A file of the project is not as it should be."""
    UNREAD = "unread"
    """A file of the project does not say what it asks for."""
    DIRECT_REFERENCE = "direct-reference"
    NO_PROJECT = "no-project"
    """No index has a project, or none of its versions can be used."""
    NO_INDEX = "no-index"
    """What was given as an index seems to be none."""
    CONFLICT = "conflict"
    """The requirements do not resolve, or not as they stand."""
    NO_REPAIR = "no-repair"
    """The repair that was asked for is none of the list."""
    NO_HASH = "no-hash"
    WRONG_HASH = "wrong-hash"
    WRONG_INDEX = "wrong-index"
    INDEX = "index"
    PATH = "path"
    ANCHOR = "anchor"
    PYTHON = "python"
    TARGET = "target"
    SYSTEM_NEED = "system-need"
    DISK = "disk"
    ARCHIVE = "archive"
    ENVIRONMENT = "environment"
    VARIABLE = "variable"
    """A profile sets what can decide which code runs."""
    PLAN = "plan"
    """Not even a plan could be made."""


_NOT_KNOWN = frozenset(
    {
        RefusalKind.UNKNOWN,
        RefusalKind.UNREAD,
        RefusalKind.DIRECT_REFERENCE,
        RefusalKind.NO_INDEX,
        RefusalKind.NO_HASH,
    }
)


@dataclass(frozen=True, slots=True)
class Refusal:
    """One reason why something is not done."""

    kind: RefusalKind
    subject: str = ""
    """The package, file or environment that it is about; empty where ``place`` says it, or it is about all."""
    message: str = ""
    """In words, which nothing reads again; empty where ``unknown`` says it."""
    remedy: str = ""
    place: str = ""
    """The file and line, or the URL, that it is about."""
    index: str = ""
    """The index that would settle it, had it been reached."""
    unknown: Unknown | None = None
    environment: str = ""
    """Which of a profile's environments it stands in the way of, where others have a lock."""

    @property
    def wrong(self) -> bool:
        """Whether a person must correct something; else it could not be known."""
        return self.kind not in _NOT_KNOWN
