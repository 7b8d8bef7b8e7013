"""Runs a plan to its end, whatever its kernels do: names the culprit and starts a new child for the rest."""

from __future__ import annotations

import json
import math
import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from envdoctor.adapters.smoke import kernel_catalogue
from envdoctor.adapters.smoke.bundle import write_bundle
from envdoctor.adapters.smoke.process import Child, describe_exit
from envdoctor.model.dataclass import dataclass
from envdoctor.model.unknown import Subject, SubjectKind, Unknown, UnknownKind

__all__ = ["Item", "Run", "Supervisor"]

HELLO_S = 60.0
"""Seconds for the interpreter to start, and between a result and the next start."""
FIRST_EXTRA_S = 20.0
"""More for the first kernel of a child: libraries load with it."""
ENOUGH = 8
"""Kernels that have passed, after which it shows how long first calls take on this device."""
PATIENCE = 20
"""How many times as long as the slowest of them another one may take; and ``SHORTEST_S`` at least."""
SHORTEST_S = 30.0
WARY = 0.5
"""Factor on that once a kernel has hung: the libraries of the others have been read from the disk by then."""
HANGS, DEATHS = 2, 3
"""Kernels with the same remedy that hang, or end their child, after which the others with it are given up."""
OUT_OF_TIME = "there was no time left for it; `--time-limit` gives more"
CONSECUTIVE_DEATHS = 6
"""Children that may die one after the other without a kernel that finished in between."""


@dataclass(frozen=True, slots=True)
class Item:
    """One kernel under some settings. Of a ``group`` only as many run as are needed for one to pass."""

    kernel: str
    settings: tuple[str, ...] = ()
    group: str | None = None
    force: bool = False

    @property
    def key(self) -> str:
        """Unique in a plan."""
        return "@".join((self.kernel, *self.settings))

    def as_plan(self) -> dict[str, Any]:
        """Return the item as the child reads it."""
        plan = {"id": self.key, "kernel": self.kernel, "settings": list(self.settings), "force": self.force}
        return plan if self.group is None else {**plan, "group": self.group}


@dataclass(slots=True)
class Run:
    """What came of a plan; outcomes are the child's result fields, or what its death means."""

    outcomes: dict[str, dict[str, Any]] = field(default_factory=dict)
    hello: dict[str, Any] = field(default_factory=dict)
    device: dict[str, Any] = field(default_factory=dict)
    children: int = 0
    seconds: float = 0.0
    phases: dict[str, float] = field(default_factory=dict)
    """Seconds by phase, over all children: where the time went beside the first calls."""
    first_calls: list[float] = field(default_factory=list)
    """Seconds of the first call of each kernel that passed."""

    lost: list[str] = field(default_factory=list)
    """Keys of kernels that ended their child, by a crash or by giving no answer; stages of the start aside."""

    @property
    def hung(self) -> list[str]:
        """Return those that gave no answer in their time."""
        return [key for key in self.lost if self.outcomes[key]["status"] == "timed-out"]

    @property
    def usual_s(self) -> float:
        """Seconds after which a kernel hangs, as far as those before it tell; without end where they do not.

        CUDA alone brings its kernels compiled, so that what one takes says something of the next.
        """
        if self.device.get("backend") != "cuda" or len(self.first_calls) < ENOUGH:
            return math.inf
        return max(SHORTEST_S, PATIENCE * max(self.first_calls)) * (WARY if self.hung else 1.0)

    def spend(self, phases: Mapping[str, float]) -> None:
        """Add seconds to phases."""
        for name, seconds in phases.items():
            self.phases[name] = self.phases.get(name, 0.0) + seconds


@dataclass(slots=True)
class _Life:
    """One child's life as it is seen from here."""

    begin: float = field(default_factory=time.perf_counter)
    in_flight: str | None = None
    limit: float = HELLO_S
    progressed: bool = False
    ended: bool = False
    timed_out: bool = False
    cut_short: bool = False
    """The time for all was over, not the kernel's own."""
    first: bool = True
    stage_failed: str | None = None


