"""A checked `[[patch]]` table as a value."""

from __future__ import annotations

from typing import Any

from envdoctor.model.origin import ProfileOrigin
from envdoctor.model.profile import Patch, PatchKind

__all__ = ["build_patch"]

# The field of Patch that the key of each kind fills.
_SUBJECT = {
    PatchKind.GUARD_IMPORT: "module",
    PatchKind.STUB_FUNCTION: "function",
    PatchKind.REPLACE_FUNCTION: "function",
    PatchKind.SET_ATTRIBUTE: "attribute",
    PatchKind.SET_ARGUMENT: "argument",
    PatchKind.REPLACE_REQUIREMENT: "requirement",
    PatchKind.REPLACE_TEXT: "find",
}
_SAME = ("because", "evidence", "root", "name", "fallback", "source", "call", "value", "count", "component", "when")


def build_patch(table: dict[str, Any], origin: ProfileOrigin) -> Patch:
    """Return the patch that a faultless table describes."""
    kind = next(kind for kind in PatchKind if kind.value in table)
    fields: dict[str, Any] = {key: table[key] for key in _SAME if key in table}
    if "function" in table:
        fields["function"] = table["function"]
    if "with" in table:
        fields["replace"] = table["with"]
    if kind in _SUBJECT:
        fields[_SUBJECT[kind]] = table[kind.value]
    files = tuple(table["files"]) if "files" in table else (table["file"],)
    return Patch(kind=kind, files=files, optional=table.get("optional", False), origin=origin, **fields)
