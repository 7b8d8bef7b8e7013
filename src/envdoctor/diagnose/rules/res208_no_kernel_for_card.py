"""A build of torch without kernels for the card.

## What it does

Compares the GPU architectures that a planned build of torch carries, by a shipped table, with the card: measured,
or as the profile says.

## Why is this bad

`torch.cuda.is_available()` is True, and the first kernel fails with "no kernel image is available for execution on
the device".

## Example

An RTX 5080 is sm_120; CUDA 12.4 builds end at sm_90 and carry no PTX that a newer card could compile.

## References

- NVIDIA, CUDA compatibility: https://docs.nvidia.com/deploy/cuda-compatibility/
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.package_view import Scene, scenes
from envdoctor.diagnose.rule import Rule
from envdoctor.diagnose.wheel_facts import KernelSet, shipped_wheel_facts
from envdoctor.diagnose.world_atoms import card_architectures
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity


def _number(architecture: str) -> int | None:
    match = re.fullmatch(r"(?:sm|compute)_(\d+)[af]?", architecture)
    return int(match.group(1)) if match else None


def runs_on(card: str, architectures: tuple[str, ...], ptx: str | None) -> bool | None:
    """Return whether code for ``architectures`` runs on ``card``; None where one of them is not NVIDIA's.

    Machine code runs on cards of the same major and a minor at least as high; PTX is compiled by any newer card.
    """
    mine = _number(card)
    if mine is None:
        return None
    numbers = [number for item in architectures if (number := _number(item)) is not None]
    same_major = any(number // 10 == mine // 10 and number <= mine for number in numbers)
    newest_ptx = _number(ptx) if ptx else None
    return same_major or (newest_ptx is not None and mine >= newest_ptx)


def _kernels(examination: Examination, scene: Scene) -> KernelSet | None:
    torch = scene.get("torch")
    listed = examination.facts.value("torch.arch_list")
    if torch is None:
        return None
    if scene.place is not None and scene.place.value == "installed" and listed:
        items = tuple(map(str, listed))
        ptx = next((item for item in items if item.startswith("compute_")), None)
        return KernelSet("torch", torch.label or "", "", items, ptx, evidence="torch.cuda.get_arch_list()")
    target = examination.target
    if torch.label is None or target is None:
        return None
    return shipped_wheel_facts().kernel_set("torch", torch.label, torch.version, target.arch.value)


def _find(examination: Examination) -> Iterator[Finding]:
    cards = card_architectures(examination)
    for scene in scenes(examination, shipped_wheel_facts()) if cards else ():
        torch, kernels = scene.get("torch"), _kernels(examination, scene)
        if torch is None or kernels is None:
            continue
        for card in cards:
            if runs_on(card, kernels.architectures, kernels.ptx) is False:
                yield Finding(
                    rule=RULE.code,
                    name=RULE.name,
                    severity=RULE.severity,
                    subject="torch",
                    message=(
                        f"no kernel of `torch` {torch.version} ({torch.label or 'this build'}) runs on {card}: "
                        f"it has {kernels.architectures[0]} to {kernels.architectures[-1]} and no PTX to fall back on"
                    ),
                    evidence=(Evidence(", ".join(kernels.architectures), kernels.evidence),),
                    remedy=Remedy(f"take a build of torch with {card}, and the matching torchaudio and torchvision"),
                )


RULE = Rule(
    code="RES208",
    name="no-kernel-for-card",
    severity=Severity.ERROR,
    summary="A build of torch without kernels for the card",
    find=_find,
    documentation=__doc__ or "",
    ranks=True,
)
