"""What pip and uv say that they put into an environment and took away, as logs and pastes show it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from packaging.utils import NormalizedName, canonicalize_name
from packaging.version import Version

__all__ = ["left_by_installs", "versions_of"]

_CHANGED = re.compile(
    r"\bSuccessfully installed (.+)|^[^\S\n]*([-+~]) ([A-Za-z][\w.-]*)==(\d[\w.+!]*)$"
    r"|\bAttempting uninstall: (\S{1,200})|\bSuccessfully uninstalled (\S{1,200})"
    r"|\bRolling back uninstall of (\S{1,200})",
    re.MULTILINE,
)
_ITEM = re.compile(r"([A-Za-z0-9][\w.-]*)-(\d[\w.+!]*)")

Versions = dict[NormalizedName, str]


def left_by_installs(text: str) -> tuple[Versions, frozenset[NormalizedName]]:
    """Return what the installs of a text put in and did not take away again, by name, and what they took away.

    Where a version is put in beside another one another environment begins: what was in the first does not count.
    An install that fails puts back what it took away for another version.
    """
    there: Versions = {}
    before: Versions = {}
    gone = set[NormalizedName]()
    for match in _CHANGED.finditer(text):
        many, sign, name, version, going, went, back = match.groups()
        if back:
            gone.discard(canonicalize_name(back))
            there |= {each: before[each] for each in before if each == canonicalize_name(back)}
            continue
        added = versions_of([(name, version)] if sign else _items(many or went or ""))
        if sign == "-":  # In a list of somebody's it stands before what is there.
            taken = {each for each in added if added[each] == there.get(each)}
        else:
            taken = {canonicalize_name(going)} if going else set(added) if went else set()
        if taken or sign == "-" or not added:
            gone |= taken
            before |= {each: there[each] for each in there if each in taken} | (added if went else {})
            there = {each: there[each] for each in there if each not in taken}
            continue
        if any(there.get(each, added[each]) != added[each] for each in added):
            there = {}
        there |= added
        gone -= set(added)
    return there, frozenset(gone)


def versions_of(pairs: Iterable[tuple[str, str]]) -> Versions:
    """Return the versions of pairs of names and texts, as they are normally written; what is no version is left out."""
    found = {canonicalize_name(name): _version(text) for name, text in pairs}
    return {name: version for name, version in found.items() if version is not None}


def _items(text: str) -> Iterable[tuple[str, str]]:
    return ((match[1], match[2]) for word in text.split() if (match := _ITEM.fullmatch(word)))


def _version(text: str) -> str | None:
    try:
        return str(Version(text.rstrip(".")))
    except ValueError:  # Also of more digits than Python reads.
        return None
