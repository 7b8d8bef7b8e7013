"""Advisory files: all of a folder to one book, all faults at once, and what must hold over all files together."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path

from envdoctor.diagnose.advisories.advisory import Advisory
from envdoctor.diagnose.advisories.row import read_advisory
from envdoctor.diagnose.advisories.vocabulary import InvalidAdvisories, Vocabulary, part_of, shipped, vocabulary
from envdoctor.model.dataclass import dataclass
from envdoctor.model.version_table import VersionTable
from envdoctor.shipped import advisories_folder
from envdoctor.toml_tables import Document, Fault, TomlError

__all__ = ["InvalidAdvisories", "read_advisories", "read_further", "read_some", "shipped_advisories"]


@dataclass(frozen=True, slots=True)
class AdvisoryBook:
    """All advisories, by code, with the tables they use."""

    advisories: tuple[Advisory, ...]
    tables: Mapping[str, VersionTable]


_Found = list[tuple[Document, str, Advisory]]
"""Each advisory with its document and key path."""


def _read(documents: Iterable[Document], words: Vocabulary) -> _Found:
    found: _Found = []
    for document in documents:
        for row in document.table().tables("advisory"):
            found.append((document, row.path, read_advisory(row, words)))
    return found


def _compare(found: _Found, known: Iterable[str] = ()) -> None:
    """Note codes and ids that are there twice, and codes that nothing has; ``known``: codes of other files."""
    seen: dict[str, str] = {}
    known = {*known, *(advisory.code for _, _, advisory in found)}
    for document, path, advisory in found:
        for value in (advisory.code, advisory.id):
            if value in seen:
                document.faults.add(path, f"`{value}` is already used by {seen[value]}")
            seen[value] = f"{advisory.source}: {path}"
        for code in advisory.instead_of:
            if code not in known:
                document.faults.add(f"{path}.instead_of", f"there is no advisory `{code}`")


def _sound(documents: Iterable[Document], found: _Found, broken: Iterable[str] = ()) -> tuple[Advisory, ...]:
    """Return the advisories, by code. Raises InvalidAdvisories with all faults of all documents."""
    faults = [*broken, *(text for document in documents for text in document.faults.texts())]
    if faults:
        raise InvalidAdvisories(faults)
    return tuple(sorted((advisory for _, _, advisory in found), key=lambda item: item.code))


def _document(path: Path, source: str) -> Document | Fault:
    try:
        return Document(path.read_text(encoding="utf-8"), source)
    except TomlError as error:
        return Fault("", error.reason, error.line)
    except (OSError, ValueError) as error:
        return Fault("", str(error))


def read_advisories(folder: Path) -> AdvisoryBook:
    """Read every ``*.toml`` of a folder. Raises InvalidAdvisories with all faults of all files."""
    documents: list[Document] = []
    broken: list[str] = []
    for path in sorted(folder.glob("*.toml")):
        document = _document(path, path.name)
        if isinstance(document, Document):
            documents.append(document)
        else:
            broken.append(document.in_file(path.name))
    words = vocabulary(documents)
    found = _read(documents, words)
    _compare(found)
    return AdvisoryBook(_sound(documents, found, broken), words.tables)


_FURTHER = re.compile(r"ADV9\d\d")
"""Codes of others' advisories: none of the shipped ones is called so."""


def read_further(files: Iterable[tuple[Path, str]]) -> tuple[Advisory, ...]:
    """Return the advisories of others' files, which may use the shipped tables. Nothing of a file is ever executed.

    ``files``: each with what a person knows it by. Raises InvalidAdvisories with all faults of all files.
    """
    documents: list[Document] = []
    broken: list[str] = []
    for path, source in files:
        document = _document(path, source)
        if isinstance(document, Document):
            documents.append(document)
        else:
            broken.append(document.in_file(source))
    texts = shipped()
    words = vocabulary(documents)
    words = Vocabulary({**texts.words.tables, **words.tables}, {**texts.words.projects, **words.projects})
    found = _read(documents, words)
    _compare(found, known=texts.rows)
    for document, place, advisory in found:
        if not _FURTHER.fullmatch(advisory.code):
            document.faults.add(f"{place}.code", f"`{advisory.code}` is not of ADV900 to ADV999, which are others' own")
    return _sound(documents, found, broken)


@lru_cache(maxsize=512)
def _shipped_advisory(code: str) -> Advisory:
    texts = shipped()
    source, text = texts.rows[code]
    document = part_of(text, source)
    return _sound([document], _read([document], texts.words))[0]


def read_some(codes: Iterable[str]) -> tuple[Advisory, ...]:
    """Return the shipped advisories of these codes, by code; the others are not parsed, and none is parsed twice.

    Raises InvalidAdvisories for faults in what was read.
    """
    return tuple(map(_shipped_advisory, sorted(codes)))


@lru_cache(maxsize=1)
def shipped_advisories() -> AdvisoryBook:
    """Return the advisories that ship with the package."""
    return read_advisories(advisories_folder())
