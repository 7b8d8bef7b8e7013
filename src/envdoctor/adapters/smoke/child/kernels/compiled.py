"""torch.compile: Triton on a GPU, a C++ compiler on the CPU."""

from __future__ import annotations

import importlib
import os
import shutil
from typing import Any, List

import torch

from ..registry import Case, Skip, Workbench, kernel

__all__ = []  # type: list[str]


@kernel("torch-compile")
def torch_compile(bench: Workbench) -> Case:
    """A fused pointwise chain and a reduction."""
    if bench.device.type == "cuda":
        try:
            importlib.import_module("triton")
        except ImportError as error:
            raise Skip("Triton is not installed") from error
    elif not any(shutil.which(name) for name in (os.environ.get("CXX"), "g++", "clang++", "cl") if name):
        raise Skip("there is no C++ compiler for torch.compile to use")
    # A pool of compiling processes costs more than this one kernel, and outlives it.
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")

    def chain(x: torch.Tensor) -> torch.Tensor:
        return (torch.tanh(x) * torch.sigmoid(x) + 0.5 * x).sum(-1)

    kept: List[Any] = []

    def run(x: torch.Tensor) -> Any:
        if not kept:
            # Here and not before: what torch.compile imports belongs to its first call.
            kept.append(torch.compile(chain))
        return kept[0](x)

    # For the CPU the chain as it is: a C++ compiler would take many times longer than all other kernels together.
    return Case(run, (bench.randn(64, 1000),), plain=chain)
