"""Faults planted on purpose, for tests. They act only where the environment sets ENVDOCTOR_PLANT=1."""

from __future__ import annotations

import ctypes
import os
import sys
import time
from typing import Any, Callable, Dict

__all__ = ["Planted"]


def _device_assert(device: Any) -> None:
    """An index out of range, which the device finds, not the host."""
    import torch

    torch.zeros(4, device=device)[torch.tensor([99], device=device)].cpu()


def _device_illegal(device: Any) -> None:
    """A kernel that writes to memory that was given back behind torch's back."""
    import torch

    taken = torch.empty(64 << 20, dtype=torch.float32, device=device)
    with open("/proc/self/maps", encoding="utf-8") as maps:
        library = next(line.split()[-1] for line in maps if "libcudart" in line or "libamdhip64" in line)
    runtime = ctypes.CDLL(library)
    free = runtime.cudaFree if "cudart" in library else runtime.hipFree
    free(ctypes.c_void_p(taken.data_ptr()))
    taken.add_(1)
    torch.cuda.synchronize(device)


def _device_oom(device: Any) -> None:
    """More memory than any card has."""
    import torch

    torch.empty(1 << 46, dtype=torch.uint8, device=device)


def _device_spin(device: Any) -> None:
    """A kernel that does not end."""
    import torch

    torch.cuda._sleep(1 << 45)
    torch.cuda.synchronize(device)


_ON_DEVICE: Dict[str, Callable[[Any], None]] = {
    "device-assert": _device_assert,
    "device-illegal": _device_illegal,
    "device-oom": _device_oom,
    "device-spin": _device_spin,
}


class Planted:
    """Faults by kernel: ``abort``, ``hang``, ``wrong``, ``nan``, ``oom``, ``exception``, ``exit``, ``segv``, ..."""

    def __init__(self, plan: Dict[str, str]) -> None:
        self._plan = dict(plan) if os.environ.get("ENVDOCTOR_PLANT") == "1" else {}

    def strike(self, name: str, settings: Any = (), device: Any = None) -> None:
        """Do what is planted for this kernel before it runs; ``fault@setting`` spares it under that setting."""
        fault = self._fault(name, settings)
        if fault == "abort":
            os.abort()
        elif fault == "hang":
            time.sleep(3600)
        elif fault == "spin":
            while True:
                pass
        elif fault == "exit":
            os._exit(7)
        elif fault == "kill" and hasattr(os, "kill"):
            os.kill(os.getpid(), 9)
        elif fault == "segv":
            ctypes.string_at(0)
        elif fault == "spam":
            for _ in range(4096):
                sys.stdout.write("x" * 4095 + "\n")
                sys.stderr.write("y" * 4095 + "\n")
        elif fault in _ON_DEVICE:
            _ON_DEVICE[fault](device)
        elif fault is not None:
            self._raise(name, fault)

    @staticmethod
    def _raise(name: str, fault: str) -> None:
        if fault == "oom":
            raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB (planted)")
        if fault == "sticky":
            raise RuntimeError("CUDA error: device-side assert triggered (planted)")
        if fault == "exception":
            raise RuntimeError("planted in " + name)
        if fault == "system-exit":
            sys.exit(5)

    def spoil(self, name: str, answer: Any, settings: Any = ()) -> Any:
        """Return the kernel's answer made wrong, where that is planted."""
        fault = self._fault(name, settings)
        if fault == "wrong":
            return tuple(item.flip(-1) + 1 for item in answer)
        if fault == "nan":
            return tuple(item * float("nan") for item in answer)
        if fault == "shape":
            return tuple(item.reshape(-1)[:-1] for item in answer)
        return answer

    def _fault(self, name: str, settings: Any) -> Any:
        fault, _, spared = self._plan.get(name, "").partition("@")
        if spared and spared in settings:
            return None
        return fault or None
