"""What runs the kernels of a check on each device, an all-reduce over several among them, and the figures of a card."""

from __future__ import annotations

import json
import math
import os
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from envdoctor.adapters.smoke import kernel_catalogue
from envdoctor.adapters.smoke.bisection import bisect
from envdoctor.adapters.smoke.bundle import write_bundle
from envdoctor.adapters.smoke.process import Child, describe_exit
from envdoctor.adapters.smoke.startup_hook import variables_of
from envdoctor.adapters.smoke.supervisor import OUT_OF_TIME, Item, Run, Supervisor
from envdoctor.model.fact import Fact, FactState
from envdoctor.model.kernel import KernelResult, KernelStatus, SmokeOutcome, SmokeRequest
from envdoctor.model.unknown import Subject, SubjectKind, Unknown, UnknownKind

__all__ = ["ChildRunner", "rate_limit"]


def all_reduce(
    interpreter: Path,
    *,
    ranks: int,
    nccl: bool,
    environment: Mapping[str, str],
    timeout_scale: float = 1.0,
    longest_s: float = math.inf,
) -> dict[str, Any]:
    """Sum over ``ranks`` processes and return the outcome's fields. Raises OSError where nothing can be started.

    ``longest_s``: seconds that are left for it, whatever its own limit is.
    """
    entry = kernel_catalogue.find("all-reduce")
    limit = min(entry.limit_s * timeout_scale, longest_s)
    with tempfile.TemporaryDirectory(prefix="envdoctor-smoke-", ignore_cleanup_errors=True) as name:
        script, answer = write_bundle(Path(name) / "smoke.pyz"), Path(name) / "answer.json"
        command = [str(interpreter), "-m", "torch.distributed.run", "--nnodes=1", f"--nproc_per_node={ranks}"]
        command += ["--rdzv_backend=c10d", "--rdzv_endpoint=127.0.0.1:0", str(script), "--all-reduce"]
        variables = {**os.environ, "OMP_NUM_THREADS": "1", **environment, "ENVDOCTOR_ANSWER": str(answer)}
        variables["ENVDOCTOR_COLLECTIVE"] = "nccl" if nccl else "gloo"
        begin = time.monotonic()
        with Child(command, stdin=b"", environment=variables, directory=Path(name)) as child:
            code = _ended(child, begin + limit)
            words = child.last_words()
        if code is None:
            return {"status": "timed-out", "note": f"no answer after {limit:.0f} s"}
        if code or not answer.is_file():
            return {"status": "crashed", "note": f"{describe_exit(code)}: {words}".rstrip(": ")}
        outcome: dict[str, Any] = json.loads(answer.read_text("utf-8"))
    outcome["tolerance"] = entry.tolerance
    outcome["status"] = "passed" if outcome["error_relative"] <= entry.tolerance else "wrong-answer"
    return outcome


def _ended(child: Child, deadline: float) -> int | None:
    """Wait for the end of stdout, then of the process; None when the time is over."""
    try:
        while child.event(deadline - time.monotonic()) is not None:
            pass
    except TimeoutError:
        child.kill()
        return None
    return child.wait()


# Floating-point operations of one multiprocessor in one clock, dense: (float32 units, half-precision tensor cores).
# From the throughput table of NVIDIA's CUDA programming guide and the architecture papers.
_PER_CLOCK = {
    "6.0": (128, 256),
    "6.1": (256, 0),
    "7.0": (128, 1024),
    "7.5": (128, 1024),
    "8.0": (128, 2048),
    "8.6": (256, 1024),
    "8.7": (256, 2048),
    "8.9": (256, 1024),
    "9.0": (256, 4096),
    "10.0": (256, 8192),
    "12.0": (256, 1024),
}


def rate_limit(unit: str | None, dtype: str, facts: Mapping[str, Any]) -> float | None:
    """Return the most that the card can do in ``unit``, for a kernel of ``dtype`` (or ``tf32``)."""
    if unit == "GB/s":
        clock, bits = facts.get("memory_clock_khz"), facts.get("memory_bus_bits")
        # Two transfers a clock.
        return 2.0 * clock * 1e3 * bits / 8 / 1e9 if clock and bits else None
    if unit != "TFLOP/s":
        return None
    per_clock = _PER_CLOCK.get(str(facts.get("capability")))
    clock, count = facts.get("clock_khz"), facts.get("multiprocessors")
    if per_clock is None or not clock or not count:
        return None
    operations = _operations(per_clock, dtype, str(facts.get("capability")))
    return operations * count * clock * 1e3 / 1e12 if operations else None


