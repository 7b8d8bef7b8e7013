"""The all-reduce: torchrun starts one process a device, in a child of its own."""

from __future__ import annotations

import json
import math
import os
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from envdoctor.adapters.smoke import kernel_catalogue
from envdoctor.adapters.smoke.bundle import write_bundle
from envdoctor.adapters.smoke.process import Child, describe_exit

__all__ = ["all_reduce"]


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
