"""The device had too little memory for a small kernel.

## What it does
Reports a kernel that the device refused memory. The shapes are small: a few megabytes each.

## Why it is bad
Where a few megabytes are not to be had, something else holds the card, and no model will fit.

## Example
Another process, often one that was killed halfway, holds all of the card's memory.

## What to do
Look at what holds it (`nvidia-smi`, `rocm-smi`, the task manager), end that, and run again.

## References
- docs/kernels.md: the kernels, their tolerances and the reasons for them
"""

from __future__ import annotations

from envdoctor.diagnose.rule import Rule, judged_by_smoke
from envdoctor.model.finding import Severity
from envdoctor.model.unknown import SubjectKind

RULE = Rule(
    code="GPU004",
    name="kernel-out-of-memory",
    severity=Severity.ERROR,
    about=SubjectKind.KERNEL,
    summary="The device had too little memory for a small kernel",
    find=judged_by_smoke,
    documentation=__doc__,
)
