"""HTTP for many threads: retries with back-off, hosts that are left alone, and an end to all patience."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import field
from datetime import datetime, timezone
from urllib.parse import urlsplit

from envdoctor.adapters.index.client import Clients
from envdoctor.adapters.index.connections import Connections
from envdoctor.adapters.index.credentials import Credentials, origin_of
from envdoctor.adapters.index.exchange import Asked, Exchange, Reply, TransportError, host_of
from envdoctor.adapters.index.index_settings import PATIENCE_VARIABLE
from envdoctor.adapters.index.pip_settings import PipSettings, proxy_variable
from envdoctor.model.dataclass import dataclass

__all__ = ["AGAIN", "ATTEMPTS", "Reply", "Transport", "TransportError"]

PAGE_LIMIT = 256 * 1024 * 1024
"""Bytes of a page beyond which something is wrong."""
ATTEMPTS = 4
"""Requests that one answer may take."""
_BUSY = frozenset({429, 503})
AGAIN = _BUSY | {408, 500, 502, 504}
"""Statuses of what may pass."""
_SHORT_CONNECT = 4.0
"""Seconds that one attempt to reach an extra index may take."""


@dataclass(slots=True)
class Transport:
    """One pool of connections, shared by all threads; made when the first request needs it. Times are in seconds.

    A host that gives no usable answer for ``patience``, all requests and attempts together, is not asked again.
    """

    pip: PipSettings
    credentials: Credentials
    timeout: float = 20.0
    concurrency: int = 24
    patience: float = 60.0
    sleep: Callable[[float], None] = time.sleep
    note: Callable[[str], None] = lambda _text: None
    waiting: Callable[[str], None] = lambda _host: None
    """Told, about once a second, which host keeps a request waiting."""
    _clients: Clients | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _dead: dict[str, TransportError] = field(default_factory=dict)
    _silent_since: dict[str, float] = field(default_factory=dict)
    """By origin: when the oldest request began of those after its last sign of life."""
    _served: dict[str, float] = field(default_factory=dict)
    """By origin: when it last answered to the end."""
    _closed: bool = False
    _connections: Connections = field(default_factory=Connections)

    def get(
        self, url: str, headers: Mapping[str, str] | None = None, limit: int = PAGE_LIMIT, patient: bool = True
    ) -> Reply:
        """Fetch a URL. Raises TransportError.

        ``patient=False``: one short attempt to reach a host, until it has answered once. A host that could not be
        reached is not tried again by this object. A busy or failing answer is asked for again in any case.
        """
        origin = origin_of(url)
        begun = time.monotonic()
        with self._lock:
            stop = self._silent_since.setdefault(origin, begun) + self.patience
        for attempt in range(ATTEMPTS):
            if origin in self._dead:
                raise self._dead[origin].again()
            patient = patient or origin in self._served
            outcome = self._tried(url, headers, limit, patient, stop)
            if isinstance(outcome, Reply) and outcome.status not in AGAIN:
                with self._lock:
                    self._served[origin] = time.monotonic()
                return outcome
            wait = _delay(attempt, outcome.headers if isinstance(outcome, Reply) else {})
            hopeless = isinstance(outcome, TransportError) and (outcome.lasting or not patient)
            late = time.monotonic() + wait >= stop
            if hopeless or late or attempt + 1 == ATTEMPTS:
                return self._given_up(outcome, url, patient, begun, late)
            self.waiting(host_of(url))
            self.sleep(wait)
        raise AssertionError  # pragma: no cover - the last attempt returns or raises

    def close(self) -> None:
        """Close the connections, without waiting; work that is still under way fails."""
        with self._lock:
            self._closed = True
        self._connections.end()
        if self._clients is not None:
            self._clients.close()

    def _tried(
        self, url: str, headers: Mapping[str, str] | None, limit: int, patient: bool, stop: float
    ) -> Reply | TransportError:
        """Return the answer, or why there is none, of one attempt."""
        sent = dict(headers or {})
        authorization = self.credentials.authorization(url)
        if authorization:
            sent["Authorization"] = authorization
        connect = self.timeout if patient else min(_SHORT_CONNECT, self.timeout)
        stop = min(stop, time.monotonic() + connect + self.timeout)

        def alive() -> None:
            with self._lock:
                self._silent_since.pop(origin_of(url), None)

        asked = Asked(url, sent, self.timeout, connect, stop, lambda: self.waiting(host_of(url)))
        try:
            return Exchange(self._open(), asked, limit, alive).perform()
        except TransportError as error:
            return error

    def _given_up(self, outcome: Reply | TransportError, url: str, patient: bool, begun: float, late: bool) -> Reply:
        """Return the last answer or raise the last error; leave the host alone from now on where it is at fault."""
        origin = origin_of(url)
        with self._lock:
            self._silent_since.pop(origin, None)
            served = self._served.get(origin, 0.0) >= begun
        if isinstance(outcome, Reply):
            if outcome.status not in _BUSY:
                return outcome
            error, final = TransportError(f"{_busy(outcome)}{self._given()}"), not served
        else:
            late = late and outcome.silent
            error = self._explained(outcome, url, late)
            final = outcome.unreachable or not patient or (late and not served)
        if final:
            self._dead.setdefault(origin, error)
        raise error

    def _explained(self, error: TransportError, url: str, late: bool) -> TransportError:
        """Return the error with what a person can change about it."""
        text = str(error)
        if late:
            text += self._given()
        proxy = proxy_variable(self.pip.proxy, urlsplit(url).scheme) if error.unreachable else None
        if proxy:
            text += f"; {proxy} names a proxy for it"
        return TransportError(text, error.unreachable, error.lasting, error.silent)

    def _given(self) -> str:
        return f"; it was given {self.patience:g} s, which `{PATIENCE_VARIABLE}` changes"

    def _open(self) -> Clients:
        with self._lock:
            if self._closed:
                raise TransportError("it was closed", lasting=True)
            if self._clients is None:
                self._clients = Clients(self.pip, self.concurrency, self.note, self._connections)
            return self._clients


def _busy(reply: Reply) -> str:
    seconds = _seconds(reply.headers)
    later = f" and asks to be left alone for {seconds:.0f} s" if seconds is not None and seconds < 1e9 else ""
    return f"{host_of(reply.url)} is busy (it answered {reply.status}){later}"


def _delay(attempt: int, headers: Mapping[str, str]) -> float:
    """Return the seconds to wait: what the server asks for, else exponential with jitter."""
    asked = _seconds(headers)
    if asked is not None:
        return asked
    import random  # most requests are made once

    return float(0.3 * 2**attempt * random.uniform(0.5, 1.5))  # noqa: S311 - jitter, no secret


def _seconds(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a ``Retry-After`` asks for, None where there is none or it cannot be read.

    A date there is of the server's clock, which ``Date`` tells: this machine's may be wrong.
    """
    text = headers.get("retry-after", "").strip()
    if text.isascii() and text.isdigit():
        return float(text[:300])
    until = _moment(text)
    if until is None:
        return None
    now = _moment(headers.get("date", "")) or datetime.now(timezone.utc)
    return max((until - now).total_seconds(), 0.0)


def _moment(text: str) -> datetime | None:
    """Return the moment of a date as HTTP writes it, None where it is none or lacks its zone."""
    if not text:
        return None
    from email.utils import parsedate_to_datetime  # few servers ask to wait until a date

    try:
        moment = parsedate_to_datetime(text)
    except (TypeError, ValueError, OverflowError, IndexError):
        return None
    return moment if moment.tzinfo is not None else None
