"""torch is built for another kind of device than the machine has.

## What it does
Compares what the torch that is installed, or planned where no backend is named, was built for (its build label: `+cpu`,
`+cu124`, `+rocm6.3`, `+xpu`, or what is known of the default index's wheels) with the cards of the machine, as measured
or as `--facts` says.

## Why it is bad
Everything installs and imports, `torch.cuda.is_available()` is False, and the work runs on the CPU or stops.

## Example
`torch` 2.9.1 from the default index on an aarch64 machine with a GB10: a CPU build. `torch` 2.6.0+cu124 on a machine
whose only card is a Radeon.

A CPU build where a target without a GPU was asked for is what was wanted, and nothing is said; nor of a CUDA build on a
machine without any card, where it runs on the CPU. Graphics of an AMD processor that no build of PyTorch's own is for
give a note, unless `--gpu` names them. Where an advisory says it already, with where the right build is, this rule is
silent.

## What to do
Install torch, torchaudio and torchvision from the index with the builds for the card.

## References
- PyTorch, Get started: https://pytorch.org/get-started/locally/
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from envdoctor.diagnose.advisories.predicate import Situation
from envdoctor.diagnose.advisories.selection import advisories_for
from envdoctor.diagnose.examination import Examination, card_architectures
from envdoctor.diagnose.package_view import PackageView, Place, Scene, scenes
from envdoctor.diagnose.rule import Rule
from envdoctor.diagnose.torch_choice import FROM_CONDA, advice_for_card
from envdoctor.diagnose.wheel_facts import builds_for, shipped_wheel_facts
from envdoctor.model.build_label import read_label
from envdoctor.model.dataclass import dataclass
from envdoctor.model.fact import FactState
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.target import Backend, TargetProperty

_OTHER_WAYS = ("torch-directml", "torch-npu", "intel-extension-for-pytorch", "torch-xla")
"""Distributions that bring their own device to a CPU build."""
_TOLD_BY = frozenset({"torch-pypi-windows-is-cpu", "torch-pypi-aarch64-cpu-before-211"})
_NEEDS_A_CARD = (Backend.CUDA, Backend.ZLUDA, Backend.ROCM, Backend.XPU)
_OF_PROCESSORS = ("gfx902", "gfx90c", "gfx1033", "gfx1035", "gfx1036", "gfx1103", "gfx115")
"""How the architectures of AMD's graphics in processors begin; on most machines nobody means to compute on them."""
_INTEL = re.compile(r"\bArc\b|Data Center GPU Max", re.IGNORECASE)
"""Intel's documentation of XPU builds names Arc cards, Core Ultra with Arc graphics and the Max series."""


_AMD_ON_WINDOWS = (
    "on Windows an AMD card is reached through AMD's own builds, DirectML or ZLUDA; `envdoctor check --target-backend "
    "auto` tells which of them, and with which index"
)


_OF_INTEL = (
    "take torch 2.6 or later, torchvision and torchaudio from the xpu index of PyTorch "
    "(https://download.pytorch.org/whl/xpu) for an Intel card, and have the program ask for `xpu`"
)


@dataclass(frozen=True, slots=True)
class _Cards:
    """The machine's cards, by what runs on them."""

    nvidia: tuple[str, ...] = ()
    """Architectures, empty texts where they are not known."""
    amd: tuple[str, ...] = ()
    intel: tuple[str, ...] = ()
    """Those that torch has builds for; the graphics of most processors are not among them."""
    named: tuple[str, ...] = ()
    typed: bool = False
    """Whether a person named one (``--gpu``)."""

    def __bool__(self) -> bool:
        return bool(self.nvidia or self.amd or self.intel)


def find(examination: Examination) -> Iterator[Finding]:
    """Yield at most one finding for the plan, and one for what is installed."""
    cards = _cards(examination)
    for scene in scenes(examination, shipped_wheel_facts()) if cards else ():
        torch = scene.get("torch")
        if torch is None or torch.label is None or scene.place not in (Place.PLAN, Place.INSTALLED):
            continue
        told = _judge(examination, torch.label, cards)
        if told is None or any(scene.get(name) for name in _OTHER_WAYS) or _told_elsewhere(examination, scene):
            continue
        severity, built_for, card = told
        yield RULE.finding(
            "torch",
            f"`torch` {torch.version} is built for {built_for}, and the card is {' and '.join(cards.named)}",
            _evidence(examination, torch),
            Remedy(_advice(examination, torch, card)),
            severity=severity,
        )


