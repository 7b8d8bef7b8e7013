"""One advisory: a TOML table to what it says and when, with every fault of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import date, datetime

from packaging.requirements import InvalidRequirement, Requirement

from envdoctor.diagnose.advisories.advisory import (
    Advisory,
    AdvisoryExample,
    Confidence,
    SymptomCase,
    Telling,
    needed_packages,
)
from envdoctor.diagnose.advisories.package_atoms import PACKAGE_ATOMS, table_atom
from envdoctor.diagnose.advisories.predicate import FALSE, AllOf, AnyOf, Atom, NotOf, Predicate
from envdoctor.diagnose.advisories.remedy_choice import PLACEHOLDER, RemedyCase
from envdoctor.diagnose.advisories.vocabulary import Vocabulary
from envdoctor.diagnose.advisories.world_atoms import WORLD_ATOMS, project_atom
from envdoctor.model.finding import Applicability, Remedy, Severity
from envdoctor.toml_tables import Faults, Table

__all__ = ["Vocabulary", "read_advisory"]

_CODE = re.compile(r"ADV\d{3}")
_RULE = re.compile(r"(?!ADV)[A-Z]{3,4}\d{3}")
_SEVERITIES = [item.value for item in Severity]
_SEEN = re.compile(r"[A-Za-z][\w.+-]* .*\d")
_PIP = re.compile(r"^pip install ([^|&;]+)$")
_SHORTEST_FIXED = 5
"""Characters; by such a text a log is searched before any regular expression is tried."""
_NEVER = Atom("never", lambda _situation: FALSE)


def _predicate(data: object, path: str, faults: Faults, words: Vocabulary) -> Predicate:
    row = Table(data, path, faults)
    kinds = [key for key in (*_COMPOSITES, *_ATOMS) if row.has(key)]
    if len(kinds) != 1:
        asked = f"has {' and '.join(kinds)}" if kinds else "asks nothing"
        row.fault("", f"{asked}; it must ask exactly one of {', '.join((*_COMPOSITES, *_ATOMS))}")
        return _NEVER
    kind = kinds[0]
    if kind in _COMPOSITES:
        return _composite(kind, row, words)
    if kind == "table":
        atom = table_atom(row, words.tables)
    elif kind == "project":
        atom = project_atom(row, words.projects)
    else:
        atom = (PACKAGE_ATOMS | WORLD_ATOMS)[kind](row)
    row.done()
    return atom


def _composite(kind: str, row: Table, words: Vocabulary) -> Predicate:
    value = row.take(kind)
    row.done()
    if kind == "not":
        return NotOf(_predicate(value, f"{row.path}.not", row.faults, words))
    if not isinstance(value, list) or not value:
        row.fault(kind, "must be a list of conditions")
        return _NEVER
    parts = tuple(_predicate(item, f"{row.path}.{kind}[{at}]", row.faults, words) for at, item in enumerate(value))
    return AllOf(parts) if kind == "all" else AnyOf(parts)


_COMPOSITES = ("all", "any", "not")
_ATOMS = (*PACKAGE_ATOMS, *WORLD_ATOMS, "table", "project")


def _remedy(row: Table) -> Remedy:
    choice = row.choice("applicability", [item.value for item in Applicability], "display")
    return Remedy(row.text("summary", required=True), Applicability(choice), row.texts("commands"))


def _asks(row: Table) -> tuple[Requirement, ...]:
    """Read what a remedy asks to be installed: ``asks``, else what its pip commands name."""
    if row.has("asks"):
        return tuple(_requirements(row, "asks"))
    told = [match for text in row.texts("commands") for match in _PIP.finditer(text)]
    parts = [part for match in told for part in match[1].split() if part[:1] not in "-{"]
    try:
        found = tuple(Requirement(part.strip("\"'")) for part in parts)
    except InvalidRequirement:
        return ()
    return found if all(item.specifier for item in found) else ()


def _requirements(row: Table, key: str) -> Iterator[Requirement]:
    yield from (found for text in row.texts(key) if (found := _requirement(row, key, text)) is not None)


def _requirement(row: Table, key: str, text: str) -> Requirement | None:
    try:
        return Requirement(text)
    except InvalidRequirement as error:
        row.fault(key, f"`{text}` is not a requirement: {str(error).splitlines()[0]}")
        return None


def _remedies(row: Table, words: Vocabulary) -> tuple[Remedy, tuple[Requirement, ...], tuple[RemedyCase, ...]]:
    """Read a remedy with its cases; only the words of a case may hold placeholders, a log could not fill them."""
    general, asks = _remedy(row), _asks(row)
    if any(PLACEHOLDER.search(text) for text in (general.summary, *map(str, general.commands))):
        row.fault("summary", "has a placeholder; put it into `cases`, since a log shows no versions")
    cases: list[RemedyCase] = []
    for case in row.tables("cases"):
        when = _predicate(case.take("when"), f"{case.path}.when", row.faults, words) if case.has("when") else None
        remedy, wanted = _remedy(case), _asks(case)
        _known_tables(case, (remedy.summary, *map(str, remedy.commands)), words)
        case.done()
        cases.append(RemedyCase(remedy, when, wanted))
    row.done()
    return general, asks, tuple(cases)


def _known_tables(row: Table, texts: Iterable[str], words: Vocabulary) -> None:
    for match in (match for text in texts for match in PLACEHOLDER.finditer(text)):
        if match.group(2) in ("subject", "object") and match.group(1) not in words.tables:
            row.fault("summary", f"there is no table `{match.group(1)}`")


def _examples(row: Table) -> tuple[AdvisoryExample, ...]:
    found: list[AdvisoryExample] = []
    for key in ("fires", "silent"):
        value = row.take(key)
        if not isinstance(value, list) or not value or not all(isinstance(item, dict) for item in value):
            row.fault(key, "must be a list of at least one example")
            continue
        found += [AdvisoryExample(key == "fires", item) for item in value]
    return tuple(found)


def _tellings(row: Table) -> Iterator[Telling]:
    for entry in row.tables("told_by"):
        code = entry.text("rule", required=True)
        if code and not _RULE.fullmatch(code):
            entry.fault("rule", f"`{code}` is not the code of a rule, such as RES103")
        yield Telling(code, entry.text("about") or None)
        entry.done()


def _patterns(row: Table, key: str) -> tuple[str, ...]:
    return tuple(filter(None, (Table({key: text}, row.path, row.faults).pattern(key) for text in row.texts(key))))


def _symptoms(row: Table) -> tuple[str, ...]:
    symptoms = _patterns(row, "symptom")
    if not row.faults.tried:
        from envdoctor.diagnose.advisories.log_text import fixed_text

        for symptom in symptoms:
            if len(fixed_text(symptom)) < _SHORTEST_FIXED:
                row.fault("symptom", f"`{symptom}` holds no text of {_SHORTEST_FIXED} characters outside of groups")
    return symptoms


def _symptom_cases(row: Table, words: Vocabulary) -> Iterator[SymptomCase]:
    for case in row.tables("symptom_cases"):
        when = _predicate(case.take("when"), f"{case.path}.when", row.faults, words)
        yield SymptomCase(when, Severity(case.choice("severity", _SEVERITIES)), case.text("cause"))
        case.done()


def _date(row: Table) -> str:
    value = row.take("date")
    if value is None:
        row.fault("date", "is missing")
    elif not isinstance(value, date) or isinstance(value, datetime):
        row.fault("date", "must be a day, such as 2026-11-28 without quotes")
    else:
        return value.isoformat()
    return ""


def _seen(row: Table) -> tuple[str, ...]:
    """Read with which versions it was seen; an empty list says that nobody wrote them down."""
    if not row.has("seen"):
        row.fault("seen", "is missing; an empty list says that the versions are not known")
    found = row.texts("seen")
    for text in found:
        if not _SEEN.match(text):
            row.fault("seen", f"`{text}` is not a name with versions or a commit, such as `torch 2.1.1 to 2.15.0`")
    return found


def read_advisory(row: Table, words: Vocabulary) -> Advisory:
    """Read an advisory; what is wrong with it goes into the faults of its file."""
    path, faults = row.path, row.faults
    code = row.text("code", required=True)
    if code and not _CODE.fullmatch(code):
        row.fault("code", "must be ADV and three digits")
    symptoms = _symptoms(row)
    log_only = not row.has("when")
    if log_only and not symptoms:
        row.fault("when", "is missing, and there is no symptom either")
    when = _NEVER if log_only else _predicate(row.take("when"), f"{path}.when", faults, words)
    remedy, asks, cases = _remedies(Table(row.take("remedy"), f"{path}.remedy", faults), words)
    advisory = Advisory(
        code=code,
        id=row.text("id", required=True),
        severity=Severity(row.choice("severity", _SEVERITIES)),
        message=row.text("message", required=True),
        cause=row.text("cause", required=True),
        remedy=remedy,
        asks=asks,
        cases=cases,
        tables=words.tables,
        evidence=row.texts("evidence", required=True),
        confidence=Confidence(row.choice("confidence", [item.value for item in Confidence])),
        date=_date(row),
        seen=_seen(row),
        when=when,
        needs=needed_packages(when),
        source=faults.source,
        targets=row.texts("targets"),
        symptoms=symptoms,
        symptom_mentions=_patterns(row, "symptom_mentions"),
        symptom_on=_predicate(row.take("symptom_on"), f"{path}.symptom_on", faults, words)
        if row.has("symptom_on")
        else None,
        symptom_severity=Severity(row.choice("symptom_severity", _SEVERITIES)) if row.has("symptom_severity") else None,
        symptom_cases=tuple(_symptom_cases(row, words)),
        symptom_within=row.number("symptom_within", 40),
        instead_of=row.texts("instead_of"),
        references=row.texts("references"),
        subject=row.text("subject") or None,
        log_only=log_only,
        told_by=tuple(_tellings(row)),
        examples=_examples(row),
    )
    row.done()
    return advisory
