"""Measured properties of a host or environment, each with its source."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator
from typing import Any

from envdoctor.model.dataclass import dataclass

__all__ = ["Fact", "FactState", "Facts"]


class FactState(enum.Enum):
    """``absent`` means looked for and not there; ``unknown`` means it could not be looked for."""

    KNOWN = "known"
    ABSENT = "absent"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Fact:
    """One property, such as ``gpu[0].architecture``."""

    name: str
    state: FactState
    value: Any = None
    """A string, number, boolean or list of strings; units stand in the name (``memory_bytes``)."""
    source: str = ""
    """What answered: ``nvml``, ``/proc/version``, a file of facts, an override variable."""
    overridden_by: str | None = None
    """The environment variable that replaced what was measured."""
    reason: str | None = None
    """Why it is unknown."""
    timed_out: bool = False
    """It is unknown, and what would tell did not end in time: another try may."""


class Facts:
    """An immutable collection of facts by name."""

    def __init__(self, facts: Iterable[Fact] = ()) -> None:
        self._facts = {fact.name: fact for fact in facts}

    def __iter__(self) -> Iterator[Fact]:
        return iter(self._facts.values())

    def __len__(self) -> int:
        return len(self._facts)

    def get(self, name: str) -> Fact:
        """Return the fact called ``name``; one that was never probed is unknown."""
        return self._facts.get(name) or Fact(name, FactState.UNKNOWN, reason="not probed")

    def value(self, name: str) -> Any:
        """Return the value of a known fact, else None."""
        fact = self.get(name)
        return fact.value if fact.state is FactState.KNOWN else None

    def of_cards(self, *parts: str) -> list[Fact]:
        """Return the facts of cards, such as ``gpu[0].name``: those of these names, or all where none is given."""
        own = (fact for fact in self if fact.name.startswith("gpu["))
        return [fact for fact in own if not parts or fact.name.endswith(tuple(f"].{part}" for part in parts))]

    def merged(self, other: Iterable[Fact]) -> Facts:
        """Return a collection in which ``other`` replaces facts of the same name."""
        return Facts([*self, *other])
