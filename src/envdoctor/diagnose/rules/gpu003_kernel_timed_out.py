"""A GPU kernel gave no answer within its time limit.

## What it does
Ends a child whose kernel does not answer within the limit, and goes on with the others. That is 60 s for most and more
for those that compile; 20 s more for the first kernel of a process; on CUDA, after eight kernels that passed, 20 times
the slowest of their first calls, and 30 s at least. What hung is tried again under other settings, for 10 s each and
25 s in all; a setting that has helped another kernel is tried first, and on all.

## Why it is bad
A hang looks like slow work, so people wait for it.

## Example
The first attention call of a new driver that compiles for minutes, or a kernel that waits for a lock that nobody
holds.

## What to do
Run `envdoctor smoke --kernel NAME --timeout-scale 5` once: translation layers compile every kernel at its first use,
and a second run is then quick. If it still hangs, use the setting or the placement that the report names. A process
that cannot be ended is held by its driver; only a reboot frees it.

## References
- docs/kernels.md: the kernels, their tolerances and the reasons for them
"""

from __future__ import annotations

from envdoctor.diagnose.rule import Rule, judged_by_smoke
from envdoctor.model.finding import Severity
from envdoctor.model.unknown import SubjectKind

RULE = Rule(
    code="GPU003",
    name="kernel-timed-out",
    severity=Severity.ERROR,
    about=SubjectKind.KERNEL,
    summary="A GPU kernel gave no answer within its time limit",
    find=judged_by_smoke,
    documentation=__doc__,
)
