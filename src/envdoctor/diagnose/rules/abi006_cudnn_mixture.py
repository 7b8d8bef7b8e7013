"""Parts of one environment load cuDNN 8 and others cuDNN 9.

## What it does
Reads which cuDNN the importable libraries of each distribution ask for.

## Why it is bad
cuDNN is split into libraries that load each other by name. Two majors in one process find each other's parts:
"Could not load library libcudnn_ops_infer.so.8", or an abort without a word.

## Example
ctranslate2 4.4 (cuDNN 8) beside torch 2.4 and later (cuDNN 9).

## What to do
Take releases of both that use the same major.

## References
- NVIDIA, cuDNN release notes: https://docs.nvidia.com/deeplearning/cudnn/
"""

from __future__ import annotations

from collections.abc import Iterator

from envdoctor.diagnose.binary_links import short_path, users_of
from envdoctor.diagnose.rule import Rule
from envdoctor.model.binary import BinaryInventory
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity


def find(binaries: BinaryInventory) -> Iterator[Finding]:
    """Yield one finding where two majors are in use."""
    users = users_of(binaries, "cudnn")
    if len(users) < 2:
        return
    sides = " and ".join(
        f"cuDNN {number} ({', '.join(f'`{name}`' for name in names)})" for number, names in users.items()
    )
    yield RULE.finding(
        next(iter(next(iter(users.values())))),
        f"one process would load {sides}",
        tuple(
            Evidence(f"needs cuDNN {number}", short_path(binary.path))
            for number, names in users.items()
            for binary in names.values()
        ),
        Remedy("take releases that use the same cuDNN"),
    )


RULE = Rule.of(__name__, __doc__, Severity.WARNING, find)
