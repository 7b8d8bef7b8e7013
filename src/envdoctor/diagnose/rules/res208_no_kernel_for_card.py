"""A build of torch without kernels for the card.

## What it does

Compares the GPU architectures that a planned build of torch carries, by a shipped table, with the card: measured,
or as the profile says.

## Why is this bad

`torch.cuda.is_available()` is True, and the first kernel fails with "no kernel image is available for execution on
the device".

## Example

An RTX 5080 is sm_120; CUDA 12.4 builds end at sm_90 and carry no PTX that a newer card could compile. A Radeon RX 9070
is gfx1201, which the builds for ROCm 6.2 do not have. Where another card of the machine can run the build, the one that
cannot is a note.

## References

- NVIDIA, CUDA compatibility: https://docs.nvidia.com/deploy/cuda-compatibility/
"""

from __future__ import annotations

from collections.abc import Iterator

from envdoctor.diagnose.examination import Examination, card_architectures
from envdoctor.diagnose.package_view import PackageView, Place, Scene, kept_by_image, scenes
from envdoctor.diagnose.rule import Rule
from envdoctor.diagnose.torch_choice import advice_for_card, held_back
from envdoctor.diagnose.wheel_facts import KernelSet, code_of, shipped_wheel_facts
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity


def runs_on(card: str, architectures: tuple[str, ...], ptx: str | None) -> bool | None:
    """Return whether code for ``architectures`` runs on ``card``; None where that is not known."""
    return code_of(architectures, ptx).runs_on(card)


def _kernels(examination: Examination, scene: Scene) -> KernelSet | None:
    torch = scene.get("torch")
    listed = examination.facts.value("torch.arch_list")
    if torch is None:
        return None
    if scene.place is Place.INSTALLED and listed:
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
        answers = {card: runs_on(card, kernels.architectures, kernels.ptx) for card in cards}
        for card, answer in answers.items():
            if answer is False:
                severity = Severity.INFO if True in answers.values() else RULE.severity
                conda = "in an environment without conda's torch, " if torch.other_build else ""
                conda = conda if scene.place is Place.INSTALLED else ""
                advice = f"{conda}{advice_for_card(card, examination)}"
                if examination.target is not None and scene.place is Place.PLAN:
                    advice += held_back(examination, card, examination.target)
                kept = kept_by_image(examination, "torch") if scene.place is Place.PLAN else ""
                yield _finding(torch, kernels, card, f"{advice}; the driver is not the cause{kept}", severity)


def _finding(torch: PackageView, kernels: KernelSet, card: str, advice: str, severity: Severity) -> Finding:
    machine = [item for item in kernels.architectures if not item.startswith("compute_")]
    ptx = "no PTX to fall back on" if kernels.ptx is None else f"PTX for {kernels.ptx}, which it cannot compile"
    fallback = "" if card.startswith("gfx") else f" and {ptx}"
    return RULE.finding(
        subject="torch",
        message=(
            f"no kernel of `torch` {torch.version} ({torch.label or 'this build'}) runs on {_card(card)}: "
            f"it has {machine[0]} to {machine[-1]}{fallback}"
        ),
        severity=severity,
        evidence=(Evidence(", ".join(kernels.architectures), kernels.evidence),),
        remedy=Remedy(advice),
        packages=(torch.name,),
    )


def _card(card: str) -> str:
    """Return ``sm_120 (capability 12.0)``: the reports and the documentation use either."""
    digits = card.removeprefix("sm_").rstrip("af")
    return f"{card} (capability {digits[:-1]}.{digits[-1]})" if card.startswith("sm_") and len(digits) > 1 else card


RULE = Rule.of(__name__, __doc__, Severity.ERROR, _find, ranks=Severity.WARNING)
