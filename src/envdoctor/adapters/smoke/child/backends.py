"""The device that the kernels run on, found in the patient's torch."""

from __future__ import annotations

import importlib
import platform
import sys
from typing import Any, Dict, Optional, Tuple

import torch

__all__ = ["Device", "Unavailable", "open_device"]


class Unavailable(Exception):
    """The backend asked for is not to be had; the message says why."""


class Device:
    """One opened device. ``stand_in`` marks a CPU that plays another device's part."""

    def __init__(self, backend: str, device: Any, name: str, *, stand_in: bool = False) -> None:
        self.backend = backend
        self.device = device
        self.name = name
        self.stand_in = stand_in
        self.facts: Dict[str, Any] = {}
        self.settings: Tuple[str, ...] = _set_at_start()
        """What the environment's start-up hook has set, for every program that imports torch here."""

    @property
    def type(self) -> str:
        """The type as torch says it: ``cuda``, ``mps``, ``privateuseone``, ``cpu``."""
        return str(self.device.type)

    def synchronise(self) -> None:
        """Wait for all that was given to the device; an error of a kernel appears here at the latest."""
        if self.type == "cuda":
            torch.cuda.synchronize(self.device)
        elif self.type == "mps":
            torch.mps.synchronize()
        elif self.type == "xpu":
            torch.xpu.synchronize(self.device)

    def settle(self, answer: Any) -> None:
        """Wait for the answer where the device has no call to wait with (DirectML): read one value of it."""
        if self.type == "privateuseone":
            for item in answer:
                if item.numel():
                    item.reshape(-1)[-1:].cpu()
        self.synchronise()

    def reset_peak(self) -> None:
        """Begin to measure peak memory anew."""
        if self.type == "cuda":
            torch.cuda.reset_peak_memory_stats(self.device)

    def peak_bytes(self) -> Optional[int]:
        """Return the most memory in use since ``reset_peak``, where the device counts it."""
        if self.type == "cuda":
            return int(torch.cuda.max_memory_allocated(self.device))
        return None

    def free_cache(self) -> None:
        """Give memory back after an allocation failed."""
        for kind in ("cuda", "mps", "xpu"):
            if self.type == kind:
                getattr(torch, kind).empty_cache()

    def answers(self) -> bool:
        """Tell whether the device still computes; a poisoned context (an assert, an illegal access) does not."""
        try:
            value = float((torch.ones(4, device=self.device) + 1).sum().cpu())
            self.synchronise()
        except Exception:  # noqa: BLE001 - whatever it raises, it does not compute
            return False
        return value == 8.0


def _set_at_start() -> Tuple[str, ...]:
    hook = sys.modules.get("_envdoctor_settings")
    return tuple(getattr(hook, "APPLIED", ()))


def open_device(backend: str, index: int, counted_round: bool = False) -> Device:
    """Open a backend by name. Raises Unavailable; whatever the driver raises passes through.

    ``counted_round``: more ranks than cards share them.
    """
    if backend.startswith("cpu-as:"):
        return _stand_in(backend.partition(":")[2])
    if backend == "auto":
        backend = _best()
    if counted_round:
        index %= _count(backend)
    device = _OPENERS[backend](backend, index)
    device.facts.update(_torch_facts())
    if not device.answers():
        # Once more, for the error itself to come out.
        torch.ones(4, device=device.device).sum().cpu()
        raise RuntimeError("the device adds 1 and 1 to something else than 2")
    return device


def _count(backend: str) -> int:
    """Return how many devices there are to open, 1 where nothing tells."""
    if _OPENERS[backend] is _cuda:
        return max(1, int(torch.cuda.device_count()))
    if backend == "xpu" and hasattr(torch, "xpu"):
        return max(1, int(torch.xpu.device_count()))
    return 1


def _best() -> str:
    if torch.cuda.is_available():
        return "rocm" if getattr(torch.version, "hip", None) else "cuda"
    if hasattr(torch, "xpu") and torch.xpu.is_available():
        return "xpu"
    mps = getattr(torch.backends, "mps", None)
    if mps is not None and mps.is_available():
        return "mps"
    try:
        torch_directml = importlib.import_module("torch_directml")
    except ImportError:
        return "cpu"
    return "directml" if torch_directml.is_available() else "cpu"


