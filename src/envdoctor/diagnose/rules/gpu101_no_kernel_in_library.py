"""The installed libraries of a package carry no kernel that the card can run.

## What it does
Reads, without loading anything, for which GPU architectures each library carries machine code (SASS, or AMD code
objects) and intermediate code (PTX), and compares with the card: measured, or as the target or profile says. NVIDIA's
machine code runs on cards of the same major and a minor at least as high, with suffix `a` on exactly one; PTX runs on
any newer card. A package of which another library fits is only noted. Facts that hold torch's own list
(`torch.arch_list`) are judged, too, where no torch is installed or planned; where one is, `RES208` speaks of it.

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

from envdoctor.diagnose.examination import Examination, card_architectures
from envdoctor.diagnose.package_view import scenes
from envdoctor.diagnose.rule import Rule
from envdoctor.diagnose.rules.res208_no_kernel_for_card import RULE as TORCH_BUILDS
from envdoctor.diagnose.torch_choice import advice_for_card
from envdoctor.diagnose.wheel_facts import code_of, shipped_wheel_facts
from envdoctor.model.binary import Binary
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity

_VENDORS_OWN = ("nvidia-", "cuda-", "rocm", "amd-")
"""Their libraries pick kernels at run time, and some carry a token one alone."""


def find(examination: Examination) -> Iterator[Finding]:
    """Yield one finding for each distribution and card."""
    cards = card_architectures(examination)
    if not cards:
        return
    yield from _listed(examination, cards)
    from envdoctor.diagnose.binary_links import owner  # where there may be libraries; a project has none

    groups: dict[str, list[Binary]] = {}
    for item in examination.binaries or ():
        if item.gpu and not owner(item).startswith(_VENDORS_OWN):
            groups.setdefault(owner(item), []).append(item)
    told = {finding.subject for finding in TORCH_BUILDS.find(examination)} if "torch" in groups else set()
    for subject, libraries in groups.items():
        if subject in told:
            continue
        for card in cards:
            without = [item for item in libraries if item.gpu.runs_on(card) is False]
            if without:
                advice = _advice(examination, subject, card)
                yield _finding(subject, card, without, advice, whole=len(without) == len(libraries))


def _listed(examination: Examination, cards: list[str]) -> Iterator[Finding]:
    """Yield findings about the list that torch gave of itself on another machine, of which nothing else is known."""
    listed = examination.facts.value("torch.arch_list")
    if not isinstance(listed, list) or any(scene.get("torch") for scene in scenes(examination, shipped_wheel_facts())):
        return
    names = tuple(map(str, listed))
    version = examination.facts.value("torch.version")
    for card in cards:
        if code_of(names).runs_on(card) is False:
            called = f"`torch` {version}" if version else "`torch`"
            yield RULE.finding(
                "torch",
                f"no kernel of {called} runs on {card}: it has {names[0]} to {names[-1]} and no PTX to fall back on",
                (Evidence(", ".join(names), examination.facts.get("torch.arch_list").source),),
                Remedy(_advice(examination, "torch", card)),
                severity=Severity.ERROR,
            )


def _advice(examination: Examination, subject: str, card: str) -> str:
    if subject == "torch":
        return advice_for_card(card, examination)
    variable = "PYTORCH_ROCM_ARCH" if card.startswith("gfx") else "TORCH_CUDA_ARCH_LIST"
    return f"take a build of `{subject}` with {card}, or build it with {variable} naming the card"


def _finding(subject: str, card: str, without: list[Binary], advice: str, *, whole: bool) -> Finding:
    carried = list(dict.fromkeys(name for item in without for name in item.gpu.architectures))
    shown = ", ".join(carried) if len(carried) <= 6 else f"{carried[0]} to {carried[-1]} ({len(carried)} in all)"
    if whole:
        ptx = any(item.gpu.ptx for item in without)
        tail = "" if card.startswith("gfx") else (" and no PTX that it could compile" if ptx else " and no PTX")
        message = f"no kernel of `{subject}` runs on {card}: it has {shown}{tail}"
    else:
        count = f"{len(without)} librar{'y' if len(without) == 1 else 'ies'}"
        message = f"{count} of `{subject}` ha{'s' if len(without) == 1 else 've'} no kernel for {card}, others have"
    from envdoctor.diagnose.binary_links import short_path

    return RULE.finding(
        subject,
        message,
        tuple(Evidence(", ".join(item.gpu.architectures), short_path(item.path)) for item in without[:8]),
        Remedy(advice),
        severity=Severity.ERROR if whole else Severity.INFO,
    )


RULE = Rule.of(__name__, __doc__, Severity.ERROR, find)
