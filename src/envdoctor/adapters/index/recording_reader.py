"""Reads the JSON of a recording, and says by file and key what is not as a recording has it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from packaging.version import Version

from envdoctor.adapters.index.recording_format import FORMAT
from envdoctor.model.candidate import (
    BuildRisk,
    MetadataSource,
)
from envdoctor.model.unknown import UnknownKind

__all__ = ["BadRecording", "read_about", "read_document"]


class BadRecording(Exception):
    """A file that is not what a recording holds; the text names it and the key."""


def read_about(directory: Path) -> dict[str, Any]:
    """Return ``recording.json``. Raises BadRecording with what to do."""
    made = "`scripts/record_index.py` makes one"
    if not directory.is_dir():
        raise BadRecording(f"there is no such directory; {made}")
    path = directory / "recording.json"
    if not path.exists():
        raise BadRecording(f"it is not a recorded index, for it has no recording.json; {made}")
    about = _parsed(path)
    if about.get("format") != FORMAT:
        raise BadRecording(f"recording.json: `format` is not {FORMAT}, the one that is known here; record it anew")
    unreachable = about.get("unreachable", [])
    if not isinstance(unreachable, list) or not all(map(_index_entry, unreachable)):
        raise BadRecording("recording.json: `unreachable` is not a list of what indexes did not tell")
    return about


def read_document(path: Path) -> dict[str, Any]:
    """Return a project's document, each part of the right kind. Raises BadRecording and FileNotFoundError."""
    document = _parsed(path)
    for key, kind, what in _PARTS:
        if key in document and not kind(document[key]):
            raise BadRecording(f"{path.name}: `{key}` is not {what}")
    for number, entry in enumerate(document.get("files", ())):
        fault = _file_fault(entry)
        if fault is not None:
            raise BadRecording(f"{path.name}: `files[{number}]{fault}")
    for name, entry in document.get("metadata", {}).items():
        fault = _metadata_fault(entry)
        if fault is not None:
            raise BadRecording(f"{path.name}: `metadata[{name}]{fault}")
    return document


def _parsed(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise
    except OSError as error:
        raise BadRecording(f"{path.name} cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise BadRecording(f"{path.name} is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise BadRecording(f"{path.name}, line {error.lineno}: not JSON ({error.msg})") from None
    except (RecursionError, ValueError):
        raise BadRecording(f"{path.name} is no JSON that can be read here") from None
    if not isinstance(document, dict):
        raise BadRecording(f"{path.name} is not a table")
    return document


def _text(value: object) -> bool:
    return isinstance(value, str)


def _texts(value: object) -> bool:
    return isinstance(value, list) and all(map(_text, value))


def _table_of(kind: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, dict) and all(map(kind, value.values()))


def _none_or_text(value: object) -> bool:
    return value is None or isinstance(value, str)


def _risk(value: object) -> bool:
    return value in {risk.value for risk in BuildRisk} if isinstance(value, str) else False


def _index_entry(value: object) -> bool:
    """Return whether a value is index, URL, kind, cause and status, or the three texts of earlier recordings."""
    return isinstance(value, list) and _texts(value) and (len(value) == 3 or (len(value) == 5 and _kind(value[2])))


def _unread_entry(value: object) -> bool:
    """Return whether a value is kind and cause, or the one text of earlier recordings."""
    pair = isinstance(value, list) and _texts(value) and len(value) == 2
    return isinstance(value, str) or (pair and _kind(value[0]))  # type: ignore[index]


def _kind(text: str) -> bool:
    return text in {kind.value for kind in UnknownKind}


_PARTS: tuple[tuple[str, Callable[[Any], bool], str], ...] = (
    ("index", _text, "a text"),
    ("unavailable", _index_entry, "what an index did not tell"),
    ("unread", _index_entry, "what an index did not tell"),
    ("skipped", _texts, "a list of texts"),
    ("files", lambda value: isinstance(value, list), "a list"),
    ("metadata", lambda value: isinstance(value, dict), "a table"),
    ("metadata-unavailable", _table_of(_unread_entry), "a table of what files did not tell"),
    ("names", _table_of(_texts), "a table of lists of texts"),
    ("members", _table_of(_table_of(_none_or_text)), "a table of tables of texts"),
    ("build-risk", _table_of(_risk), "a table of grades of build risk"),
)


def _file_fault(entry: object) -> str | None:
    """Return what is wrong with a file, from the end of its key on."""
    if not isinstance(entry, dict):
        return "` is not a table"
    if not _text(entry.get("filename")):
        return ".filename` is not a text"
    try:
        Version(entry["version"])
    except (KeyError, TypeError, ValueError):
        return ".version` is not a version"
    if not _table_of(_text)(entry.get("hashes", {})):
        return ".hashes` is not a table of texts"
    size = entry.get("size")
    if size is not None and (not isinstance(size, int) or isinstance(size, bool)):
        return ".size` is not a number of bytes"
    wrong = next((key for key in _FILE_TEXTS if not _none_or_text(entry.get(key))), None)
    return f".{wrong}` is not a text" if wrong else None


_FILE_TEXTS = ("requires-python", "yanked", "upload-time", "index")


def _metadata_fault(entry: object) -> str | None:
    if not isinstance(entry, dict):
        return "` is not a table"
    if entry.get("source") not in [source.value for source in MetadataSource]:
        return ".source` is not a place where metadata is read"
    lists = (key for key in ("requires-dist", "provides-extra", "mended") if not _texts(entry.get(key, [])))
    wrong = next(lists, None)
    if wrong is not None:
        return f".{wrong}` is not a list of texts"
    return None if _none_or_text(entry.get("requires-python")) else ".requires-python` is not a text"
