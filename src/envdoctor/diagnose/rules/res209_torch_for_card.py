"""The torch for this card: where its wheels come from, and what else there is.

## What it does
Where the card is to choose (`--target-backend auto`), says which way was taken and bound: the index and label whose
wheels have the card's kernels, for the driver and Python at hand; then the others in their order, each with what it
needs or why it cannot be gone. With an AMD card on Windows and ZLUDA or DirectML as backend it names the other ways.

## Why it is bad
It is not: it is what was decided. `pip install torch` takes one build for everybody, which for an AMD card, a new or an
old NVIDIA card, or Windows is mostly the wrong one.

## Example
`envdoctor check --gpu "RX 7900 XT" --target-os windows --target-backend auto`: AMD's own builds with ROCm; else
DirectML (torch 2.4.1), ZLUDA (CUDA 11.8 builds up to torch 2.7), the CPU.

A torch of AMD's index without the extra of a card is a warning: it installs and imports, and has no kernels.

## What to do
`envdoctor lock` with the same options writes the lock of it; `--target-backend NAME` takes another way.

## References
- PyTorch, Get started: https://pytorch.org/get-started/locally/
- ROCm/TheRock, releases: https://github.com/ROCm/TheRock/blob/main/RELEASES.md
"""

from __future__ import annotations

from collections.abc import Iterator

from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.rule import Rule
from envdoctor.diagnose.torch_choice import choose_torch
from envdoctor.diagnose.torch_ways import BY_EXTRA, TorchWay
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.target import Backend, OperatingSystem


def find(examination: Examination) -> Iterator[Finding]:
    """Yield the way that was taken, or the other ways of a card that has several."""
    if not _asks_for_torch(examination):
        return
    if bare := _without_kernels(examination):
        yield bare
    if examination.torch is not None:
        yield _of_choice(examination)
    elif others := _other_ways(examination):
        backend = examination.target.backend.value if examination.target else ""
        yield _finding(f"{backend} is one of several ways to this card", others, "the ways of this card, best first")


def _asks_for_torch(examination: Examination) -> bool:
    lines = examination.project.requirements if examination.project is not None else ()
    planned = examination.resolution.packages if examination.resolution is not None else ()
    return any(line.name == "torch" for line in lines) or any(item.name == "torch" for item in planned)


def _without_kernels(examination: Examination) -> Finding | None:
    """Return that torch of AMD's index comes without any card's kernels: those are distributions of their own."""
    packages = examination.resolution.packages if examination.resolution is not None else ()
    torch = next((item for item in packages if item.name == "torch" and item.file.index == BY_EXTRA), None)
    if torch is None or torch.file.stand_in or any(item.name.startswith("amd-torch-device-") for item in packages):
        return None
    return RULE.finding(
        "torch",
        f"`torch` {torch.version} of AMD's index comes without kernels: each card's are an extra, and no card is named",
        (Evidence(torch.file.filename, f"index {BY_EXTRA}"),),
        Remedy('name the card: `--gpu "RX 7900 XT"` or `--facts FILE` adds `torch[device-gfx1100]`'),
        severity=Severity.WARNING,
    )


def _of_choice(examination: Examination) -> Finding:
    torch = examination.torch
    assert torch is not None  # noqa: S101
    taken = torch.taken
    others = [way for way in torch.ways if way is not taken]
    what = str(taken) if taken is not None else "nothing that is known here"
    known = taken.evidence if taken is not None else ""
    return _finding(f"torch for {torch.card} is taken by {what}", others, "else, in this order", known)


def _other_ways(examination: Examination) -> list[TorchWay]:
    target = examination.target
    if target is None or target.os is not OperatingSystem.WINDOWS:
        return []
    if target.backend not in (Backend.ZLUDA, Backend.DIRECTML):
        return []
    choice = choose_torch(examination.facts, target, examination.project)
    return [way for way in choice.ways if way.backend is not target.backend] if choice.card.vendor == "amd" else []


def _finding(message: str, others: list[TorchWay], order: str, known: str = "") -> Finding:
    summary = f"{order}: {'; '.join(map(str, others))}" if others else "there is no other way"
    return RULE.finding(
        "torch",
        message,
        (Evidence(known, "where that is known from"),) if known else (),
        Remedy(summary),
    )


RULE = Rule.of(
    __name__,
    __doc__,
    Severity.INFO,
    find,
    summary="Which way leads to a torch for this card, and the others",
    needs={"target"},
)
