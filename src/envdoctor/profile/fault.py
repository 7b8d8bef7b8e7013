"""What is wrong with a profile, all of it at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

__all__ = ["Fault", "ProfileError", "did_you_mean"]


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault of a profile file."""

    key_path: str
    """``requires[0].because``; empty for the file as a whole."""
    message: str
    line: int | None = None
    """1-based; None where the fault has no line of its own."""

    def __str__(self) -> str:
        return f"`{self.key_path}`: {self.message}" if self.key_path else self.message


class ProfileError(Exception):
    """A profile that cannot be used, with every fault that was found in ``source``."""

    def __init__(self, source: str, faults: Iterable[Fault]) -> None:
        self.source = source
        self.faults = tuple(faults)
        super().__init__(source, self.faults)

    def __str__(self) -> str:
        return "\n".join(
            f"{self.source}:{fault.line}: {fault}" if fault.line else f"{self.source}: {fault}" for fault in self.faults
        )


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ``; did you mean `x`?`` for the nearest of ``known``, or an empty string."""
    close = get_close_matches(word.lower(), sorted(known), n=1, cutoff=0.6)
    return f"; did you mean `{close[0]}`?" if close else ""
