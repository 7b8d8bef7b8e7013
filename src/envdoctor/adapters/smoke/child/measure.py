"""One kernel on one device: the answer, how far it is from the reference, and the figures."""

from __future__ import annotations

import contextlib
import copy
import time
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

import torch

from .. import kernel_catalogue
from . import backend_settings, backends, registry
from .planted import Planted

__all__ = ["Options", "classify", "measure"]


def as_tuple(answer: Any) -> Tuple[Any, ...]:
    """Return the tensors of an answer."""
    return tuple(answer) if isinstance(answer, (tuple, list)) else (answer,)


def _plain(tensor: Any) -> Any:
    tensor = tensor.detach().cpu()
    if tensor.is_complex():
        return torch.view_as_real(tensor.to(torch.complex128))
    return tensor.to(torch.float64)


def difference(answer: Tuple[Any, ...], expected: Tuple[Any, ...]) -> Tuple[Optional[float], Optional[str]]:
    """Return the largest error over the scale of the reference, and what is wrong beyond size (None: nothing).

    The error is None where it cannot be measured: another shape, or values that are not finite.
    """
    if len(answer) != len(expected):
        return None, f"{len(answer)} tensors instead of {len(expected)}"
    worst = 0.0
    for got, wanted in zip(answer, expected):
        if tuple(got.shape) != tuple(wanted.shape):
            return None, f"shape {tuple(got.shape)} instead of {tuple(wanted.shape)}"
        got_plain, wanted_plain = _plain(got), _plain(wanted)
        if got_plain.numel() == 0:
            continue
        finite = bool(torch.isfinite(got_plain).all())
        if not finite:
            return None, _not_finite(got_plain)
        scale = float(wanted_plain.abs().max())
        error = float((got_plain - wanted_plain).abs().max())
        worst = max(worst, error / scale if scale > 0 else error)
    return worst, None


def _not_finite(values: Any) -> str:
    nans = int(torch.isnan(values).sum())
    infinite = int(torch.isinf(values).sum())
    parts = [text for count, text in ((nans, f"{nans} NaN"), (infinite, f"{infinite} infinite")) if count]
    return "{} among {} values".format(" and ".join(parts), values.numel())


HALF = (torch.float16, torch.bfloat16)
MEMORY_WORDS = ("out of memory", "cuda_error_out_of_memory", "hiperroroutofmemory", "not enough memory", "bad_alloc")
UNSUPPORTED_WORDS = (
    "not implemented for", "could not run 'aten::", "not currently implemented", "not supported", "unsupported",
    "no kernel image is available", "no binary for gpu", "not_supported", "no available kernel", "only support",
)  # fmt: skip


DEAR_S = 0.1
"""Where the reference alone took longer, the CPU is not timed as well."""
SHORT_MS = 20.0
"""A shorter call on the CPU is repeated: the first one gets its libraries ready."""


class Options:
    """How much is measured."""

    def __init__(self, repeats: int, budget_ms: float, reference: bool) -> None:
        self.repeats = repeats
        """Most later calls that are timed."""
        self.budget_ms = budget_ms
        """Milliseconds after which no further call is begun."""
        self.reference = reference
        """Whether the same operation is timed on the CPU."""


def measure(
    entry: kernel_catalogue.Entry,
    device: backends.Device,
    names: Sequence[str],
    options: Options,
    planted: Planted,
) -> Dict[str, Any]:
    """Run one kernel and return its outcome as the event's fields. Raises what the kernel raises."""
    dtype = next((backend_settings.DTYPES[name] for name in names if name in backend_settings.DTYPES), None)
    case_dtype = dtype or getattr(torch, entry.dtype)
    phases = _Phases()
    with phases.measured("inputs_s"):
        bench = registry.Workbench(entry.name, case_dtype, device.device, device.backend)
        case = registry.build(entry.name, bench)
    with backend_settings.applied((*entry.settings, *names)):
        planted.strike(entry.name, (*names, *device.settings), device.device)
        with phases.measured("inputs_s"):
            modules, inputs = _placed(case, device)
        device.reset_peak()
        with phases.measured("first_s"):
            first_ms, answer = _timed(case, modules, inputs, device)
        peak = device.peak_bytes()
        answer = planted.spoil(entry.name, answer, (*names, *device.settings))
        outcome = _judged(entry, case, answer, dtype, phases)
        outcome.update(first_ms=first_ms, peak_bytes=peak)
        if outcome["status"] == "passed" and case.timed:
            with phases.measured("steady_s"):
                outcome["steady_ms"] = _steady(case, modules, inputs, device, options)
    if outcome["status"] in ("passed", "converted"):
        outcome["note"] = case.note
    if outcome["status"] == "passed":
        _add_rates(case, outcome)
        elsewhere = device.type != "cpu" or device.stand_in
        if options.reference and case.timed and case.inputs and elsewhere and phases.seconds["reference_s"] < DEAR_S:
            with phases.measured("cpu_timing_s"):
                outcome["reference_ms"] = _reference_ms(case)
    outcome["phases"] = phases.seconds
    return outcome


class _Phases:
    """Where the seconds of one kernel went."""

    def __init__(self) -> None:
        self.seconds: Dict[str, float] = {"reference_s": 0.0}

    @contextlib.contextmanager
    def measured(self, name: str) -> Iterator[None]:
        begin = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - begin


