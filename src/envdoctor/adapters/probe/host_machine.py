"""The host as its sources ask it, and the asking of all sources at once, so that none of them can keep us waiting.

Each source has a thread that nobody waits for for ever: a folder on a file system that does not answer (NFS, a dead
FUSE mount) blocks whoever looks at it, and no time limit of a child helps there.
"""

from __future__ import annotations

import os
import platform
import shutil
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from pathlib import Path
from typing import Any

from envdoctor.adapters.probe.binary_loader import loader_gap, loader_libraries
from envdoctor.adapters.probe.interpreter_child import ChildOutcome, run_bounded
from envdoctor.model.dataclass import dataclass
from envdoctor.model.fact import Fact, FactState

__all__ = ["Machine", "absent", "collected", "known", "unknown", "unless_barred"]


class _Source(threading.Thread):
    """Collects the facts of one source; daemonic, so that the interpreter ends without it."""

    def __init__(self, name: str, source: Callable[[], Iterable[Fact]]) -> None:
        super().__init__(name=f"facts-{name}", daemon=True)
        self.source = source
        self.facts: list[Fact] = []
        self.failure: str | None = None
        self.late = False
        """A program that it asked did not end in time."""
        self.start()

    def run(self) -> None:
        try:
            for fact in self.source():
                self.facts.append(fact)
        except Exception as error:  # noqa: BLE001 - one odd machine must not cost all other facts
            self.failure = f"{type(error).__name__}: {error}"


def collected(
    sources: Mapping[str, Callable[[], Iterable[Fact]]],
    until: float,
    missing: Callable[[str, str], Iterable[Fact]],
) -> Iterator[tuple[str, list[Fact]]]:
    """Ask all sources at once and yield the facts of each, in their order.

    ``until``: on the monotonic clock; a source that has not ended by then gives what it has. ``missing``: the facts
    that say what a source owes, by its name and the reason; given where it failed or did not end.
    """
    begin = time.monotonic()
    running = {name: _Source(name, source) for name, source in sources.items()}
    for name, source in running.items():
        source.join(max(0.0, until - time.monotonic()))
        failure = source.failure
        if source.is_alive():
            failure = f"{_LATE} {round(max(0.0, until - begin), 1):g} s"
        facts = [*source.facts, *(missing(name, failure) if failure else ())]
        late = source.late or source.is_alive()
        yield name, [replace(fact, timed_out=True) if late and _is_unknown(fact) else fact for fact in facts]


def _is_unknown(fact: Fact) -> bool:
    return fact.state is FactState.UNKNOWN


_LATE = "did not end within"
_NO_TIME = "there was no time left"


_TEXT_LIMIT = 256 * 1024
_OUTPUT_LIMIT = 256 * 1024
_SHORTEST_S = 0.1


@dataclass(slots=True)
class Machine:
    """One host. ``deadline`` is on the monotonic clock; no child runs past it."""

    root: str = "/"
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    system: str = sys.platform
    """``linux``, ``darwin`` or ``win32``."""
    architecture: str = field(default_factory=platform.machine)
    deadline: float = field(default_factory=lambda: time.monotonic() + 5.0)
    child_s: float = 3.0
    """Most seconds for one child."""
    grace_s: float = 3.0
    """Seconds after the deadline in which children are ended and sources say what they have; then they are left."""
    _libraries: frozenset[str] | None = None

    def path(self, path: str) -> Path:
        """Return where an absolute path of that machine lies."""
        return Path(self.root, path.lstrip("/")) if self.root != "/" else Path(path)

    def text(self, path: str) -> str | None:
        """Return a text file's first 256 KiB, None where it cannot be read; a pipe or device is never opened."""
        with suppress(OSError, ValueError):
            if not stat.S_ISREG(self.path(path).stat().st_mode):
                return None
            with self.path(path).open("rb") as file:
                return file.read(_TEXT_LIMIT).decode("utf-8", "replace").replace("\0", "\n").strip()
        return None

    def entries(self, path: str) -> list[str]:
        """Return the names in a folder, sorted; none where there is no such folder."""
        with suppress(OSError, ValueError):
            return sorted(os.listdir(self.path(path)))  # noqa: PTH208 - names alone
        return []

    def barrier(self, path: str) -> str | None:
        """Return why a file or folder cannot be looked at, with its path; None where it can, or where there is none.

        What is not there is absent; what is behind a barrier is unknown.
        """
        target = self.path(path)
        try:
            mode = target.stat().st_mode
            if stat.S_ISDIR(mode):
                os.scandir(target).close()
            elif stat.S_ISREG(mode):
                with target.open("rb") as file:
                    file.read(1)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ValueError) as error:
            return f"{path}: {getattr(error, 'strerror', None) or error}"
        return None

    def exists(self, path: str) -> bool:
        """Return whether something is there."""
        try:
            return self.path(path).exists()
        except (OSError, ValueError):
            return False

    def which(self, name: str) -> str | None:
        """Return the full path of a program on PATH."""
        return shutil.which(name, path=self.environ.get("PATH", ""))

    def libraries(self) -> frozenset[str]:
        """Return the names of the shared libraries that the loader finds (Linux)."""
        if self._libraries is None:
            found = loader_libraries(self.environ) if self.root == "/" else None
            self._libraries = found if found is not None else frozenset()
        return self._libraries

    def loader_silent(self) -> str | None:
        """Return why a library that the loader does not list may be there all the same; None where it is not there."""
        if self.root != "/":
            return "the loader of another root was not asked"
        return loader_gap()

    def run(self, argv: Sequence[str], limit_s: float | None = None) -> ChildOutcome:
        """Run a program with no input, its output bounded, killed with its group when its time is over."""
        left = min(self.deadline - time.monotonic(), limit_s or self.child_s)
        if left < _SHORTEST_S:
            return _noted(ChildOutcome("timed-out", detail=_NO_TIME))
        environment = {**self.environ, "LC_ALL": "C", "LANG": "C"}
        return _noted(run_bounded(argv, timeout_s=left, limit_bytes=_OUTPUT_LIMIT, environment=environment))


def _noted(outcome: ChildOutcome) -> ChildOutcome:
    """Let the source that asked know that a program did not end in time."""
    source = threading.current_thread()
    if outcome.status == "timed-out" and isinstance(source, _Source):
        source.late = True
    return outcome


def known(name: str, value: Any, source: str) -> Fact:
    """Return a fact that was measured."""
    return Fact(name, FactState.KNOWN, value, source)


def absent(name: str, source: str) -> Fact:
    """Return a fact of something that is not there."""
    return Fact(name, FactState.ABSENT, source=source)


def unless_barred(machine: Machine, name: str, path: str) -> Fact:
    """Return the fact of something that was looked for in ``path``: absent, or unknown where that was not possible."""
    barrier = machine.barrier(path)
    return unknown(name, path, barrier) if barrier else absent(name, path)


def unknown(name: str, source: str, reason: str) -> Fact:
    """Return a fact that could not be measured."""
    return Fact(name, FactState.UNKNOWN, source=source, reason=reason)
