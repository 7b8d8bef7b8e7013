"""Advisory files: TOML to advisories, all faults at once, and what must hold over all files together."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from envdoctor.diagnose.advisory import Advisory, AdvisoryExample, Confidence, RemedyCase, Telling, needed_packages
from envdoctor.diagnose.log_text import fixed_text
from envdoctor.diagnose.package_atoms import PACKAGE_ATOMS, table_atom
from envdoctor.diagnose.predicate import FALSE, AllOf, AnyOf, Atom, NotOf, Predicate
from envdoctor.diagnose.shipped import advisories_folder
from envdoctor.diagnose.toml_row import Faults, Row
from envdoctor.diagnose.version_table import VersionTable, read_table
from envdoctor.diagnose.wording import PLACEHOLDER
from envdoctor.diagnose.world_atoms import WORLD_ATOMS, project_atom
from envdoctor.model.finding import Applicability, Remedy, Severity

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["AdvisoryBook", "InvalidAdvisories", "read_advisories", "read_some", "shipped_advisories"]

_ROW = re.compile(r"^(?=\[\[)", re.MULTILINE)
_CODE_LINE = re.compile(r'^code = "(\w+)"', re.MULTILINE)
_CODE = re.compile(r"ADV\d{3}")
_RULE = re.compile(r"(?!ADV)[A-Z]{3,4}\d{3}")
_SHORTEST_FIXED = 5
"""Characters; by such a text a log is searched before any regular expression is tried."""
_NEVER = Atom("never", lambda _situation: FALSE)


class InvalidAdvisories(Exception):
    """Advisory files have faults; ``faults`` lists each with file and key path."""

    def __init__(self, faults: Iterable[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(self.faults))


@dataclass(frozen=True, slots=True)
class AdvisoryBook:
    """All advisories, by code, with the tables they use."""

    advisories: tuple[Advisory, ...]
    tables: Mapping[str, VersionTable]


@dataclass(frozen=True, slots=True)
class _Vocabulary:
    tables: Mapping[str, VersionTable]
    projects: Mapping[str, tuple[str, ...]]


def _predicate(data: object, path: str, faults: Faults, words: _Vocabulary) -> Predicate:
    row = Row(data, path, faults)
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


def _composite(kind: str, row: Row, words: _Vocabulary) -> Predicate:
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


def _remedy(row: Row) -> Remedy:
    choice = row.choice("applicability", [item.value for item in Applicability], "display")
    return Remedy(row.text("summary", required=True), Applicability(choice), row.texts("commands"))


def _remedies(row: Row, words: _Vocabulary) -> tuple[Remedy, tuple[RemedyCase, ...]]:
    """Read a remedy with its cases; only the words of a case may hold placeholders, a log could not fill them."""
    general = _remedy(row)
    if any(PLACEHOLDER.search(text) for text in (general.summary, *general.commands)):
        row.fault("summary", "has a placeholder; put it into `cases`, since a log shows no versions")
    cases: list[RemedyCase] = []
    for at, data in enumerate(row.take("cases") or ()):
        case = Row(data, f"{row.path}.cases[{at}]", row.faults)
        when = _predicate(case.take("when"), f"{case.path}.when", row.faults, words) if case.has("when") else None
        remedy = _remedy(case)
        _known_tables(case, (remedy.summary, *remedy.commands), words)
        case.done()
        cases.append(RemedyCase(remedy, when))
    row.done()
    return general, tuple(cases)


def _known_tables(row: Row, texts: Iterable[str], words: _Vocabulary) -> None:
    for match in (match for text in texts for match in PLACEHOLDER.finditer(text)):
        if match.group(2) in ("subject", "object") and match.group(1) not in words.tables:
            row.fault("summary", f"there is no table `{match.group(1)}`")


def _examples(row: Row) -> tuple[AdvisoryExample, ...]:
    found: list[AdvisoryExample] = []
    for key in ("fires", "silent"):
        value = row.take(key)
        if not isinstance(value, list) or not value or not all(isinstance(item, dict) for item in value):
            row.fault(key, "must be a list of at least one example")
            continue
        found += [AdvisoryExample(key == "fires", item) for item in value]
    return tuple(found)


def _tellings(row: Row) -> Iterator[Telling]:
    value = row.take("told_by")
    if value is not None and not isinstance(value, list):
        row.fault("told_by", "must be a list of tables")
        return
    for at, data in enumerate(value or ()):
        entry = Row(data, f"{row.path}.told_by[{at}]", row.faults)
        code = entry.text("rule", required=True)
        if code and not _RULE.fullmatch(code):
            entry.fault("rule", f"`{code}` is not the code of a rule, such as RES103")
        yield Telling(code, entry.text("about") or None)
        entry.done()


def _patterns(row: Row, key: str, flags: int = 0) -> tuple[re.Pattern[str], ...]:
    sound = [Row({key: text}, row.path, row.faults).pattern(key) for text in row.texts(key)]
    return tuple(re.compile(text, flags) for text in sound if text)


def _advisory(data: object, path: str, faults: Faults, words: _Vocabulary) -> Advisory:
    row = Row(data, path, faults)
    code = row.text("code", required=True)
    if code and not _CODE.fullmatch(code):
        row.fault("code", "must be ADV and three digits")
    symptoms = _patterns(row, "symptom")
    for symptom in symptoms:
        if len(fixed_text(symptom.pattern)) < _SHORTEST_FIXED:
            row.fault("symptom", f"`{symptom.pattern}` holds no text of {_SHORTEST_FIXED} characters outside of groups")
    log_only = not row.has("when")
    if log_only and not symptoms:
        row.fault("when", "is missing, and there is no symptom either")
    when = _NEVER if log_only else _predicate(row.take("when"), f"{path}.when", faults, words)
    remedy, cases = _remedies(Row(row.take("remedy"), f"{path}.remedy", faults), words)
    advisory = Advisory(
        code=code,
        id=row.text("id", required=True),
        severity=Severity(row.choice("severity", [item.value for item in Severity])),
        message=row.text("message", required=True),
        cause=row.text("cause", required=True),
        remedy=remedy,
        cases=cases,
        tables=words.tables,
        evidence=row.texts("evidence", required=True),
        confidence=Confidence(row.choice("confidence", [item.value for item in Confidence])),
        when=when,
        needs=needed_packages(when),
        source=faults.file,
        targets=row.texts("targets"),
        symptoms=symptoms,
        symptom_mentions=_patterns(row, "symptom_mentions", re.IGNORECASE | re.MULTILINE),
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


def _vocabulary(documents: Mapping[str, dict[str, Any]], collected: list[str]) -> _Vocabulary:
    tables: dict[str, VersionTable] = {}
    projects: dict[str, tuple[str, ...]] = {}
    for file, document in documents.items():
        faults = Faults(file)
        for at, data in enumerate(document.get("table", [])):
            table = read_table(Row(data, f"table[{at}]", faults))
            if table and tables.setdefault(table.name, table) is not table:
                faults.add(f"table[{at}].name", f"`{table.name}` is there twice")
        for at, data in enumerate(document.get("project", [])):
            row = Row(data, f"project[{at}]", faults)
            projects[row.text("name", required=True)] = row.texts("recognise", required=True)
            row.done()
        for key in document.keys() - {"table", "project", "advisory"}:
            faults.add(key, "unknown key")
        collected += faults.found
    return _Vocabulary(tables, projects)


def _twice(advisories: Iterable[tuple[str, Advisory]]) -> list[str]:
    seen: dict[str, str] = {}
    found: list[str] = []
    for path, advisory in advisories:
        for value in (advisory.code, advisory.id):
            if value in seen:
                found.append(f"{advisory.source}: {path}: `{value}` is already used by {seen[value]}")
            seen[value] = f"{advisory.source}: {path}"
    return found


def _unknown_codes(advisories: Iterable[tuple[str, Advisory]]) -> list[str]:
    found = list(advisories)
    known = {advisory.code for _, advisory in found}
    return [
        f"{advisory.source}: {path}.instead_of: there is no advisory `{code}`"
        for path, advisory in found
        for code in advisory.instead_of
        if code not in known
    ]


def _document(path: Path, faults: list[str]) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        faults.append(f"{path.name}: {error}")
        return {}


def read_advisories(folder: Path) -> AdvisoryBook:
    """Read every ``*.toml`` of a folder. Raises InvalidAdvisories with all faults of all files."""
    documents: dict[str, dict[str, Any]] = {}
    faults: list[str] = []
    for path in sorted(folder.glob("*.toml")):
        documents[path.name] = _document(path, faults)
    words = _vocabulary(documents, faults)
    found: list[tuple[str, Advisory]] = []
    for file, document in documents.items():
        collected = Faults(file)
        for at, data in enumerate(document.get("advisory", [])):
            path_of_row = f"advisory[{at}]"
            found.append((path_of_row, _advisory(data, path_of_row, collected, words)))
        faults += collected.found
    faults += [*_twice(found), *_unknown_codes(found)]
    if faults:
        raise InvalidAdvisories(faults)
    return AdvisoryBook(tuple(sorted((item for _, item in found), key=lambda item: item.code)), words.tables)


def read_some(codes: frozenset[str], files: frozenset[str]) -> tuple[Advisory, ...]:
    """Return the shipped advisories of these codes, which stand in ``files``; the others are not parsed.

    Raises InvalidAdvisories for faults in what was read.
    """
    documents: dict[str, dict[str, Any]] = {}
    faults: list[str] = []
    for path in sorted(advisories_folder().glob("*.toml")):
        text = path.read_text(encoding="utf-8")
        rows = _wanted_rows(text, codes if path.name in files else frozenset())
        documents[path.name] = tomllib.loads("\n".join(rows))
    words = _vocabulary(documents, faults)
    found: list[Advisory] = []
    for file, document in documents.items():
        collected = Faults(file)
        for at, data in enumerate(document.get("advisory", [])):
            found.append(_advisory(data, f"advisory[{at}]", collected, words))
        faults += collected.found
    if faults:
        raise InvalidAdvisories(faults)
    return tuple(sorted(found, key=lambda item: item.code))


def _wanted_rows(text: str, codes: frozenset[str]) -> Iterator[str]:
    """Yield a file's tables and projects, and the advisories of these codes, as text."""
    for row in _ROW.split(text)[1:]:
        code = _CODE_LINE.search(row) if row.startswith("[[advisory]]") else None
        if not row.startswith("[[advisory]]") or (code and code[1] in codes):
            yield row


@lru_cache(maxsize=1)
def shipped_advisories() -> AdvisoryBook:
    """Return the advisories that ship with the package."""
    return read_advisories(advisories_folder())
