"""What is known to break in a resolution, as whoever judges it tells the search for repairs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from packaging.utils import NormalizedName

from envdoctor.model.resolution import Resolution

__all__ = ["Failure", "Judge", "shared_by_all"]


@dataclass(frozen=True, slots=True)
class Failure:
    """One known breakage."""

    rule: str
    """The code of the rule or advisory that knows it."""
    subject: str
    message: str
    packages: frozenset[NormalizedName] = frozenset()
    """The packages of the resolution that have a part in it."""

    @property
    def key(self) -> tuple[str, str]:
        """What makes it the same failure in two resolutions."""
        return self.rule, self.subject


Judge: TypeAlias = Callable[[Resolution], Sequence[Failure]]


def shared_by_all(judged: Iterable[Sequence[Failure]]) -> frozenset[tuple[str, str]]:
    """Return the keys of the failures that every one of several resolutions has: no choice among them avoids those."""
    keys = [frozenset(failure.key for failure in failures) for failures in judged]
    return frozenset.intersection(*keys) if keys else frozenset()