def _told_elsewhere(examination: Examination, scene: Scene) -> bool:
    """Return whether another rule says it already: of a plan by RES202, which goes by the target's backend."""
    if scene.place is Place.INSTALLED:
        return _known_issue(examination, scene)
    return examination.target is not None and examination.target.backend is not Backend.UNKNOWN


def _known_issue(examination: Examination, installed: Scene) -> bool:
    """Return whether an advisory says it already, with where the right build is: the default index's CPU builds."""
    situation = Situation(installed)
    advisories = (item for item in advisories_for(examination) if item.id in _TOLD_BY)
    return any(item.judge(situation).value for item in advisories)


def _judge(examination: Examination, label: str, cards: _Cards) -> tuple[Severity, str, str] | None:
    """Return how bad it is, what the build is for and the card that it leaves idle; None where it suits the machine."""
    target = examination.target
    backend = target.backend if target is not None else Backend.UNKNOWN
    build = read_label(label)
    if build is None:
        return None
    idle = (cards.nvidia or cards.amd or cards.intel)[0]
    if build.backend is Backend.CPU:
        if backend is Backend.CPU:
            return None
        asked = backend in _NEEDS_A_CARD and TargetProperty.BACKEND not in examination.assumed
        severity = Severity.ERROR if asked else Severity.WARNING if cards.nvidia or cards.intel else _of_amd(cards)
        return severity, "the CPU", idle
    if build.backend is Backend.CUDA and not cards.nvidia:
        zluda = backend is Backend.ZLUDA or examination.facts.get("zluda.libraries").state is FactState.KNOWN
        severity = Severity.WARNING if cards.intel else _of_amd(cards)
        return None if zluda else (severity, f"CUDA ({label})", idle)
    if build.backend is Backend.ROCM and not cards.amd:
        return Severity.WARNING, f"ROCm ({label})", idle
    if build.backend is Backend.XPU and not cards.intel:
        return Severity.WARNING, f"Intel cards ({label})", idle
    return None


def _of_amd(cards: _Cards) -> Severity:
    """Return a note where the only cards are a processor's graphics that torch has no builds for, and nobody typed."""
    idle = all(card.startswith(_OF_PROCESSORS) and not builds_for(card) for card in cards.amd)
    return Severity.INFO if idle and not cards.typed else Severity.WARNING


def _cards(examination: Examination) -> _Cards:
    facts = examination.facts
    found: dict[str, list[str]] = {"nvidia": [], "amd": [], "intel": []}
    named: list[str] = []
    for vendor in facts.of_cards("vendor"):
        prefix = vendor.name.removesuffix("vendor")
        name = str(facts.value(f"{prefix}name") or "")
        if vendor.value not in found:
            continue
        if vendor.value == "intel" and not _INTEL.search(name):
            continue
        found[str(vendor.value)].append(str(facts.value(f"{prefix}architecture") or ""))
        named.append(name or str(vendor.value).upper())
    if not named:
        # Facts by hand may name the architecture alone.
        known = card_architectures(examination) if facts.of_cards() else []
        found["nvidia"] = [card for card in known if card.startswith("sm_")]
        found["amd"] = [card for card in known if card.startswith("gfx")]
        named = known
    typed = any(fact.source == "--gpu" for fact in facts.of_cards())
    nvidia, amd, intel = (tuple(found[vendor]) for vendor in ("nvidia", "amd", "intel"))
    return _Cards(nvidia, amd, intel, tuple(dict.fromkeys(named)), typed)


def _evidence(examination: Examination, torch: PackageView) -> tuple[Evidence, ...]:
    cards = (fact for fact in examination.facts.of_cards("name", "architecture") if fact.state is FactState.KNOWN)
    return (
        Evidence(f"build: {torch.label}", torch.label_source),
        *(Evidence(f"{fact.name}: {fact.value}", fact.source) for fact in cards),
    )


def _advice(examination: Examination, torch: PackageView, card: str) -> str:
    target = examination.target
    if torch.other_build and torch.place is Place.INSTALLED and card.startswith("sm_"):
        return FROM_CONDA
    if not card:
        if _cards(examination).intel and not (_cards(examination).nvidia or _cards(examination).amd):
            return _OF_INTEL
        if target is not None and _cards(examination).amd and target.os.value == "windows":
            return _AMD_ON_WINDOWS
        return "install the torch, torchaudio and torchvision that are built for the card, all from one index"
    if card.startswith("gfx") and target is not None and target.os.value == "windows":
        return _AMD_ON_WINDOWS
    return advice_for_card(card, examination)


RULE = Rule.of(__name__, __doc__, Severity.WARNING, find, needs={"facts"})