class Supervisor:
    """Starts children of one interpreter. Raises OSError where the interpreter cannot be started."""

    def __init__(
        self,
        interpreter: Path,
        *,
        options: Mapping[str, Any] | None = None,
        environment: Mapping[str, str] | None = None,
        timeout_scale: float = 1.0,
        longest_s: float = math.inf,
        deadline: float = math.inf,
        finished: Callable[[str, str], None] = lambda _kernel, _status: None,
        script: Path | None = None,
    ) -> None:
        self._interpreter = interpreter
        self._options = dict(options or {})
        # Waiting OpenMP threads that spin double the time on a busy machine.
        self._environment = {"OMP_WAIT_POLICY": "PASSIVE", **os.environ, **(environment or {})}
        self._scale = timeout_scale
        self._longest_s = longest_s
        """What a kernel has at most, whatever the catalogue gives it."""
        self._deadline = deadline
        """When all must be over, as ``time.monotonic`` counts."""
        self._finished = finished
        self._script = script

    def run(self, items: Sequence[Item], environment: Mapping[str, str] | None = None) -> Run:
        """Run the items, in order, in as few children as it takes; without items, only open the device."""
        run = Run()
        begin = time.perf_counter()
        with tempfile.TemporaryDirectory(prefix="envdoctor-smoke-", ignore_cleanup_errors=True) as name:
            script = self._script or write_bundle(Path(name) / "smoke.pyz")
            self._all(list(items), run, script, {**self._environment, **(environment or {})}, Path(name))
        run.seconds = time.perf_counter() - begin
        return run

    def _all(self, pending: list[Item], run: Run, script: Path, environment: dict[str, str], directory: Path) -> None:
        deaths = 0
        while pending or not run.children:
            if self._left() <= 0:
                run.children = run.children or 1
                _skip(pending, run, OUT_OF_TIME, Subject(SubjectKind.KERNEL))
                return
            plan = {**self._options, "items": [item.as_plan() for item in pending]}
            command = [str(self._interpreter), "-u", str(script)]
            run.children += 1
            life = _Life()
            with Child(command, stdin=json.dumps(plan).encode(), environment=environment, directory=directory) as child:
                self._watch(child, run, life)
                ended = time.perf_counter()
                self._bury(child, run, life)
            run.spend({"end_s": time.perf_counter() - ended})
            before = len(pending)
            pending[:] = _remaining(pending, run)
            _give_up_kind(pending, run)
            if life.stage_failed is not None:
                stage = Subject(SubjectKind.KERNEL, life.stage_failed)
                _skip(pending, run, f"`{life.stage_failed}` did not pass", stage)
            elif life.ended and len(pending) == before:
                _skip(pending, run, "the child ended without it")
            deaths = 0 if life.progressed else deaths + 1
            if deaths >= CONSECUTIVE_DEATHS:
                note = f"{deaths} children died one after the other; the device was given up"
                _skip(pending, run, note, Subject(SubjectKind.DEVICE))
            pending[:] = _remaining(pending, run)

    def _left(self) -> float:
        return self._deadline - time.monotonic()

    def _watch(self, child: Child, run: Run, life: _Life) -> None:
        while True:
            try:
                event = child.event(min(life.limit, max(0.0, self._left())))
            except TimeoutError:
                life.timed_out = True
                life.cut_short = self._left() <= 0
                return
            if event is None:
                return
            self._note(event, run, life)

    def _note(self, event: dict[str, Any], run: Run, life: _Life) -> None:
        kind = event["event"]
        run.spend(event.get("phases", {}))
        if kind == "hello":
            run.hello = run.hello or event
            run.spend({"start_s": time.perf_counter() - life.begin})
        elif kind == "device":
            run.device = run.device or event
        elif kind == "start":
            entry = kernel_catalogue.find(event["kernel"])
            life.in_flight = event["item"]
            extra = FIRST_EXTRA_S if life.first and entry.family != "stage" else 0.0
            life.first = life.first and entry.family == "stage"
            usual = math.inf if entry.workload or entry.family == "stage" else run.usual_s
            life.limit = min(entry.limit_s + extra, usual) * self._scale
            if entry.family != "stage":
                life.limit = min(life.limit, self._longest_s)
        elif kind == "result":
            self._record(event["item"], event, run)
            life.in_flight, life.limit = None, HELLO_S
            if event["status"] == "passed" and kernel_catalogue.find(event["kernel"]).family != "stage":
                run.first_calls.append(event.get("first_ms", 0.0) / 1e3)
            if kernel_catalogue.find(event["kernel"]).family == "stage":
                run.spend({f"{event['kernel'].replace('-', '_')}_s": event.get("first_ms", 0.0) / 1e3})
            if kernel_catalogue.find(event["kernel"]).family != "stage":
                life.progressed = life.progressed or not event.get("poisoned")
            elif event["status"] != "passed":
                life.stage_failed = event["kernel"]
        elif kind == "end":
            life.ended = True

    def _bury(self, child: Child, run: Run, life: _Life) -> None:
        """Say what the child's end means for the kernel that was in flight."""
        code = child.kill() if life.timed_out else child.wait()
        if life.ended or life.stage_failed is not None:
            return
        held = "" if code is not None else "; the process could not be ended, its driver holds it"
        words = child.last_words()
        if life.timed_out:
            note = f"no answer after {life.limit:.0f} s{held}"
        else:
            note = describe_exit(code if code is not None else 0) + (f": {words}" if words else "") + held
        if life.cut_short:
            return  # Nobody knows whether it would have passed.
        culprit = life.in_flight or ("hello" if not run.hello else None)
        if culprit is None:
            return
        if culprit == "hello":
            culprit = "import-torch"
        self._record(culprit, {"status": "timed-out" if life.timed_out else "crashed", "note": note}, run)
        if (culprit in kernel_catalogue.ENTRIES and kernel_catalogue.find(culprit).family == "stage") or code is None:
            life.stage_failed = culprit
        else:
            run.lost.append(culprit)

    def _record(self, key: str, outcome: dict[str, Any], run: Run) -> None:
        earlier = run.outcomes.get(key)
        if earlier is not None and outcome["status"] == "passed":
            return  # a later child imports torch again; the first one tells what it costs
        run.outcomes[key] = outcome
        self._finished(key, outcome["status"])


