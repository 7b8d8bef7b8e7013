"""The installed libraries of a package carry no kernel that the card can run.

## What it does
Reads, without loading anything, for which GPU architectures each library carries machine code (SASS, or AMD code
objects) and intermediate code (PTX), and compares with the card: measured, or as the target or profile says. NVIDIA's
machine code runs on cards of the same major and a minor at least as high, with suffix `a` on exactly one; PTX runs on
any newer card. A package of which another library fits is only noted. What `torch.cuda.get_arch_list()` and the
shipped table of torch's builds say is judged by `RES208`.

## Why it is bad
`torch.cuda.is_available()` is True, and the first kernel fails with "no kernel image is available for execution on
the device". The driver is not to blame.

## Example
An extension compiled with `-gencode arch=compute_110,code=sm_110` on a card of capability 9.0.

## What to do
Take a build for the card, or build with `TORCH_CUDA_ARCH_LIST` naming it.

## References
- NVIDIA, CUDA C++ Programming Guide, "Binary Compatibility": https://docs.nvidia.com/cuda/cuda-c-programming-guide/
"""

from __future__ import annotations

from collections.abc import Iterator

from envdoctor.diagnose.binary_links import owner, short_path
from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.rule import Rule
from envdoctor.diagnose.rules.res208_no_kernel_for_card import RULE as TORCH_BUILDS
from envdoctor.diagnose.world_atoms import card_architectures
from envdoctor.model.binary import Binary
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity

_VENDORS_OWN = ("nvidia-", "cuda-", "rocm", "amd-")
"""Their libraries pick kernels at run time, and some carry a token one alone."""


def find(examination: Examination) -> Iterator[Finding]:
    """Yield one finding for each distribution and card."""
    inventory = examination.binaries
    cards = card_architectures(examination)
    if inventory is None or not cards:
        return
    groups: dict[str, list[Binary]] = {}
    for item in inventory:
        if item.gpu and not owner(item).startswith(_VENDORS_OWN):
            groups.setdefault(owner(item), []).append(item)
    told = {finding.subject for finding in TORCH_BUILDS.find(examination)} if "torch" in groups else set()
    for subject, libraries in groups.items():
        if subject in told:
            continue
        for card in cards:
            without = [item for item in libraries if item.gpu.runs_on(card) is False]
            if without:
                yield _finding(subject, card, without, whole=len(without) == len(libraries))


def _finding(subject: str, card: str, without: list[Binary], *, whole: bool) -> Finding:
    carried = list(dict.fromkeys(name for item in without for name in item.gpu.architectures))
    shown = ", ".join(carried) if len(carried) <= 6 else f"{carried[0]} to {carried[-1]} ({len(carried)} in all)"
    if whole:
        ptx = any(item.gpu.ptx for item in without)
        tail = "" if card.startswith("gfx") else (" and no PTX that it could compile" if ptx else " and no PTX")
        message = f"no kernel of `{subject}` runs on {card}: it has {shown}{tail}"
    else:
        count = f"{len(without)} librar{'y' if len(without) == 1 else 'ies'}"
        message = f"{count} of `{subject}` ha{'s' if len(without) == 1 else 've'} no kernel for {card}, others have"
    variable = "PYTORCH_ROCM_ARCH" if card.startswith("gfx") else "TORCH_CUDA_ARCH_LIST"
    return Finding(
        RULE.code,
        RULE.name,
        Severity.ERROR if whole else Severity.INFO,
        subject,
        message,
        tuple(Evidence(", ".join(item.gpu.architectures), short_path(item.path)) for item in without[:8]),
        Remedy(f"take a build of `{subject}` with {card}, or build it with {variable} naming the card"),
    )


RULE = Rule(
    code="GPU101",
    name="no-kernel-in-library",
    severity=Severity.ERROR,
    summary="The installed libraries of a package carry no kernel that the card can run",
    find=find,
    documentation=__doc__,
    needs=frozenset({"binaries"}),
)
