"""What a rule or an advisory says of what it saw, with evidence and remedy, and the waiver that accepts it."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from envdoctor.model.dataclass import dataclass
from envdoctor.model.unknown import SubjectKind, Unknown

if TYPE_CHECKING:
    from envdoctor.model.origin import FileOrigin

__all__ = ["Applicability", "Command", "Evidence", "Finding", "Look", "Remedy", "Severity", "Waiver", "in_words"]


class Severity(enum.Enum):
    """How bad; only ``error`` and ``warning`` can fail a check."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """0 for error, rising as it gets milder."""
        return list(Severity).index(self)


class Applicability(enum.Enum):
    """Whether a remedy may run unasked (``safe``), only when asked (``unsafe``), or is for reading (``display``)."""

    SAFE = "safe"
    UNSAFE = "unsafe"
    DISPLAY = "display"


class Look(enum.Enum):
    """Which resolution was looked at, or none."""

    AS_RESOLVED = "as-resolved"
    """The one in use."""
    INSTALLED = "installed"
    """None: what is installed."""
    AS_THEY_STAND = "as-they-stand"
    """That of the project's own requirements, without the profile."""
    WITHOUT_BOUNDS = "without-bounds"
    """That without the profile's constraints."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What was seen, and where."""

    what: str
    where: str = ""
    of_conflict: bool = False
    """Its place is the conflict that the finding is about."""


@dataclass(frozen=True, slots=True)
class Command:
    """One of our own commands, of which project and environment are not known where it is proposed."""

    verb: str
    python: str = ""
    """``--target-python``, where it is for another one."""
    file: str = ""
    """A file or folder of the project that it is about in the place of the project, by its path from the root."""

    def __str__(self) -> str:
        file = f" {self.file}" if self.file else ""
        python = f" --target-python {self.python}" if self.python else ""
        return f"envdoctor {self.verb}{file}{python}"


@dataclass(frozen=True, slots=True)
class Remedy:
    """What to do next."""

    summary: str
    applicability: Applicability = Applicability.DISPLAY
    commands: tuple[str | Command, ...] = ()
    """Other programs' as they are typed; our own by verb."""


@dataclass(frozen=True, slots=True)
class Waiver:
    """An accepted finding."""

    reason: str
    source: str
    """The file and key, or the lock, that accepts it."""
    expires: str | None = None
    """ISO date."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule, or an advisory, says of what it saw."""

    rule: str
    """Stable code such as ``RES102``."""
    name: str
    """The problem's name in kebab case: ``source-only``; for an advisory, its id."""
    severity: Severity
    subject: str
    """The package, file, device or variable it is about."""
    message: str
    """One sentence; code in backticks, no final period, readable without colour. Empty: ``unknowns`` say it."""
    evidence: tuple[Evidence, ...] = ()
    remedy: Remedy | None = None
    location: FileOrigin | None = None
    """A line of the project, where there is one."""
    waived: Waiver | None = None
    subject_kind: SubjectKind = SubjectKind.PACKAGE
    packages: tuple[str, ...] = ()
    """Normalised names of those that have a part in what breaks, the subject first."""
    conflict: str = ""
    """The id of the conflict that it says in one sentence."""
    repair: str = ""
    """The id of the repair that its remedy is."""
    look: Look = Look.AS_RESOLVED
    symbols: tuple[str, ...] = ()
    """Names of the functions that the lines of source it quotes call."""
    log_lines: tuple[int, ...] = ()
    """The lines of the log that it explains, the first of them above all."""
    environment: str = ""
    """Which of a profile's environments it is about, where there are several and it is not about all of them."""
    unknowns: tuple[Unknown, ...] = ()
    """What is not known, where it says that: without a ``message`` they make its sentence, else its evidence."""

    def waive(self, waiver: Waiver) -> Finding:
        """Return this finding marked as accepted."""
        return replace(self, waived=waiver)


def in_words(names: Sequence[str]) -> str:
    """Return ``a``, ``a and b`` or ``a, b and c``, as a sentence has them."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"
