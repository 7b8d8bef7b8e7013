"""One rank of the all-reduce, started by torchrun; every rank checks the sum, rank 0 tells."""

from __future__ import annotations

import json
import os
import sys
import time

__all__ = ["main"]

COUNT = 1 << 20
"""float32 values: 4 MB, as a gradient bucket is."""


def main() -> int:
    """Reduce, check, and write one event line to the file that the parent named. Returns the exit status."""
    import torch
    import torch.distributed as dist

    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    backend = os.environ.get("ENVDOCTOR_COLLECTIVE", "gloo")
    device = torch.device("cpu")
    if backend == "nccl":
        device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(device)
    dist.init_process_group(backend)
    times = []
    error = 0.0
    expected = torch.arange(COUNT, dtype=torch.float64) % 1000 * (size * (size + 1) / 2)
    for _ in range(3):
        values = (torch.arange(COUNT, dtype=torch.float32) % 1000 * (rank + 1)).to(device)
        dist.barrier()
        begin = time.perf_counter()
        dist.all_reduce(values)
        answer = values.cpu()
        times.append((time.perf_counter() - begin) * 1e3)
        error = max(error, float((answer.double() - expected).abs().max() / expected.max()))
    errors = torch.tensor([error], device=device)
    dist.all_reduce(errors, op=dist.ReduceOp.MAX)
    if rank == 0:
        _tell(float(errors.cpu()), times, size, backend)
    dist.destroy_process_group()
    return 0


def _tell(error: float, times: list[float], size: int, backend: str) -> None:
    steady = sorted(times[1:])[0]
    outcome = {
        "error_relative": error,
        "first_ms": times[0],
        "steady_ms": steady,
        "rate": 4.0 * COUNT * 2 * (size - 1) / size / (steady / 1e3) / 1e9,
        "rate_unit": "GB/s",
        "note": f"{size} ranks over {backend}",
    }
    with open(os.environ["ENVDOCTOR_ANSWER"], "w", encoding="utf-8") as answer:
        json.dump(outcome, answer)
    sys.stdout.flush()
