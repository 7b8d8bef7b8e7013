"""The device or this torch does not have an operation.

## What it does
Reports a kernel that torch refuses on this device ("not implemented for", "could not run"), or that a backend is
known not to have. Without a profile this is a fact about the backend and only a warning; a profile that needs the
kernel and has no other place for it makes it an error.

## Why it is bad
A model that needs the operation stops at its first call, or falls back to the CPU for each one.

## Example
Complex numbers and bfloat16 on DirectML: `stft`, `gemm-bfloat16`.

## What to do
Run the components that need it on the CPU, as the profile's placements say. For what a backend is known not to have,
`--kernel NAME` asks it nevertheless; newer releases may have it.

## References
- docs/kernels.md: the kernels, their tolerances and the reasons for them
"""

from __future__ import annotations

from envdoctor.diagnose.rule import Rule, judged_by_smoke
from envdoctor.model.finding import Severity
from envdoctor.model.unknown import SubjectKind

RULE = Rule(
    code="GPU005",
    name="kernel-unsupported",
    severity=Severity.ERROR,
    about=SubjectKind.KERNEL,
    summary="The device or this torch does not have an operation",
    find=judged_by_smoke,
    documentation=__doc__,
)
