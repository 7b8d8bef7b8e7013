"""When an advisory holds: questions with the answers yes, no and unknown, and how they are combined.

With the tables that say which version of one thing goes with which version of another.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import TYPE_CHECKING, Protocol

from envdoctor.model.dataclass import dataclass
from envdoctor.model.finding import Evidence
from envdoctor.model.version_table import VersionTable
from envdoctor.toml_tables import Table

if TYPE_CHECKING:
    from envdoctor.diagnose.package_view import Scene
    from envdoctor.diagnose.source_scan import SourceScan
    from envdoctor.model.origin import FileOrigin

__all__ = [
    "FALSE",
    "UNKNOWN",
    "AllOf",
    "AnyOf",
    "Atom",
    "NotOf",
    "Outcome",
    "Predicate",
    "Situation",
    "read_table",
    "yes",
]


def read_table(row: Table) -> VersionTable | None:
    """Read one ``[[table]]``; faults go to the row's collection.

    ``beyond`` is for its readers, `scripts/tables.py` among them: why no row speaks of the newest release.
    """
    name = row.text("name", required=True)
    subject = row.text("subject", required=True)
    object_ = row.text("object", required=True)
    evidence = row.text("evidence", required=True)
    row.text("beyond")
    raw = row.take("rows")
    rows: list[tuple[str, str]] = []
    if not isinstance(raw, list) or not raw:
        row.fault("rows", "must be a list of pairs of specifiers")
        return None
    for position, pair in enumerate(raw):
        if not isinstance(pair, list) or len(pair) != 2:
            row.fault(f"rows[{position}]", "must be a pair of specifiers")
            continue
        fields = Table({"of": pair[0], "needs": pair[1]}, f"{row.path}.rows[{position}]", row.faults)
        rows.append((fields.specifier("of"), fields.specifier("needs")))
    row.done()
    return VersionTable(name, subject, object_, tuple(rows), evidence)


@dataclass(frozen=True, slots=True)
class Outcome:
    """An answer: True, False, or None for unknown; with what was seen where it is True."""

    value: bool | None
    evidence: tuple[Evidence, ...] = ()
    location: FileOrigin | None = None
    subject: str | None = None
    packages: tuple[str, ...] = ()
    """Those that it is True of."""
    symbols: tuple[str, ...] = ()
    """Names of functions that the sources call where it is True."""


FALSE = Outcome(False)
UNKNOWN = Outcome(None)


def yes(
    what: str = "",
    where: str = "",
    *,
    location: FileOrigin | None = None,
    subject: str | None = None,
    packages: tuple[str, ...] = (),
) -> Outcome:
    """Return a true outcome with one piece of evidence."""
    return Outcome(True, (Evidence(what, where),) if what else (), location, subject, packages)


@dataclass(frozen=True, slots=True)
class Situation:
    """What a predicate is asked about: the packages of one place and the project's sources."""

    scene: Scene
    scan: SourceScan | None = None
    near: Callable[[int], str] | None = None
    """The log around the line that shows a symptom, so many lines to each side; None where no line is asked about."""


class Predicate(Protocol):
    """Something that can be asked."""

    def ask(self, situation: Situation) -> Outcome:
        """Answer, never raising for what is merely not known."""
        ...


@dataclass(frozen=True, slots=True)
class Atom:
    """One question; ``needs_package`` names packages without which the answer cannot be True."""

    kind: str
    question: Callable[[Situation], Outcome]
    needs_package: frozenset[str] = frozenset()
    """At least one of these must be there; empty: no such bound."""
    needs_word: bool = False
    """It asks for what few machines have: a log is of such a one only where something says so."""

    def ask(self, situation: Situation) -> Outcome:
        """Answer."""
        return self.question(situation)


@dataclass(frozen=True, slots=True)
class AllOf:
    """True when all are; False as soon as one is, whatever is unknown."""

    parts: tuple[Predicate, ...]

    def ask(self, situation: Situation) -> Outcome:
        """Answer; the evidence is that of all parts."""
        seen: list[Outcome] = []
        for part in self.parts:
            outcome = part.ask(situation)
            if outcome.value is False:
                return FALSE
            seen.append(outcome)
        if any(outcome.value is None for outcome in seen):
            return UNKNOWN
        evidence = tuple(dict.fromkeys(item for outcome in seen for item in outcome.evidence))
        location = next((outcome.location for outcome in seen if outcome.location), None)
        subject = next((outcome.subject for outcome in seen if outcome.subject), None)
        packages = tuple(dict.fromkeys(name for outcome in seen for name in outcome.packages))
        symbols = tuple(dict.fromkeys(name for outcome in seen for name in outcome.symbols))
        return Outcome(True, evidence, location, subject, packages, symbols)


@dataclass(frozen=True, slots=True)
class AnyOf:
    """True when one is; False when all are."""

    parts: tuple[Predicate, ...]

    def ask(self, situation: Situation) -> Outcome:
        """Answer; the evidence is that of the first part that is True."""
        undecided = False
        for part in self.parts:
            outcome = part.ask(situation)
            if outcome.value:
                return outcome
            undecided = undecided or outcome.value is None
        return UNKNOWN if undecided else FALSE


@dataclass(frozen=True, slots=True)
class NotOf:
    """The opposite; unknown stays unknown."""

    part: Predicate
    said: str = field(default="")

    def ask(self, situation: Situation) -> Outcome:
        """Answer; a negation has no evidence but its words."""
        outcome = self.part.ask(situation)
        if outcome.value is None:
            return outcome
        return FALSE if outcome.value else yes(self.said)
