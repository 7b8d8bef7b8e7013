"""Texts of advisories with the versions of a situation in them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from packaging.version import Version

from envdoctor.diagnose.advisories.predicate import Situation
from envdoctor.diagnose.advisories.version_table import VersionTable

__all__ = ["PLACEHOLDER", "Unworded", "worded"]

PLACEHOLDER = re.compile(r"\{([\w-]+)(?:\.(subject|object|public))?\}")
"""``{torch}``, ``{torch.public}``, ``{python}``, ``{cuda}``, or a side of a table: ``{transformers-torch.subject}``."""


class Unworded(Exception):
    """A placeholder has nothing to stand for."""


def worded(
    text: str,
    situation: Situation,
    tables: Mapping[str, VersionTable],
    *,
    strict: bool = False,
    found: str | None = None,
) -> str:
    """Fill the placeholders of a text; ``{found}`` is what the predicate found.

    Raises Unworded where it is strict and one has nothing to stand for.
    """
    values = _values(situation) | ({"found": found} if found else {})

    def fill(match: re.Match[str]) -> str:
        name, side = match.group(1, 2)
        value = _side(name, side, situation, tables) if side else values.get(name)
        if value is None and strict:
            raise Unworded(match.group(0))
        return "(absent)" if value is None else value

    return PLACEHOLDER.sub(fill, text)


def _values(situation: Situation) -> dict[str, str]:
    target = situation.scene.examination.target
    values = {"python": target.python_version if target else "?", "os": target.os.value if target else "?"}
    values["arch"] = target.arch.value if target else "?"
    values["backend"] = target.backend.value if target else "?"
    torch = situation.scene.get("torch")
    if torch is not None and torch.cuda_major is not None:
        values["cuda"] = str(torch.cuda_major)
    return values | {name: str(view.version) for name, view in situation.scene.packages.items()}


def _side(name: str, side: str, situation: Situation, tables: Mapping[str, VersionTable]) -> str | None:
    if side == "public":
        view = situation.scene.get(name)
        return view.version.public if view else None
    return _of_table(tables.get(name), side, situation)


def _of_table(table: VersionTable | None, side: str, situation: Situation) -> str | None:
    """Return which versions of one side go with what is there of the other."""
    subject = situation.scene.get(table.subject) if table else None
    if table is None or subject is None:
        return None
    if side == "object":
        return table.wanted(subject.version)
    values = _values(situation)
    there = values.get(table.object)
    return table.going_with(Version(there), subject.version) if there and there != "?" else None
