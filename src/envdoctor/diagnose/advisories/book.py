"""Advisory files: all of a folder to one book, all faults at once, and what must hold over all files together."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from envdoctor.diagnose.advisories.advisory import Advisory
from envdoctor.diagnose.advisories.predicate import read_table
from envdoctor.diagnose.advisories.row import Vocabulary, read_advisory
from envdoctor.model.version_table import VersionTable
from envdoctor.shipped import advisories_folder, couplings
from envdoctor.toml_tables import Faults, Row

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["AdvisoryBook", "InvalidAdvisories", "read_advisories", "read_some", "shipped_advisories"]

_ROW = re.compile(r"^(?=\[\[)", re.MULTILINE)
_CODE_LINE = re.compile(r'^code = "(\w+)"', re.MULTILINE)


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


def _vocabulary(documents: Mapping[str, dict[str, Any]], collected: list[str]) -> Vocabulary:
    tables = {table.name: table for table in couplings()}
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
    return Vocabulary(tables, projects)


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
    except (OSError, ValueError, RecursionError) as error:
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
            found.append((path_of_row, read_advisory(data, path_of_row, collected, words)))
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
            found.append(read_advisory(data, f"advisory[{at}]", collected, words))
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
