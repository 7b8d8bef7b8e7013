"""Events for the parent: one JSON object a line, on a private copy of stdout.

Whatever a library prints to stdout goes to stderr instead, so it can neither break nor flood the events.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

__all__ = ["Channel"]

LONGEST_TEXT = 2000
"""Characters of any string in an event."""


def _bounded(value: Any) -> Any:
    if isinstance(value, str):
        return value[:LONGEST_TEXT]
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    return value


class Channel:
    """Writes events; every event has left the process before ``send`` returns."""

    def __init__(self) -> None:
        sys.stdout.flush()
        self._fd = os.dup(1)
        os.set_inheritable(self._fd, False)
        os.dup2(2, 1)

    def send(self, event: str, **fields: Any) -> None:
        """Write one event."""
        payload = {"event": event}
        payload.update((key, _bounded(value)) for key, value in fields.items() if value is not None)
        data = (json.dumps(payload) + "\n").encode("ascii")
        while data:
            data = data[os.write(self._fd, data) :]
