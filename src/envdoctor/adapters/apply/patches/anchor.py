"""What a patch says when a file is not as it expects."""

from __future__ import annotations

__all__ = ["AnchorMissing"]


class AnchorMissing(Exception):
    """The place that a patch changes is not in the file; the text says what was looked for."""

    def __init__(self, looked_for: str) -> None:
        super().__init__(looked_for)
        self.looked_for = looked_for
