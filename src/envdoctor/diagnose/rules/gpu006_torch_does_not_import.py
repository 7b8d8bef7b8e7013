"""torch is missing from the environment, or raises, aborts or hangs at import.

## What it does
Starts the environment's interpreter and imports torch, before any kernel.

## Why it is bad
Nothing else can be asked. A missing library, an older NumPy ABI, a wheel for another Python and a broken driver all
look like this.

## Example
`OSError: libcudnn.so.9: cannot open shared object file`, or "No module named 'torch'" because the environment is
another one than was meant.

## What to do
`envdoctor check --env DIR` names the missing library or the mismatched pair. If torch is not there at all, see that
`--env` names the environment that the program runs in.

## References
- docs/kernels.md: the kernels, their tolerances and the reasons for them
"""

from __future__ import annotations

from envdoctor.diagnose.rule import Rule, judged_by_smoke
from envdoctor.model.finding import Severity
from envdoctor.model.unknown import SubjectKind

RULE = Rule(
    code="GPU006",
    name="torch-does-not-import",
    severity=Severity.ERROR,
    about=SubjectKind.KERNEL,
    summary="torch is missing from the environment, or raises, aborts or hangs at import",
    find=judged_by_smoke,
    documentation=__doc__,
)
