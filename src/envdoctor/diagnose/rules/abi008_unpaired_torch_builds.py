"""torch and its companions are of different builds.

## What it does
Compares the build labels (`+cpu`, `+cu124`, `+rocm6.3`) of the installed torch, torchaudio, torchvision and
torchcodec. Whether their versions belong together is said by advisories.

## Why it is bad
Their shared libraries call into each other. A companion for CUDA finds no `libtorch_cuda` in a CPU build of torch; a
CPU companion has no GPU operators: "Could not run 'torchvision::nms' with arguments from the 'CUDA' backend".

## Example
`torch 2.6.0+cu124` from PyTorch's index, and `torchvision 0.21.0+cpu` from another command.

## What to do
Install all of them with one command from one index.

## References
- PyTorch, Previous versions: https://pytorch.org/get-started/previous-versions/
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from packaging.version import InvalidVersion, Version

from envdoctor.diagnose.rule import Rule
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity

if TYPE_CHECKING:
    from envdoctor.diagnose.examination import Examination
    from envdoctor.model.environment import InstalledDistribution

_COMPANIONS = ("torchaudio", "torchvision", "torchcodec")


def find(examination: Examination) -> Iterator[Finding]:
    """Yield one finding for each companion whose label differs from torch's."""
    environment = examination.environment
    torch = environment.get("torch") if environment else None
    if environment is None or torch is None:
        return
    label = _label(torch)
    for name in _COMPANIONS:
        found = environment.get(name)
        other = _label(found) if found else None
        if found is None or label is None or other is None or label == other:
            continue
        yield Finding(
            RULE.code,
            RULE.name,
            RULE.severity,
            name,
            f"`{name}` {found.version} and `torch` {torch.version} are different builds",
            (Evidence(f"+{other} beside +{label}", found.metadata_path or environment.source),),
            Remedy(f"install `{name}` from the index with +{label} builds"),
        )


def _label(distribution: InstalledDistribution) -> str | None:
    try:
        return Version(distribution.version).local
    except InvalidVersion:
        return None


RULE = Rule(
    code="ABI008",
    name="unpaired-torch-builds",
    severity=Severity.ERROR,
    summary="torch and its companions are of different builds",
    find=find,
    documentation=__doc__,
    needs=frozenset({"environment"}),
)