def _placed(case: registry.Case, device: backends.Device) -> Tuple[Any, Tuple[Any, ...]]:
    modules = case.modules
    if modules is not None:
        modules = copy.deepcopy(modules).to(device.device)
    inputs = tuple(item.to(device.device) if isinstance(item, torch.Tensor) else item for item in case.inputs)
    device.synchronise()
    return modules, inputs


def _timed(case: registry.Case, modules: Any, inputs: Sequence[Any], device: backends.Device) -> Tuple[float, Any]:
    begin = time.perf_counter()
    answer = as_tuple(case.call(modules, inputs))
    device.settle(answer)
    return (time.perf_counter() - begin) * 1e3, answer


def _steady(
    case: registry.Case, modules: Any, inputs: Sequence[Any], device: backends.Device, options: Options
) -> Optional[float]:
    times: List[float] = []
    spent = 0.0
    while len(times) < options.repeats and (not times or spent < options.budget_ms):
        taken, _ = _timed(case, modules, inputs, device)
        times.append(taken)
        spent += taken
    return sorted(times)[len(times) // 2] if times else None


def _judged(
    entry: kernel_catalogue.Entry, case: registry.Case, answer: Any, dtype: Any, phases: _Phases
) -> Dict[str, Any]:
    tolerance = _tolerance(entry, dtype)
    if not case.answers:
        return {"status": "converted"}
    if case.check is not None:
        fault = case.check(tuple(item.detach().cpu() for item in answer))
        return {"status": "wrong-answer" if fault else "passed", "tolerance": tolerance, "note": fault}
    with phases.measured("reference_s"):
        expected = _expected(case)
    with phases.measured("compare_s"):
        error, fault = difference(answer, expected)
    wrong = fault is not None or error is None or error > tolerance
    return {
        "status": "wrong-answer" if wrong else "passed",
        "error_relative": error,
        "tolerance": tolerance,
        "note": fault,
    }


def _tolerance(entry: kernel_catalogue.Entry, dtype: Any) -> float:
    """A kernel that is tried in another dtype is held to what that dtype can do."""
    floor = {torch.float16: 5e-3, torch.bfloat16: 4e-2, torch.float32: 2e-3}.get(dtype, 0.0)
    return max(entry.tolerance, floor)


def _expected(case: registry.Case) -> Tuple[Any, ...]:
    inputs = tuple(_double(item) for item in case.inputs)
    if case.reference is not None:
        with torch.no_grad():
            return as_tuple(case.reference(*inputs))
    modules = None if case.modules is None else copy.deepcopy(case.modules).double()
    return as_tuple(case.call_plain(modules, inputs))


def _double(item: Any) -> Any:
    if not isinstance(item, torch.Tensor):
        return item
    if item.is_complex():
        return item.to(torch.complex128)
    return item.to(torch.float64) if item.is_floating_point() else item


def _reference_ms(case: registry.Case) -> Optional[float]:
    """Time the CPU; half types in float32, which is what one would run there."""
    modules, inputs = case.modules, case.inputs
    if any(isinstance(item, torch.Tensor) and item.dtype in HALF for item in inputs):
        modules = None if modules is None else copy.deepcopy(modules).float()
        inputs = tuple(
            item.float() if isinstance(item, torch.Tensor) and item.dtype in HALF else item for item in inputs
        )
    times: List[float] = []
    while not times or (len(times) < 2 and times[0] < SHORT_MS):
        begin = time.perf_counter()
        try:
            case.call_plain(modules, inputs)
        except Exception:  # noqa: BLE001 - the CPU need not have the operation in this dtype; then nothing is compared
            return None
        times.append((time.perf_counter() - begin) * 1e3)
    return min(times)


def _add_rates(case: registry.Case, outcome: Dict[str, Any]) -> None:
    seconds = (outcome.get("steady_ms") or 0.0) / 1e3
    if seconds <= 0:
        return
    if case.flops:
        outcome.update(rate=case.flops / seconds / 1e12, rate_unit="TFLOP/s")
    elif case.bytes_moved:
        outcome.update(rate=case.bytes_moved / seconds / 1e9, rate_unit="GB/s")


def classify(error: BaseException, device: Optional[backends.Device]) -> Dict[str, Any]:
    """Return the outcome that an exception means; ``poisoned`` says that this process can compute no more."""
    if isinstance(error, registry.Skip):
        return {"status": "skipped", "note": str(error)}
    text = f"{type(error).__name__}: {str(error).strip()}"
    short = _shortened(text)
    lower = text.lower()
    if isinstance(error, MemoryError) or any(word in lower for word in MEMORY_WORDS):
        if device is not None:
            device.free_cache()
        return {"status": "out-of-memory", "note": short, "poisoned": not _alive(device)}
    if not _alive(device):
        return {"status": "crashed", "note": short, "poisoned": True}
    if isinstance(error, NotImplementedError) or any(word in lower for word in UNSUPPORTED_WORDS):
        return {"status": "unsupported", "note": short}
    return {"status": "crashed", "note": short}


def _alive(device: Optional[backends.Device]) -> bool:
    return device is None or device.answers()


def _shortened(text: str) -> str:
    """The first lines say it; torch appends advice and C++ frames."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " ".join(lines[:2])[:400]
