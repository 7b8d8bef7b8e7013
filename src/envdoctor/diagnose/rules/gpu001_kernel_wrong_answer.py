"""A GPU kernel ran and its answer is wrong.

## What it does
Compares what a kernel gives with the same operation in float64 on the CPU (or in integers, where there is one right
answer). The error is the largest difference over the largest value of the reference, held against the kernel's
tolerance in docs/kernels.md. A NaN, an infinity or another shape is wrong whatever its size.

## Why it is bad
Nothing fails, nothing is logged, and the model speaks noise. This is how a driver, a translation layer or a fused
kernel is wrong most expensively.

## Example
`stft` on a card behind a translation layer whose Fourier transform is not scaled as cuFFT's is.

## What to do
Where a setting makes it right, the report names it (`cudnn-off`, `tf32-off`, `math-only`, another type): set that, or
let `envdoctor fix` set it. Where none does, run the components that need the kernel on another device, as the profile's
placements say. Newer drivers and newer builds of torch are worth one try each.

## References
- docs/kernels.md: the kernels, their tolerances and the reasons for them
"""

from __future__ import annotations

from envdoctor.diagnose.rule import Rule, judged_by_smoke
from envdoctor.model.finding import Severity
from envdoctor.model.unknown import SubjectKind

RULE = Rule(
    code="GPU001",
    name="kernel-wrong-answer",
    severity=Severity.ERROR,
    about=SubjectKind.KERNEL,
    summary="A GPU kernel ran and its answer is wrong",
    find=judged_by_smoke,
    documentation=__doc__,
)