def _operations(per_clock: tuple[int, int], dtype: str, capability: str) -> int:
    """Return operations a clock for a type; 0 where the table does not say."""
    if dtype in ("float16", "bfloat16"):
        return per_clock[1]
    if dtype == "tf32":
        return per_clock[1] // 2 if capability in ("8.0", "9.0", "10.0") else 0
    return per_clock[0] if dtype == "float32" else 0


MARGIN = 1.2
"""How much slower than the CPU counts as slower."""
SHORTEST_MS = 0.5
"""Calls shorter than this are the launch, not the work; a GPU is not blamed for them."""
TRIAL_SCALE = 0.5
"""A kernel that failed has had its generous limit; a trial gets half."""
HUNG_TRIAL_S = 10.0
"""For a trial of a kernel that hung: its libraries are in memory by now, and most settings change nothing."""
HUNG_TRIALS_S = 25.0
"""For the search for a setting on all kernels that hung. What has helped another kernel is tried beyond it."""
_STAGES = tuple(entry.name for entry in kernel_catalogue.STAGES)


class ChildRunner:
    """The smoke runner that starts children of a real interpreter."""

    def __init__(self, interpreter: Path, finished: Callable[[str, str], None] = lambda _kernel, _status: None) -> None:
        self._interpreter = interpreter
        self._finished = finished
        self._deadline = math.inf

    def known(self) -> tuple[str, ...]:
        """Return the names of all kernels and workloads."""
        return kernel_catalogue.names()

    def run(self, request: SmokeRequest) -> SmokeOutcome:
        """Run the kernels of the request. Raises KeyError for a name that is none, OSError without an interpreter."""
        names = list(dict.fromkeys(request.kernels))
        for name in names:
            kernel_catalogue.find(name)
        begin = time.perf_counter()
        self._deadline = time.monotonic() + request.time_limit_s
        single = [name for name in names if name != "all-reduce"]
        first = self._one_device(request, single, request.device or 0)
        results, children, run = list(first[0]), first[1], first[2]
        count = int(run.device.get("facts", {}).get("count", 1)) if run.device else 1
        if request.all_devices and request.device is None:
            for index in range(1, count):
                more, used, _ = self._one_device(request, single, index)
                results += [item for item in more if item.kernel not in _STAGES]
                children += used
        if "all-reduce" in names:
            results.append(self._all_reduce(request, run, count))
        return SmokeOutcome(
            results=tuple(results),
            facts=_facts(run),
            backend=run.device.get("backend"),
            children=children,
            timings={
                "smoke_s": round(time.perf_counter() - begin, 3),
                "first_run_s": round(run.seconds, 3),
                **{name: round(seconds, 3) for name, seconds in run.phases.items()},
            },
        )

    def _one_device(self, request: SmokeRequest, names: list[str], index: int) -> tuple[list[KernelResult], int, Run]:
        supervisor = self._supervisor(request, index)
        items = [Item(name, request.settings, force=name in request.forced) for name in names]
        run = supervisor.run(items, _variables(request))
        outcomes = {key.partition("@")[0]: outcome for key, outcome in run.outcomes.items()}
        children, found = run.children, dict[str, str]()
        if request.bisect and run.device:
            found, more = bisect(
                self._supervisor(request, index, TRIAL_SCALE),
                outcomes,
                base=request.settings,
                own=run.device.get("settings", ()),
                backend=str(run.device.get("backend")),
                hasty=partial(self._hasty, request, index),
            )
            children += more
        order = {name: place for place, name in enumerate((*_STAGES, *names))}
        ordered = sorted(outcomes, key=lambda name: order.get(name, len(order)))
        return [_result(name, outcomes[name], run, found.get(name)) for name in ordered], children, run

    def _hasty(self, request: SmokeRequest, index: int, bounded: bool) -> Supervisor:
        """Return what runs the trials of kernels that hung; ``bounded``: a while for all of them together."""
        ends = time.monotonic() + HUNG_TRIALS_S * request.timeout_scale if bounded else math.inf
        return self._supervisor(request, index, TRIAL_SCALE, HUNG_TRIAL_S * request.timeout_scale, ends)

    def _supervisor(
        self,
        request: SmokeRequest,
        index: int,
        scale: float = 1.0,
        longest_s: float = math.inf,
        ends: float = math.inf,
    ) -> Supervisor:
        return Supervisor(
            self._interpreter,
            options={
                "backend": request.backend,
                "device": index,
                "counted_round": request.device is not None,
                "plant": dict(request.plant),
            },
            environment=dict(request.environment),
            timeout_scale=request.timeout_scale * scale,
            longest_s=longest_s,
            deadline=min(self._deadline, ends),
            finished=lambda key, status: self._finished(key.partition("@")[0], status),
        )

    def _all_reduce(self, request: SmokeRequest, run: Run, count: int) -> KernelResult:
        backend = run.device.get("backend")
        if request.device:
            return _result(
                "all-reduce", {"status": "skipped", "note": "the first rank of this host runs it"}, run, None
            )
        if backend in ("cuda", "rocm") and count > 1:
            ranks, nccl = count, True
        elif backend == "cpu":
            ranks, nccl = 2, False
        else:
            note = "there is one device" if run.device else "no device was opened"
            return _result("all-reduce", {"status": "skipped", "note": note}, run, None)
        left = self._deadline - time.monotonic()
        if left <= 0:
            unknown = Unknown(UnknownKind.NOT_RUN, Subject(SubjectKind.KERNEL, "all-reduce"))
            return _result("all-reduce", {"status": "skipped", "note": OUT_OF_TIME, "unknown": unknown}, run, None)
        outcome = all_reduce(
            self._interpreter,
            ranks=ranks,
            nccl=nccl,
            environment=_variables(request),
            timeout_scale=request.timeout_scale,
            longest_s=left,
        )
        self._finished("all-reduce", outcome["status"])
        return _result("all-reduce", outcome, run, None)