def _cuda(backend: str, index: int) -> Device:
    hip = getattr(torch.version, "hip", None)
    built = torch.version.cuda or hip
    if not built:
        raise Unavailable(f"torch {torch.__version__} is built without CUDA and without ROCm")
    if not torch.cuda.is_available():
        raise Unavailable("torch {} ({} {}) sees no device".format(torch.__version__, "HIP" if hip else "CUDA", built))
    if index >= torch.cuda.device_count():
        raise Unavailable(f"there is no device {index}, torch sees {torch.cuda.device_count()}")
    properties = torch.cuda.get_device_properties(index)
    name = str(properties.name)
    kind = "rocm" if hip else "zluda" if name.endswith("[ZLUDA]") else "cuda"
    if backend != kind and not (backend == "cuda" and kind == "zluda"):
        raise Unavailable(f"the device is `{name}`, which is {kind} and not {backend}")
    device = Device(kind, torch.device("cuda", index), name)
    device.facts.update(_cuda_facts(properties, index))
    torch.cuda.set_device(index)
    return device


def _cuda_facts(properties: Any, index: int) -> Dict[str, Any]:
    facts = {
        "architecture": getattr(properties, "gcnArchName", None) if getattr(torch.version, "hip", None) else None,
        "capability": f"{properties.major}.{properties.minor}",
        "memory_bytes": int(properties.total_memory),
        "multiprocessors": int(properties.multi_processor_count),
        "count": torch.cuda.device_count(),
        "index": index,
    }
    # Only newer releases tell the clocks, in kHz; without them no limit is given.
    for fact, attribute in (
        ("clock_khz", "clock_rate"),
        ("memory_clock_khz", "memory_clock_rate"),
        ("memory_bus_bits", "memory_bus_width"),
    ):
        value = getattr(properties, attribute, None)
        if value:
            facts[fact] = int(value)
    return {key: value for key, value in facts.items() if value is not None}


def _xpu(backend: str, index: int) -> Device:
    if not hasattr(torch, "xpu") or not torch.xpu.is_available():
        raise Unavailable(f"torch {torch.__version__} sees no XPU")
    return Device(backend, torch.device("xpu", index), str(torch.xpu.get_device_name(index)))


def _mps(backend: str, index: int) -> Device:  # noqa: ARG001 - there is one
    mps = getattr(torch.backends, "mps", None)
    if mps is None or not mps.is_built():
        raise Unavailable(f"torch {torch.__version__} is built without MPS")
    if not mps.is_available():
        raise Unavailable("MPS needs macOS 12.3 or later on Apple silicon")
    return Device(backend, torch.device("mps"), platform.processor() or "Apple GPU")


def _directml(backend: str, index: int) -> Device:
    try:
        torch_directml = importlib.import_module("torch_directml")
    except ImportError as error:
        raise Unavailable(f"torch_directml does not import: {error}") from error
    if not torch_directml.is_available():
        raise Unavailable("torch_directml sees no adapter")
    return Device(backend, torch_directml.device(index), str(torch_directml.device_name(index)).strip("\0 "))


def _cpu(backend: str, index: int) -> Device:  # noqa: ARG001 - there is one
    return Device(backend, torch.device("cpu"), platform.processor() or platform.machine())


def _stand_in(name: str) -> Device:
    if name not in _OPENERS:
        raise Unavailable(f"there is no backend called `{name}` to stand in for")
    suffix = " [ZLUDA]" if name == "zluda" else ""
    device = Device(name, torch.device("cpu"), "stand-in for " + name + suffix, stand_in=True)
    device.facts.update(_torch_facts())
    return device


def _torch_facts() -> Dict[str, Any]:
    return {
        "torch": str(torch.__version__),
        "torch_cuda": torch.version.cuda,
        "torch_hip": getattr(torch.version, "hip", None),
        "threads": torch.get_num_threads(),
    }


_OPENERS = {
    "cuda": _cuda,
    "rocm": _cuda,
    "zluda": _cuda,
    "directml": _directml,
    "mps": _mps,
    "xpu": _xpu,
    "coreml": _cpu,
    "cpu": _cpu,
}
