"""The GPU is slower than the CPU of the same machine at these shapes.

## What it does
Compares the median of later calls with the same operation on the CPU. Calls under half a millisecond are left out:
they measure the launch, not the work.

## Why it is bad
Small steps that wait for each other (a recurrent layer, a short codebook search) can cost more on a GPU than they
save, and a component can then just as well stay on the CPU.

## Example
`amphion-rvq` with 60 vectors: 0.80 ms on the GPU, 0.57 ms on the CPU.

## What to do
Nothing, unless the component that does this is slow in practice: then try it on the CPU, or in larger batches.

## References
- docs/kernels.md: the kernels, their tolerances and the reasons for them
"""

from __future__ import annotations

from envdoctor.diagnose.rule import Rule, judged_by_smoke
from envdoctor.model.finding import Severity
from envdoctor.model.unknown import SubjectKind

RULE = Rule(
    code="GPU008",
    name="slower-than-cpu",
    severity=Severity.INFO,
    about=SubjectKind.DEVICE,
    summary="The GPU is slower than the CPU of the same machine at these shapes",
    find=judged_by_smoke,
    documentation=__doc__,
)
