"""torch is built for another kind of device than the machine has.

## What it does
Compares what the installed torch was built for (its build label: `+cpu`, `+cu124`, `+rocm6.3`, or what is known of the
default index's wheels) with the cards of the machine, as measured or as `--facts` says.

## Why it is bad
Everything installs and imports, `torch.cuda.is_available()` is False, and the work runs on the CPU or stops.

## Example
`torch` 2.9.1 from the default index on an aarch64 machine with a GB10: a CPU build. `torch` 2.6.0+cu124 on a machine
whose only card is a Radeon.

A CPU build where a target without a GPU was asked for is what was wanted, and nothing is said; nor of a CUDA build on a
machine without any card, where it runs on the CPU. An AMD card that no build of PyTorch's own is for gives a note.
Where an advisory says it already, with where the right build is, this rule is silent.

## What to do
Install torch, torchaudio and torchvision from the index with the builds for the card.

## References
- PyTorch, Get started: https://pytorch.org/get-started/locally/
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from envdoctor.diagnose.advisories.predicate import Situation
from envdoctor.diagnose.advisories.selection import advisories_for
from envdoctor.diagnose.advisories.world_atoms import card_architectures
from envdoctor.diagnose.assumed import is_assumed
from envdoctor.diagnose.package_view import PackageView, Place, Scene, scenes
from envdoctor.diagnose.rule import Rule
from envdoctor.diagnose.wheel_facts import advice_for_torch, builds_for, shipped_wheel_facts
from envdoctor.model.fact import FactState
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.target import Backend

if TYPE_CHECKING:
    from envdoctor.diagnose.examination import Examination

_OTHER_WAYS = ("torch-directml", "torch-npu", "intel-extension-for-pytorch", "torch-xla")
"""Distributions that bring their own device to a CPU build."""
_TOLD_BY = frozenset({"torch-pypi-windows-is-cpu", "torch-pypi-aarch64-cpu-before-211"})
_NEEDS_A_CARD = (Backend.CUDA, Backend.ZLUDA, Backend.ROCM)


@dataclass(frozen=True, slots=True)
class _Cards:
    """The machine's cards, by what runs on them."""

    nvidia: tuple[str, ...] = ()
    """Architectures, empty texts where they are not known."""
    amd: tuple[str, ...] = ()
    named: tuple[str, ...] = ()


def find(examination: Examination) -> Iterator[Finding]:
    """Yield at most one finding."""
    places = scenes(examination, shipped_wheel_facts())
    installed = next((scene for scene in places if scene.place is Place.INSTALLED), None)
    torch = installed.get("torch") if installed is not None else None
    cards = _cards(examination)
    if installed is None or torch is None or torch.label is None or not (cards.nvidia or cards.amd):
        return
    told = _judge(examination, torch.label, cards)
    if told is None or any(installed.get(name) for name in _OTHER_WAYS) or _known_issue(examination, installed):
        return
    severity, built_for, card = told
    yield Finding(
        RULE.code,
        RULE.name,
        severity,
        "torch",
        f"`torch` {torch.version} is built for {built_for}, and the card is {' and '.join(cards.named)}",
        _evidence(examination, torch),
        Remedy(_advice(examination, card)),
    )


def _known_issue(examination: Examination, installed: Scene) -> bool:
    """Return whether an advisory says it already, with where the right build is: the default index's CPU builds."""
    situation = Situation(installed)
    advisories = (item for item in advisories_for(examination) if item.id in _TOLD_BY)
    return any(item.judge(situation).value for item in advisories)


def _judge(examination: Examination, label: str, cards: _Cards) -> tuple[Severity, str, str] | None:
    """Return how bad it is, what the build is for and the card that it leaves idle; None where it suits the machine."""
    target = examination.target
    backend = target.backend if target is not None else Backend.UNKNOWN
    if label.startswith("cpu"):
        if backend is Backend.CPU:
            return None
        asked = backend in _NEEDS_A_CARD and not is_assumed(examination, "backend")
        severity = Severity.ERROR if asked else Severity.WARNING if cards.nvidia else _of_amd(cards)
        return severity, "the CPU", (cards.nvidia or cards.amd)[0]
    if label.startswith("cu") and not cards.nvidia:
        zluda = backend is Backend.ZLUDA or examination.facts.get("zluda.libraries").state is FactState.KNOWN
        return None if zluda else (_of_amd(cards), f"CUDA ({label})", cards.amd[0])
    if label.startswith("rocm") and not cards.amd:
        return Severity.WARNING, f"ROCm ({label})", cards.nvidia[0]
    return None


def _of_amd(cards: _Cards) -> Severity:
    """Return a note where torch has no builds for any of the cards: the graphics of a processor, mostly."""
    return Severity.WARNING if any(not card or builds_for(card) for card in cards.amd) else Severity.INFO


def _cards(examination: Examination) -> _Cards:
    facts = examination.facts
    nvidia: list[str] = []
    amd: list[str] = []
    named: list[str] = []
    for vendor in facts.matching("gpu["):
        if not vendor.name.endswith("].vendor") or vendor.value not in ("nvidia", "amd"):
            continue
        prefix = vendor.name.removesuffix("vendor")
        (nvidia if vendor.value == "nvidia" else amd).append(str(facts.value(f"{prefix}architecture") or ""))
        named.append(f"{facts.value(f'{prefix}name') or vendor.value.upper()}")
    if not named:
        # Facts by hand may name the architecture alone.
        known = card_architectures(examination) if len(facts.matching("gpu[")) else []
        nvidia = [card for card in known if card.startswith("sm_")]
        amd = [card for card in known if card.startswith("gfx")]
        named = known
    return _Cards(tuple(nvidia), tuple(amd), tuple(dict.fromkeys(named)))


def _evidence(examination: Examination, torch: PackageView) -> tuple[Evidence, ...]:
    cards = [fact for fact in examination.facts.matching("gpu[") if fact.name.endswith((".name", ".architecture"))]
    return (
        Evidence(f"build: {torch.label}", torch.label_source),
        *(Evidence(f"{fact.name}: {fact.value}", fact.source) for fact in cards if fact.state is FactState.KNOWN),
    )


def _advice(examination: Examination, card: str) -> str:
    target = examination.target
    if not card:
        return "install the torch, torchaudio and torchvision that are built for the card, all from one index"
    if card.startswith("gfx") and target is not None and target.os.value == "windows":
        return "on Windows an AMD card is reached through ZLUDA, DirectML or AMD's own builds; see `envdoctor profiles`"
    return advice_for_torch(card, target.arch.value if target is not None else None)


RULE = Rule(
    code="GPU102",
    name="build-for-another-device",
    severity=Severity.WARNING,
    summary="torch is built for another kind of device than the machine has",
    find=find,
    documentation=__doc__,
    needs=frozenset({"environment", "facts"}),
)