def _remaining(pending: list[Item], run: Run) -> list[Item]:
    passed = {item.group for item in pending if run.outcomes.get(item.key, {}).get("status") == "passed"}
    return [
        item for item in pending if item.key not in run.outcomes and (item.group is None or item.group not in passed)
    ]


def _give_up_kind(pending: list[Item], run: Run) -> None:
    """Skip what has the same first remedy as several that were lost: it would most likely take a child each, too.

    What was asked for by name runs all the same, and so does every trial of a setting.
    """
    for remedy in {remedy for key in run.lost for remedy in _first_remedy(key)}:
        lost = [key for key in run.lost if remedy in _first_remedy(key)]
        hung = [key for key in lost if key in run.hung]
        if len(hung) >= HANGS or len(lost) >= DEATHS:
            how = f"{len(hung)} of its kind hung" if len(hung) >= HANGS else f"{len(lost)} of its kind crashed"
            names = ", ".join(key.partition("@")[0] for key in lost)
            alike = [item for item in pending if not item.force and remedy in _first_remedy(item.key)]
            _skip(alike, run, f"given up: {how} before it ({names})", Subject(SubjectKind.DEVICE))


def _first_remedy(key: str) -> tuple[str, ...]:
    return kernel_catalogue.find(key.partition("@")[0]).remedies[:1]


def _skip(pending: list[Item], run: Run, reason: str, because_of: Subject | None = None) -> None:
    unknown = Unknown(UnknownKind.NOT_RUN, because_of) if because_of is not None else None
    for item in pending:
        run.outcomes.setdefault(item.key, {"status": "skipped", "note": reason, "unknown": unknown})
