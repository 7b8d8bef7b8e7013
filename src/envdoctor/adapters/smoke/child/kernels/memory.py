"""Copies between host and device, and memory that is taken and given back."""

from __future__ import annotations

from typing import Any

import torch

from ..registry import Case, Skip, Workbench, kernel

__all__ = []  # type: list[str]

MEGABYTE = 1024 * 1024


@kernel("pinned-copy")
def pinned_copy(bench: Workbench) -> Case:
    """Through page-locked memory, there and back."""
    if bench.device.type != "cuda":
        raise Skip("page-locked memory is for CUDA and ROCm")
    host = torch.arange(MEGABYTE, dtype=torch.float32).pin_memory()
    device = bench.device

    def there_and_back() -> Any:
        return host.to(device, non_blocking=True).cpu()

    return Case(
        there_and_back, reference=lambda: torch.arange(MEGABYTE, dtype=torch.float64), bytes_moved=8.0 * MEGABYTE
    )


@kernel("async-copy")
def async_copy(bench: Workbench) -> Case:
    """A copy on a stream of its own, awaited by an event, between two computations."""
    if bench.device.type != "cuda":
        raise Skip("streams are for CUDA and ROCm")
    host = torch.arange(MEGABYTE // 4, dtype=torch.float32).pin_memory()
    device = bench.device

    def overlapped() -> Any:
        stream = torch.cuda.Stream(device)
        landed = torch.empty_like(host, device=device)
        stream.wait_stream(torch.cuda.current_stream(device))
        with torch.cuda.stream(stream):
            landed.copy_(host, non_blocking=True)
            arrived = stream.record_event()
        torch.cuda.current_stream(device).wait_event(arrived)
        landed.record_stream(torch.cuda.current_stream(device))
        return landed * 2 + 1

    return Case(overlapped, reference=lambda: torch.arange(MEGABYTE // 4, dtype=torch.float64) * 2 + 1)


@kernel("memory-growth")
def memory_growth(bench: Workbench) -> Case:
    """64 MB taken in pieces, written, read and given back: nothing may stay in use."""
    device = bench.device

    def grow() -> Any:
        before = torch.cuda.memory_allocated(device) if device.type == "cuda" else 0
        pieces = [torch.full((MEGABYTE,), float(index), device=device) for index in range(16)]
        sums = torch.stack([piece[::4096].sum() for piece in pieces]).cpu()
        del pieces
        if device.type == "cuda" and torch.cuda.memory_allocated(device) > before:
            raise RuntimeError("memory stays in use after its tensors are gone")
        return sums

    return Case(grow, reference=lambda: torch.arange(16, dtype=torch.float64) * (MEGABYTE // 4096), timed=False)
