"""Where a command runs that a launcher (torchrun, srun, mpirun) has started many times."""

from __future__ import annotations

import platform
import re
from collections.abc import Mapping
from pathlib import Path

from envdoctor.model.report import Rank
from envdoctor.ports import UsageError

__all__ = ["filled_in", "read_rank"]

# Launcher, and its variables: the rank among all, the rank on this host, the number of all. torchrun first, since srun
# may start it.
_LAUNCHERS = (
    ("torchrun", "RANK", "LOCAL_RANK", "WORLD_SIZE"),
    ("mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("mpiexec", "PMI_RANK", "MPI_LOCALRANKID", "PMI_SIZE"),
    ("srun", "SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS"),
)
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")


def read_rank(variables: Mapping[str, str]) -> Rank | None:
    """Return which of a launcher's processes this is, by the variables that it sets; None where none has."""
    for launcher, *names in _LAUNCHERS:
        values = [variables.get(name, "") for name in names]
        if all(value.isascii() and value.isdigit() and len(value) < 10 for value in values):
            rank, local, size = map(int, values)
            return Rank(platform.node() or "localhost", rank, local, size, launcher)
    return None


def filled_in(path: Path, rank: Rank | None) -> Path:
    """Return a path with `{host}` and `{rank}` filled in, and its folder made. Raises UsageError for others in braces.

    Without a launcher, the rank is 0.
    """
    values = {
        "host": _file_name(rank.host if rank else platform.node() or "localhost"),
        "rank": str(rank.rank if rank else 0),
    }
    found = set(_PLACEHOLDER.findall(str(path)))
    if not found:
        return path
    unknown = sorted(found - {*values})
    if unknown:
        raise UsageError(f"--output: `{{{unknown[0]}}}` is neither `{{host}}` nor `{{rank}}`")
    full = Path(_PLACEHOLDER.sub(lambda match: values[match[1]], str(path)))
    try:
        full.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot make `{full.parent}`: {error.strerror or error}") from error
    return full


def _file_name(host: str) -> str:
    """Return a host's name without what would lead out of a folder."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", host).lstrip(".") or "localhost"
