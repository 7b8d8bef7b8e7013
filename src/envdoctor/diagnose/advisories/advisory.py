"""Known issues as data: what an advisory is, and how it becomes a finding."""

from __future__ import annotations

import enum
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import field

from packaging.requirements import Requirement

from envdoctor.diagnose.advisories.predicate import AllOf, AnyOf, Atom, Outcome, Predicate, Situation
from envdoctor.diagnose.advisories.remedy_choice import RemedyCase, choose_remedy, worded
from envdoctor.diagnose.package_view import Place
from envdoctor.model.dataclass import dataclass
from envdoctor.model.finding import Evidence, Finding, Look, Remedy, Severity
from envdoctor.model.origin import FileOrigin
from envdoctor.model.unknown import SubjectKind
from envdoctor.model.version_table import VersionTable

__all__ = ["Advisory", "AdvisoryExample", "Confidence", "SymptomCase", "Telling", "needed_packages"]


class Confidence(enum.Enum):
    """How an advisory is known."""

    EXECUTED = "executed"
    METADATA = "metadata"
    MAINTAINER = "maintainer"
    SEVERAL_REPORTS = "several-reports"
    SINGLE_REPORT = "single-report"
    BACKGROUND = "background"


@dataclass(frozen=True, slots=True)
class AdvisoryExample:
    """The smallest situation in which an advisory fires, or only nearly does."""

    fires: bool
    data: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Telling:
    """A rule whose finding says what an advisory would say."""

    rule: str
    """Its code."""
    about: str | None = None
    """The subject of that finding; None: the advisory's own."""


@dataclass(frozen=True, slots=True)
class SymptomCase:
    """How bad a log is that shows a symptom, in some situations: on a CPU that was wanted, no card is no failure."""

    when: Predicate
    """Counts where it is known to be true."""
    severity: Severity
    cause: str = ""
    """What is said then; empty: what is said elsewhere."""


@dataclass(frozen=True, slots=True)
class Advisory:
    """One known issue."""

    code: str
    id: str
    severity: Severity
    message: str
    """One sentence; ``{torch}`` stands for the version of torch, ``{python}`` for the target's."""
    cause: str
    remedy: Remedy
    """Words that fit wherever the advisory fires, and a log that shows it."""
    evidence: tuple[str, ...]
    confidence: Confidence
    date: str
    """The day, ISO, on which the evidence was last looked at."""
    seen: tuple[str, ...]
    """With which versions or commits: ``torch 2.1.1, 2.15.0``; empty where nobody wrote them down."""
    when: Predicate
    source: str
    """The data file that it stands in."""
    targets: tuple[str, ...] = ()
    symptoms: tuple[str, ...] = ()
    """Regular expressions, made where there is a log; so for the next."""
    symptom_mentions: tuple[str, ...] = ()
    """What must stand near it in a log, where the symptom alone says too little; in capitals or not."""
    symptom_on: Predicate | None = None
    """Which machines' logs it is said of, where ``when`` does not tell."""
    symptom_severity: Severity | None = None
    """How bad a log is that shows it; None: as bad as the advisory, and a warning at least."""
    symptom_cases: tuple[SymptomCase, ...] = ()
    """Situations in which it is another severity; the first that is true counts."""
    symptom_within: int = 40
    """How many lines away that may be."""
    instead_of: tuple[str, ...] = ()
    """Codes of advisories that say less of the same cause; in a log that shows this one they are silent."""
    references: tuple[str, ...] = ()
    subject: str | None = None
    needs: tuple[frozenset[str], ...] = ()
    """Sets of package names; unless one of each set is there, the predicate cannot be true."""
    log_only: bool = False
    """No fact decides it; only a log shows it."""
    told_by: tuple[Telling, ...] = ()
    """Rules that tell the same; beside one of their findings this advisory is not said."""
    asks: tuple[Requirement, ...] = ()
    """What ``remedy`` asks to be installed."""
    cases: tuple[RemedyCase, ...] = ()
    """Remedies that say more where more is known; the first that fits counts."""
    tables: Mapping[str, VersionTable] = field(default_factory=dict, compare=False, repr=False)
    examples: tuple[AdvisoryExample, ...] = field(default=(), compare=False)

    @property
    def foreseen_severity(self) -> Severity:
        """That of a failure which is only to be expected: what was only reported is no error."""
        return self.severity if self.confidence in _PROVEN else max(self.severity, Severity.WARNING, key=_mild)

    @property
    def seen_severity(self) -> Severity:
        """That of a failure which a log shows."""
        return self.symptom_severity or min(self.severity, Severity.WARNING, key=_mild)

    def judge(self, situation: Situation) -> Outcome:
        """Ask the predicate."""
        return self.when.ask(situation)

    def finding(self, situation: Situation, outcome: Outcome) -> Finding:
        """Return the finding of a situation in which the predicate is true."""
        subject = self.subject or outcome.subject or self.id
        known = (Evidence(item, f"advisory {self.code}, {self.date}") for item in self.evidence)
        return Finding(
            rule=self.code,
            name=self.id,
            severity=self.foreseen_severity,
            subject=subject,
            subject_kind=_kind(subject, self.id),
            message=worded(self.message, situation, self.tables, found=outcome.subject),
            evidence=(*outcome.evidence, *known),
            remedy=self._remedy(situation),
            location=outcome.location or _asked_line(situation, subject),
            packages=_there(situation, subject, *outcome.packages),
            symbols=outcome.symbols,
            look=Look.INSTALLED if situation.scene.place is Place.INSTALLED else Look.AS_RESOLVED,
        )

    def is_told(self, subject: str, told: Collection[tuple[str, str]]) -> bool:
        """Return whether a rule has told it; ``told`` are the codes and subjects of what rules found."""
        return any((item.rule, item.about or subject) in told for item in self.told_by)

    def finding_of_log(
        self,
        situation: Situation,
        line: str,
        number: int,
        shown_by: str = "the log",
        over: Severity | None = None,
        *,
        raised: bool = False,
    ) -> Finding:
        """Return the finding of a log line that shows a symptom; the failure is seen there, however little is known.

        ``over``: how bad it is at most, where the program got over it; ``raised``: the line is an exception that
        nothing caught, which ends what was run, however mild the expected failure is.
        """
        case = next((item for item in self.symptom_cases if item.when.ask(situation).value), None)
        cause = case.cause if case is not None and case.cause else self.cause
        seen = Severity.ERROR if raised and self.symptom_severity is None else self.seen_severity
        severity = case.severity if case is not None else seen
        return Finding(
            rule=self.code,
            name=self.id,
            severity=max(severity, over or severity, key=_mild),
            subject=self.subject or self.id,
            subject_kind=_kind(self.subject or self.id, self.id),
            message=f"{shown_by} shows a known issue{' that was got over' if over else ''}: {_first_sentence(cause)}",
            evidence=(
                Evidence(line, f"log line {number}"),
                *(Evidence(item, f"advisory {self.code}, {self.date}") for item in self.evidence),
            ),
            remedy=self._remedy(situation),
        )

    def _remedy(self, situation: Situation) -> Remedy:
        return choose_remedy((*self.cases, RemedyCase(self.remedy, asks=self.asks)), situation, self.tables)


