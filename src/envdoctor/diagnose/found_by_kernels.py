"""What a kernel that did not pass is called, with the text of each: ``verbs.smoke`` says it, and no examination."""

from __future__ import annotations

from envdoctor.diagnose.rule import Rule
from envdoctor.model.finding import Severity
from envdoctor.model.unknown import SubjectKind

__all__ = ["FOUND_BY_KERNELS"]


def _kernel(code: str, name: str, documentation: str) -> Rule:
    return Rule.found_elsewhere(code, name, Severity.ERROR, documentation, about=SubjectKind.KERNEL)


FOUND_BY_KERNELS = (
    _kernel(
        "GPU001",
        "kernel-wrong-answer",
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
""",
    ),
    _kernel(
        "GPU002",
        "kernel-crashed",
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
""",
    ),
    _kernel(
        "GPU003",
        "kernel-timed-out",
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
""",
    ),
    _kernel(
        "GPU004",
        "kernel-out-of-memory",
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
""",
    ),
    _kernel(
        "GPU005",
        "kernel-unsupported",
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
""",
    ),
    _kernel(
        "GPU006",
        "torch-does-not-import",
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
""",
    ),
    _kernel(
        "GPU007",
        "device-unavailable",
        """The device that was asked for does not open.

## What it does
Opens the backend's device and adds 1 and 1 on it, before any kernel. A build without that backend, a driver that
sees no card, a device number that is too high, and a device of another kind than the profile says are told apart.

## Why it is bad
Programs fall back to the CPU without a word, and somebody waits a hundred times longer than they should.

## Example
`torch 2.4.1+cpu is built without CUDA and without ROCm`.

## What to do
A build without the backend: `envdoctor check --profile NAME` says which one to install. A driver that sees no card:
`envdoctor host` shows what the system knows of it. Inside a container, pass the device in.

## References
- docs/kernels.md: the kernels, their tolerances and the reasons for them
""",
    ),
    Rule.found_elsewhere(
        "GPU008",
        "slower-than-cpu",
        Severity.INFO,
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
""",
        about=SubjectKind.DEVICE,
    ),
)
