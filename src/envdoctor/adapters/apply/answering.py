"""A program that was started to see whether it answers at an address, and ended again."""

from __future__ import annotations

import contextlib
import http.client
import subprocess
import time
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from envdoctor.adapters.process_tree import ProcessTree
from envdoctor.model.dataclass import dataclass

__all__ = ["Answer", "status_at", "wait_for_answer"]

_BETWEEN_S = 0.5
_ONE_REQUEST_S = 5.0
_TO_END_S = 10.0
_OWN_FAULT = 500


@dataclass(frozen=True, slots=True)
class Answer:
    """Whether and how soon the program answered at its address, or how it ended."""

    seconds: float
    """From the start of the program until that was known."""
    status: int | None = None
    """The HTTP status of the last answer; None where nothing answered."""
    ended_with: int | None = None
    """The exit code of a program that ended before it answered."""

    @property
    def is_well(self) -> bool:
        """Whether the program answered, and not with a failure of its own."""
        return self.status is not None and self.status < _OWN_FAULT


def status_at(url: str) -> int | None:
    """Return the HTTP status of one request to an ``http`` or ``https`` address, without a proxy; None: no answer."""
    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    try:
        connection = kind(parts.hostname or "", parts.port, timeout=_ONE_REQUEST_S)
        with contextlib.closing(connection):
            connection.request("GET", f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}")
            return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return None


def wait_for_answer(command: Sequence[str], variables: Mapping[str, str], url: str, limit_s: float) -> Answer:
    """Start a command, ask until the address answers, and end it with all that it has started. Raises OSError."""
    begun = time.monotonic()
    tree, status = ProcessTree(command, env=dict(variables)), None
    try:
        while (seconds := time.monotonic() - begun) < limit_s:
            code = tree.process.poll()
            if code is not None:
                return Answer(seconds, status, code)
            status = status_at(url) or status
            if Answer(seconds, status).is_well:
                return Answer(time.monotonic() - begun, status)
            time.sleep(_BETWEEN_S)
        return Answer(time.monotonic() - begun, status)
    finally:
        tree.process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            tree.process.wait(_TO_END_S)
        tree.kill()
