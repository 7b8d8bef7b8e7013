"""One reader against many inputs: what it may raise is announced, and it ends in time."""

from __future__ import annotations

import random
import signal
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import envdoctor
from fuzz.mutation import mutated
from fuzz.places import former_findings

_PACKAGE = Path(envdoctor.__file__).parent

__all__ = ["Finding", "Outcome", "Reader", "attack"]

SLOW = 5.0
"""Seconds of processor time from which an input is a finding."""
HANGING = 60
"""Seconds after which it is ended."""


@dataclass(frozen=True)
class Reader:
    """What reads one kind of input."""

    name: str
    read: Callable[[bytes], object]
    seeds: tuple[bytes, ...]
    announced: tuple[type[Exception], ...] = ()
    """What it may raise."""
    makers: tuple[Callable[[int], bytes], ...] = ()
    """Of inputs of about so many bytes, where a line of a seed again and again is none."""


@dataclass(frozen=True)
class Finding:
    """An input that a reader did not take as it should."""

    reader: str
    what: str
    data: bytes
    trace: str = ""


@dataclass
class Outcome:
    """How often a reader was asked, and what came out."""

    inputs: int = 0
    refused: int = 0
    findings: dict[str, Finding] = field(default_factory=dict)
    """One for each place in the code."""


class _Hangs(BaseException):
    pass


@contextmanager
def _bounded() -> Iterator[None]:
    def stop(_number: int, _frame: object) -> None:
        raise _Hangs

    if not hasattr(signal, "SIGALRM"):
        yield
        return
    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(HANGING)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def attack(reader: Reader, chance: random.Random, inputs: int, until: float) -> Outcome:
    """Give the reader its seeds, what was found before, and so many mutated inputs, or as many as time allows."""
    outcome = Outcome()
    for seed in (*reader.seeds, *former_findings(reader.name)):
        _try(reader, seed, outcome)
    while outcome.inputs < inputs and time.monotonic() < until:
        _try(reader, mutated(chance, reader.seeds), outcome)
    return outcome


def _try(reader: Reader, data: bytes, outcome: Outcome) -> None:
    outcome.inputs += 1
    begun = time.process_time()
    try:
        with _bounded():
            reader.read(data)
    except reader.announced:
        outcome.refused += 1
    except (Exception, _Hangs) as error:  # noqa: BLE001 - whatever it is, it is a finding
        place = _place(error)
        what = f"{type(error).__name__.lstrip('_')} in {place}"
        outcome.findings.setdefault(what, Finding(reader.name, what, data, _shortened(error)))
    if time.process_time() - begun > SLOW:
        outcome.findings.setdefault("slow", Finding(reader.name, f"takes more than {SLOW:g} s", data))


def _place(error: BaseException) -> str:
    place = "?"
    for frame in traceback.extract_tb(error.__traceback__):
        if _PACKAGE in Path(frame.filename).parents:
            place = f"{Path(frame.filename).relative_to(_PACKAGE).as_posix()}:{frame.name}"
    return place


def _shortened(error: BaseException) -> str:
    text = "".join(traceback.format_exception(error))
    return text if len(text) < 6000 else f"{text[:3000]}\n...\n{text[-3000:]}"
