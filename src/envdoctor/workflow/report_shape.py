"""Whether a JSON document is a report that can be compared: of this schema, and of the shape that it promises."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from envdoctor.model.report import SCHEMA

__all__ = ["is_report", "shape_fault"]

_FAMILY = SCHEMA.partition("/")[0] + "/"
_ROWS = {
    "facts": ("name", "state"),
    "kernels": ("kernel", "device", "status"),
    "findings": ("rule", "name", "subject", "severity"),
    "conflicts": (),
}
"""The lists that are compared, with the strings that each of their rows has."""


def is_report(document: object) -> bool:
    """Return whether a document says that it is a report, of whatever schema number."""
    return isinstance(document, Mapping) and str(document.get("schema", "")).startswith(_FAMILY)


def shape_fault(document: Mapping[str, Any]) -> str | None:
    """Return what is wrong with a report, by key path; None where it can be compared."""
    if document["schema"] != SCHEMA:
        return f"schema: `{document['schema']}` is not the schema that this envdoctor reads, `{SCHEMA}`"
    return next(_faults(document), None)


def _faults(document: Mapping[str, Any]) -> Iterator[str]:
    for key in ("target", "resolution"):
        if not isinstance(document.get(key), Mapping | None):
            yield f"{key}: must be an object or null"
            return
    rows = {key: (document.get(key, []), names) for key, names in _ROWS.items()}
    resolution = document.get("resolution")
    if resolution is not None:
        rows["resolution.packages"] = (resolution.get("packages"), ("name", "version"))
    for key, (entries, names) in rows.items():
        yield from _row_faults(key, entries, names)
    for number, entry in enumerate(document.get("conflicts", [])):
        yield from _row_faults(f"conflicts[{number}].core", entry.get("core"), ("requirement",))


def _row_faults(key: str, entries: object, names: tuple[str, ...]) -> Iterator[str]:
    if not isinstance(entries, list):
        yield f"{key}: must be an array"
        return
    for number, entry in enumerate(entries):
        if not isinstance(entry, Mapping):
            yield f"{key}[{number}]: must be an object"
            return
        missing = [name for name in names if not isinstance(entry.get(name), str)]
        if missing:
            yield f"{key}[{number}].{missing[0]}: must be a string"
