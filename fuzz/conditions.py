"""Universes whose requirements have conditions: extras, markers, Requires-Python, yanked versions, pre-releases.

Each of them means the same as a plain universe, in which an extra is a project of its own and what does not count for
this interpreter is not there. So trying everything knows their answers, too.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from packaging.requirements import Requirement

Described = dict[str, dict[str, dict[str, Any]]]
"""Project, version, and what a scenario says of it: ``requires``, ``extras``, ``yanked``, ``requires_python``."""
Plain = dict[str, dict[str, list[str]]]

MARKERS = ("", "", "python_version >= '3.9'", "python_version < '3.9'", "os_name == 'no such system'")
YANKED, PRE_RELEASE, FOREIGN = "5", "6rc1", "7"
"""Versions that nobody names, higher than all others: yanked, before its release, for a Python to come."""
EXTRA = "x"


class Conditional(NamedTuple):
    """What an index has with all conditions, and what a project asks for."""

    table: Described
    lines: list[str]


def conditional(chance: random.Random, table: Plain, lines: list[str]) -> Conditional:
    """Return a plain universe with conditions added to it."""
    described: Described = {}
    for name, versions in table.items():
        described[name] = {}
        for version, demands in versions.items():
            entry: dict[str, Any] = {"requires": [_conditioned(chance, text) for text in demands]}
            others = [other for other in table if other != name]
            if others and chance.random() < 0.6:
                wanted = chance.choice(others) + chance.choice(("", "==1", ">=2"))
                entry["extras"] = {EXTRA: [_conditioned(chance, wanted)]}
            described[name][version] = entry
        for version, about in _unusable(chance):
            described[name][version] = {"requires": [], **about}
    # Two lines that mean the same would be two ways to tell one conflict.
    distinct = {tuple(_plain_of([line])): line for line in (_conditioned(chance, text) for text in lines)}
    return Conditional(described, list(distinct.values()))


def _unusable(chance: random.Random) -> Iterator[tuple[str, dict[str, Any]]]:
    if chance.random() < 0.3:
        yield YANKED, {"yanked": "broken"}
    if chance.random() < 0.3:
        yield PRE_RELEASE, {}
    if chance.random() < 0.3:
        # uv reads no upper bound of Requires-Python.
        yield FOREIGN, {"requires_python": ">=3.99"}


def _conditioned(chance: random.Random, text: str) -> str:
    wanted = Requirement(text)
    extra = f"[{EXTRA}]" if wanted.name != "z" and chance.random() < 0.3 else ""
    marker = chance.choice(MARKERS)
    return f"{wanted.name}{extra}{wanted.specifier}" + (f" ; {marker}" if marker else "")


def plain(given: Conditional) -> tuple[Plain, list[list[str]]]:
    """Return the plain table that means the same, and for each line what it asks for in it: one text, or nothing."""
    table: Plain = {}
    for name, versions in given.table.items():
        usable = {v: entry for v, entry in versions.items() if v not in (YANKED, PRE_RELEASE, FOREIGN)}
        table[name] = {v: _plain_of(entry["requires"]) for v, entry in usable.items()}
        # An extra that a version does not have asks for nothing more than the version.
        table[f"{name}-{EXTRA}"] = {
            v: [f"{name}=={v}", *_plain_of(entry.get("extras", {}).get(EXTRA, ()))] for v, entry in usable.items()
        }
    return table, [_plain_of([line]) for line in given.lines]


def _plain_of(texts: Any) -> list[str]:
    found = []
    for text in texts:
        wanted = Requirement(text)
        if wanted.marker is None or wanted.marker.evaluate():
            found.append(f"{wanted.name}{f'-{EXTRA}' if wanted.extras else ''}{wanted.specifier}")
    return found


def with_extras(world: Mapping[str, str], table: Plain, asked: list[str]) -> dict[str, str]:
    """Return a world of projects with the extras that somebody in it asks for."""
    extras: dict[str, str] = {}
    left = list(asked)
    while left:
        name = Requirement(left.pop()).name
        version = world.get(name.removesuffix(f"-{EXTRA}"))
        if name not in extras and version is not None:
            extras[name] = version
            left += table[name][version]
    return {**world, **extras}