def _variables(request: SmokeRequest) -> dict[str, str]:
    return {**variables_of(request.settings), **request.environment}


def _result(name: str, outcome: Mapping[str, Any], run: Run, setting: str | None) -> KernelResult:
    entry = kernel_catalogue.find(name)
    facts = run.device.get("facts", {})
    unit = outcome.get("rate_unit")
    return KernelResult(
        kernel=name,
        device=str(outcome.get("device") or run.device.get("device") or "none"),
        status=KernelStatus(outcome["status"]),
        error_relative=outcome.get("error_relative"),
        tolerance=outcome.get("tolerance"),
        first_ms=outcome.get("first_ms"),
        steady_ms=outcome.get("steady_ms"),
        reference_ms=outcome.get("reference_ms"),
        peak_bytes=outcome.get("peak_bytes"),
        rate=outcome.get("rate"),
        rate_unit=unit,
        detail=_slower(outcome) or outcome.get("note"),
        slower=_slower(outcome) is not None,
        unknown=outcome.get("unknown"),
        setting=setting,
        rate_limit=rate_limit(unit, "tf32" if "tf32-on" in entry.settings else entry.dtype, facts)
        if name != "all-reduce"
        else None,
    )


def _slower(outcome: Mapping[str, Any]) -> str | None:
    """Return in words that the CPU is faster, None where it is not, or where something else is to be said."""
    steady, reference = outcome.get("steady_ms"), outcome.get("reference_ms")
    if outcome.get("note") is None and steady and reference and steady > max(SHORTEST_MS, MARGIN * reference):
        return f"slower than the CPU here ({steady:.2f} ms, CPU {reference:.2f} ms)"
    return None


def _facts(run: Run) -> tuple[Fact, ...]:
    def known(name: str, value: Any) -> Fact:
        return Fact(name, FactState.KNOWN, value, source="smoke child")

    facts = [known(f"smoke.{name}", run.hello[name]) for name in ("python", "executable") if name in run.hello]
    if not run.device:
        notes = [run.outcomes.get(stage, {}).get("note") for stage in _STAGES]
        reason = next((str(note) for note in notes if note), "the child did not get that far")
        return (*facts, Fact("smoke.device", FactState.UNKNOWN, source="smoke child", reason=reason))
    facts.append(known("smoke.device", run.device["name"]))
    facts.append(known("smoke.backend", run.device["backend"]))
    if run.device.get("stand_in"):
        facts.append(known("smoke.stand_in", True))
    if run.device.get("settings"):
        facts.append(known("smoke.settings", list(run.device["settings"])))
    device_facts = run.device.get("facts", {})
    facts += [known(f"smoke.{name}", value) for name, value in sorted(device_facts.items()) if value is not None]
    return tuple(facts)
