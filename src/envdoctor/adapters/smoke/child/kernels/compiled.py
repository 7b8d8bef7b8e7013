"""torch.compile: Triton on a GPU, a C++ compiler on the CPU."""

from __future__ import annotations

import importlib
import os
import shutil
from typing import Any

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

    compiled = torch.compile(chain)

    def run(x: torch.Tensor) -> Any:
        return chain(x) if x.dtype == torch.float64 else compiled(x)

    return Case(run, (bench.randn(64, 1000),))
