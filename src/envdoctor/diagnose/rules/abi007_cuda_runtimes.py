"""Parts of one environment load the CUDA runtime of one major and others that of another.

## What it does
Reads which CUDA runtime (`libcudart`) and cuBLAS the importable libraries of each distribution ask for. A package that
brings builds for several majors, of which it loads one, is left out; so are NVIDIA's own packages when nobody loads
them.

## Why it is bad
Each runtime keeps its own state: streams, memory and handles of one mean nothing to the other. Where a library passes
them across, it crashes; where it does not, twice the memory is taken.

## Example
A custom kernel package built for CUDA 12 beside a torch built for CUDA 13.

## What to do
Take builds for the same CUDA major as torch's.

## References
- NVIDIA, CUDA compatibility: https://docs.nvidia.com/deploy/cuda-compatibility/
"""

from __future__ import annotations

from collections.abc import Iterator

from envdoctor.diagnose.binary_links import short_path, users_of
from envdoctor.diagnose.rule import Rule
from envdoctor.model.binary import BinaryInventory
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity


def find(binaries: BinaryInventory) -> Iterator[Finding]:
    """Yield one finding where two majors are in use."""
    for family in ("cudart", "cublas"):
        users = users_of(binaries, family)
        if len(users) < 2:
            continue
        torch_first = sorted(users.items(), key=lambda side: "torch" not in side[1])
        other = next(iter(torch_first[-1][1]))
        sides = " and ".join(
            f"CUDA {number} ({', '.join(f'`{name}`' for name in names)})" for number, names in users.items()
        )
        yield RULE.finding(
            other,
            f"one process would load the runtimes of {sides}",
            tuple(
                Evidence(f"needs {family} of CUDA {number}", short_path(binary.path))
                for number, names in users.items()
                for binary in list(names.values())[:4]
            ),
            Remedy(f"take a build of `{other}` for CUDA {torch_first[0][0]}"),
        )
        return


RULE = Rule.of(__name__, __doc__, Severity.WARNING, find)
