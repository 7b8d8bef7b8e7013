"""Faults of what the user gave us: one clear message each, exit code 2."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["UsageFault"]


class UsageFault(Exception):
    """The command cannot start as it was given; every message says what is wrong, where, and what to do."""

    def __init__(self, *messages: str) -> None:
        super().__init__("; ".join(messages))
        self.messages: Sequence[str] = messages
