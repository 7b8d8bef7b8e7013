"""Which way to a torch the cards of a machine get, and what else there is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from packaging.specifiers import SpecifierSet

from envdoctor.diagnose.torch_ways import Card, TorchWay, ways_of
from envdoctor.model.dataclass import dataclass
from envdoctor.model.requirement import may_hold
from envdoctor.model.target import Backend, OperatingSystem

if TYPE_CHECKING:
    from envdoctor.model.fact import Facts
    from envdoctor.model.project import Project
    from envdoctor.model.target import Target

__all__ = ["TorchChoice", "choose_torch"]

_RANK = (Backend.CUDA, Backend.ROCM, Backend.XPU, Backend.MPS, Backend.DIRECTML, Backend.ZLUDA, Backend.CPU)


@dataclass(frozen=True, slots=True)
class TorchChoice:
    """The card that was judged, and the ways to a torch for it, best first."""

    card: Card
    ways: tuple[TorchWay, ...]

    @property
    def taken(self) -> TorchWay | None:
        """The first way that can be gone; None where torch has nothing for the system."""
        return next((way for way in self.ways if not way.against), None)

    def __str__(self) -> str:
        taken = self.taken
        if taken is None:
            return f"torch for {self.card}: nothing is known"
        others = [str(way) for way in self.ways if way is not taken]
        rest = f"; else {'; '.join(others)}" if others else ""
        return f"torch for {self.card}: {taken}{rest}"


def choose_torch(facts: Facts, target: Target, project: Project | None) -> TorchChoice:
    """Return the way for the card that has the best one; that of no card where none is known."""
    wanted = _asked(project, target)
    if facts.value("host.wsl"):
        target = replace(target, wsl=True)
    cards = list(_cards(facts, target)) or [Card("")]
    choices = [TorchChoice(card, ways_of(card, target, wanted)) for card in cards]
    return min(choices, key=lambda choice: _RANK.index(choice.taken.backend) if choice.taken else len(_RANK))


def _asked(project: Project | None, target: Target) -> SpecifierSet:
    """Return the bounds on torch of the project's own lines that count for the target."""
    environment = target.marker_environment()
    wanted = SpecifierSet()
    for line in project.requirements if project is not None else ():
        if line.name == "torch" and may_hold(line.marker, environment):
            wanted &= line.specifier
    return wanted


def _cards(facts: Facts, target: Target) -> Iterator[Card]:
    cuda = str(facts.value("driver.cuda") or "")
    jetpack = str(facts.value("host.jetpack") or "")
    for fact in facts.of_cards("vendor"):
        if not fact.value:
            continue
        prefix = fact.name.removesuffix("vendor")
        name = str(facts.value(f"{prefix}name") or "")
        capability = str(facts.value(f"{prefix}compute_capability") or "")
        architecture = str(facts.value(f"{prefix}architecture") or "")
        architecture = architecture or (f"sm_{capability.replace('.', '')}" if capability else "")
        yield Card(str(fact.value), architecture, name, cuda, jetpack)
    if target.os is OperatingSystem.MACOS:
        yield Card("apple", name="an Apple chip")