_PROVEN = frozenset({Confidence.EXECUTED, Confidence.METADATA})


def _mild(severity: Severity) -> int:
    return severity.rank


def _kind(subject: str, own: str) -> SubjectKind:
    return SubjectKind.RULE if subject == own else SubjectKind.PACKAGE


def _there(situation: Situation, *names: str) -> tuple[str, ...]:
    packages = situation.scene.packages
    return tuple(dict.fromkeys(packages[name].name for name in names if name in packages))


def _first_sentence(text: str) -> str:
    sentence = re.split(r"(?<=[a-z\)`])\.\s", text, maxsplit=1)[0].rstrip(".")
    # A name with a capital within (TensorFlow, PyTorch) keeps its first one.
    return sentence[:1].lower() + sentence[1:] if re.match(r"(?:A|[A-Z][a-z]+)(?![A-Za-z])", sentence) else sentence


def _asked_line(situation: Situation, subject: str) -> FileOrigin | None:
    if situation.scene.place is Place.INSTALLED or situation.scene.examination.project is None:
        return None
    for requirement in situation.scene.examination.project.requirements:
        if requirement.name == subject and isinstance(requirement.origin, FileOrigin):
            return requirement.origin
    return None


def _atoms(predicate: Predicate) -> Iterator[tuple[frozenset[str], ...]]:
    if isinstance(predicate, Atom):
        if predicate.needs_package:
            yield (predicate.needs_package,)
    elif isinstance(predicate, AllOf):
        for part in predicate.parts:
            yield from _atoms(part)


def needed_packages(predicate: Predicate) -> tuple[frozenset[str], ...]:
    """Return sets of names; unless at least one of each set is there, the predicate cannot be true."""
    if isinstance(predicate, AnyOf):
        each = [needed_packages(part) for part in predicate.parts]
        if all(each):
            return (frozenset().union(*(group for groups in each for group in groups[:1])),)
        return ()
    return tuple(group for groups in _atoms(predicate) for group in groups)
