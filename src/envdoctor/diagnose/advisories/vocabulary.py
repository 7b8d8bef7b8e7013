"""What the files of advisories define for each other, and the text of those that ship; no advisory is read for it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from envdoctor.diagnose.advisories.predicate import read_table
from envdoctor.model.dataclass import dataclass
from envdoctor.model.version_table import VersionTable
from envdoctor.shipped import advisories_folder, couplings
from envdoctor.toml_tables import Document, Faults

__all__ = ["InvalidAdvisories", "Vocabulary", "part_of", "shipped", "shipped_tables", "vocabulary"]

_ROW = re.compile(r"^(?=\[\[)", re.MULTILINE)
_CODE_LINE = re.compile(r'^code = "(\w+)"', re.MULTILINE)


class InvalidAdvisories(Exception):
    """Advisory files have faults; ``faults`` lists each with file, line and key path."""

    def __init__(self, faults: Iterable[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(self.faults))


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What the files define for each other."""

    tables: Mapping[str, VersionTable]
    projects: Mapping[str, tuple[str, ...]]


def vocabulary(documents: Iterable[Document]) -> Vocabulary:
    """Return what files define; faults go into them."""
    tables = {table.name: table for table in couplings()}
    projects: dict[str, tuple[str, ...]] = {}
    for document in documents:
        top = document.table()
        for row in top.tables("table"):
            table = read_table(row)
            if table and tables.setdefault(table.name, table) is not table:
                row.fault("name", f"`{table.name}` is there twice")
        for row in top.tables("project"):
            projects[row.text("name", required=True)] = row.texts("recognise", required=True)
            row.done()
        for key in document.data.keys() - {"table", "project", "advisory"}:
            document.faults.add(key, "unknown key")
    return Vocabulary(tables, projects)


@dataclass(frozen=True, slots=True)
class Shipped:
    """The text of every shipped advisory, and what the files define for each other."""

    rows: Mapping[str, tuple[str, str]]
    """Code to file name and text."""
    words: Vocabulary


@lru_cache(maxsize=1)
def shipped() -> Shipped:
    """Return the text of every shipped advisory; none is parsed for it."""
    rows: dict[str, tuple[str, str]] = {}
    documents: list[Document] = []
    for path in sorted(advisories_folder().glob("*.toml")):
        others: list[str] = []
        for row in _ROW.split(path.read_text(encoding="utf-8"))[1:]:
            code = _CODE_LINE.search(row) if row.startswith("[[advisory]]") else None
            if code is not None:
                rows[code[1]] = (path.name, row)
            else:
                others.append(row)
        if others:
            documents.append(part_of("\n".join(others), path.name))
    words = vocabulary(documents)
    if faults := [text for document in documents for text in document.faults.texts()]:
        raise InvalidAdvisories(faults)
    return Shipped(rows, words)


def part_of(text: str, source: str) -> Document:
    """Return a part of a file as a document of its own."""
    document = Document(text, source)
    # The lines of a part are not those of the file; the tests read all that ships, whole, and try every expression.
    document.faults = Faults(source, tried=True)
    return document


def shipped_tables() -> Mapping[str, VersionTable]:
    """Return the tables of the shipped advisories, by name; no advisory is parsed for it."""
    return shipped().words.tables
