"""A GPU kernel raised an error, or its process died in it.

## What it does
Runs each kernel in a child process. An exception, a signal (SIGABRT, SIGSEGV), a Windows exception code, or a device
context that no longer adds 1 and 1 (a device-side assert, an illegal access) is put on the kernel that was running;
the others go on in a new child.

## Why it is bad
A program in which this happens ends without a traceback, often inside a library that it did not know it used.

## Example
`addmm-cublaslt` aborts under ZLUDA, which does not translate cublasLt; it passes with `DISABLE_ADDMM_CUDA_LT=1`.

## What to do
Use the setting that the report names, or the placement of the profile. "no kernel image is available" means that
this build of torch is not for this card: `envdoctor rule RES208`. SIGKILL mostly means that the system's memory was
used up; SIGILL that the CPU lacks an instruction.

## References
- docs/kernels.md: the kernels, their tolerances and the reasons for them
"""

from __future__ import annotations

from envdoctor.diagnose.rule import Rule, judged_by_smoke
from envdoctor.model.finding import Severity
from envdoctor.model.unknown import SubjectKind

RULE = Rule(
    code="GPU002",
    name="kernel-crashed",
    severity=Severity.ERROR,
    about=SubjectKind.KERNEL,
    summary="A GPU kernel raised an error, or its process died in it",
    find=judged_by_smoke,
    documentation=__doc__,
)
