"""How two reports or environments differ, and one report from many."""

from __future__ import annotations

from envdoctor.model.dataclass import dataclass

__all__ = ["Change", "Deviation", "Outlier"]


@dataclass(frozen=True, slots=True)
class Change:
    """One point in which the second differs from the first."""

    about: str
    """``package``, ``python``, ``fact``, ``finding``, ``conflict``, ``kernel``, ``verdict``, ``complete``, ``profile``,
    ``target`` or ``resolution``."""
    name: str
    before: str | None
    after: str | None
    matters: bool
    because: str = ""


@dataclass(frozen=True, slots=True)
class Deviation:
    """One point in which a report is not like most others."""

    about: str
    """As in ``Change``, or ``rate``."""
    name: str
    value: str | None
    """None: it has nothing there."""
    usual: str | None
    """What most have, or the median."""
    share: int
    """How many have the usual, or how many the median is of."""
    matters: bool


@dataclass(frozen=True, slots=True)
class Outlier:
    """A report and where it differs, what matters first."""

    report: str
    """Its file, by its path in the folder."""
    host: str | None
    rank: int | None
    verdict: str
    deviations: tuple[Deviation, ...]

    @property
    def weight(self) -> int:
        """How many deviations matter."""
        return sum(item.matters for item in self.deviations)
