"""What a rule is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from envdoctor.diagnose.examination import Examination
from envdoctor.model.dataclass import dataclass
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.origin import FileOrigin
from envdoctor.model.unknown import SubjectKind, Unknown

__all__ = ["Rule", "name_rows"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One check with a stable code. A rule module holds one, called ``RULE``; its docstring is its documentation."""

    code: str
    """Family and number: ``RES102``."""
    name: str
    """The problem in kebab case."""
    severity: Severity
    """The severity it usually has; a finding may be milder with a reason."""
    summary: str
    find: Callable[[Examination], Iterable[Finding]]
    documentation: str = ""
    """What it does, why it is bad, an example, references; Markdown."""
    needs: frozenset[str] = frozenset()
    """Fields of the Examination that must be there; otherwise the rule does not run."""
    about: SubjectKind = SubjectKind.PACKAGE
    """What the subjects of its findings are, where a finding does not say otherwise."""
    ranks: Severity | None = None
    """Its findings of this severity and above tell a broken resolution from a working one; None: none does.

    For that it looks at nothing but the resolution.
    """
    opens_few: bool = False
    """For that it may open archives as well: of few packages, and small members."""
    reads_lines: bool = False
    """For that it looks at what people ask for, and at metadata of the index, as well."""

    @classmethod
    def of(
        cls,
        module: str,
        documentation: str | None,
        severity: Severity,
        find: Callable[..., Iterable[Finding]],
        *,
        summary: str = "",
        needs: Iterable[str] = (),
        about: SubjectKind = SubjectKind.PACKAGE,
        ranks: Severity | None = None,
        opens_few: bool = False,
        reads_lines: bool = False,
    ) -> Rule:
        """Return the rule of a module `<code>_<name>`, whose docstring says in its first sentence what is wrong.

        What ``find`` looks at are its parameters: fields of an examination, which must be there, or ``examination``.
        ``needs`` are further fields that must be there.
        """
        code, _, name = module.rpartition(".")[2].partition("_")
        text = documentation or ""
        looked_at = find.__code__.co_varnames[: find.__code__.co_argcount]
        return cls(
            code.upper(),
            name.replace("_", "-"),
            severity,
            summary or _summary(text),
            partial(_found, find, looked_at),
            text,
            frozenset((*needs, *looked_at)) - {"examination"},
            about,
            ranks,
            opens_few,
            reads_lines,
        )

    @classmethod
    def of_row(cls, row: Mapping[str, str]) -> Rule:
        """Return a rule that finds nothing itself: what an examination does not hold is reported where it is found."""
        text, about = row["text"], SubjectKind(row.get("about", SubjectKind.PACKAGE.value))
        summary = row.get("summary") or _summary(text)
        return cls(row["code"], row["name"], Severity(row["severity"]), summary, _nothing, text, about=about)

    def finding(
        self,
        subject: str,
        message: str = "",
        evidence: tuple[Evidence, ...] = (),
        remedy: Remedy | None = None,
        *,
        severity: Severity | None = None,
        location: FileOrigin | None = None,
        subject_kind: SubjectKind | None = None,
        packages: tuple[str, ...] = (),
        conflict: str = "",
        repair: str = "",
        symbols: tuple[str, ...] = (),
        unknowns: tuple[Unknown, ...] = (),
    ) -> Finding:
        """Return one of its findings; severity and kind of subject are the rule's own where none is given."""
        return Finding(
            self.code,
            self.name,
            severity or self.severity,
            subject,
            message,
            evidence,
            remedy,
            location,
            subject_kind=subject_kind or self.about,
            packages=packages,
            conflict=conflict,
            repair=repair,
            symbols=symbols,
            unknowns=unknowns,
        )


def _summary(documentation: str) -> str:
    """Return the first sentence of a rule's text."""
    return " ".join(documentation.partition("\n\n")[0].split()).rstrip(".")


def _found(
    find: Callable[..., Iterable[Finding]], looked_at: Sequence[str], examination: Examination
) -> Iterable[Finding]:
    given = [examination if name == "examination" else getattr(examination, name) for name in looked_at]
    return () if any(item is None for item in given) else find(*given)


def _nothing(_: Examination) -> Iterable[Finding]:
    return ()


_IN_A_ROW = 6


def name_rows(names: Sequence[str]) -> tuple[Evidence, ...]:
    """Return the names, a few to each piece of evidence, in their order."""
    return tuple(Evidence(", ".join(names[start : start + _IN_A_ROW])) for start in range(0, len(names), _IN_A_ROW))
