"""Which way to a torch the cards of a machine get, and what else there is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from packaging.specifiers import SpecifierSet

from envdoctor.diagnose.examination import chain_to
from envdoctor.diagnose.torch_ways import Card, TorchChoice, TorchWay, admits, ways_of
from envdoctor.diagnose.wheel_facts import COMPANIONS, advice_for_torch, builds_for, shipped_wheel_facts, torches_for
from envdoctor.model.finding import in_words
from envdoctor.model.index_url import label_of
from envdoctor.model.requirement import may_hold
from envdoctor.model.target import Backend, OperatingSystem
from envdoctor.shipped import couplings

if TYPE_CHECKING:
    from envdoctor.diagnose.examination import Examination
    from envdoctor.model.fact import Facts
    from envdoctor.model.project import Project
    from envdoctor.model.requirement import Requirement
    from envdoctor.model.target import Target

__all__ = ["FROM_CONDA", "advice_for_card", "choose_torch", "held_back", "moved_too", "way_through"]

_RANK = (Backend.CUDA, Backend.ROCM, Backend.XPU, Backend.MPS, Backend.DIRECTML, Backend.ZLUDA, Backend.CPU)


def choose_torch(facts: Facts, target: Target, project: Project | None) -> TorchChoice:
    """Return the way for the card that has the best one; that of no card where none is known."""
    wanted = _asked(project, target)
    if facts.value("host.wsl"):
        target = replace(target, wsl=True)
    cards = list(_cards(facts, target)) or [Card("")]
    choices = [TorchChoice(card, ways_of(card, target, wanted)) for card in cards]
    return min(choices, key=lambda choice: _RANK.index(choice.taken.backend) if choice.taken else len(_RANK))


def way_through(examination: Examination, target: Target, architectures: Iterable[str]) -> TorchWay | None:
    """Return the best way to a torch for the target's own backend, None where no card is known or none has one.

    ``architectures``: those of the cards, where facts do not speak of any. What is planned and asks for a torch counts;
    where no way has such a torch, who asks for it is named in ``because``.
    """
    own, others = _asked(examination.project, target), _demands_on_torch(examination)
    cards = list(_cards(examination.facts, target)) or [Card(_vendor(each), each) for each in architectures]
    whole = own
    for demand in others:
        whole &= demand.specifier
    for wanted in (whole, own) if others else (own,):
        ways = ((card, way) for card in cards for way in ways_of(card, target, wanted))
        found = next((item for item in ways if item[1].backend is target.backend and not item[1].against), None)
        if found is None or (wanted is own and not others):
            return found and found[1]
        card, way = found
        if wanted is whole and not way.moves:
            return way
    label = label_of(way.index.url) if way.index is not None else None
    held = _held_back(examination, others, (label,), card.architecture, target) if label else ""
    return replace(way, because=way.because + held)


def _demands_on_torch(examination: Examination) -> list[Requirement]:
    """Return what planned distributions ask of torch, but for those that are built with it and move with it."""
    torch = examination.resolution.get("torch") if examination.resolution is not None else None
    return [line for line in (torch.wanted_by if torch else ()) if line.asked_by and line.asked_by not in COMPANIONS]


def held_back(examination: Examination, card: str, target: Target) -> str:
    """Return who of the plan asks for a torch that has no kernels for a card, as a piece of a remedy; else nothing."""
    demands = _demands_on_torch(examination)
    return _held_back(examination, demands, builds_for(card, target.arch.value), card, target)


def _held_back(
    examination: Examination, demands: Iterable[Requirement], labels: Iterable[str], card: str, target: Target
) -> str:
    there = [(release, label) for label in labels for release in torches_for(label, card, target.arch.value)]
    if not there:
        return ""
    against = [item for item in demands if not any(admits(item.specifier, *pair) for pair in there)]
    told = []
    for item in against:
        with_it = _coming_with(examination, item)
        who = f"`{str(item.origin).replace(' ', '` ', 1)}{with_it}{with_it and ','}"
        told.append(f"{who} asks for `torch{item.specifier}`")
    return f"; {' and '.join(told)}, and must move with it or be left out" if told else ""


def _coming_with(examination: Examination, line: Requirement) -> str:
    """Return with which line the distribution comes that asks this, where no line asks for that one itself."""
    asked_by, resolution = line.asked_by, examination.resolution
    chain = chain_to(resolution, asked_by) if asked_by is not None and resolution is not None else None
    root = chain.root if chain is not None and chain.names[1:] else None
    return f", which comes with `{root}` ({root.origin})" if root is not None else ""


FROM_CONDA = (
    "ask conda for a CUDA build: `pytorch-gpu` of conda-forge, or, up to torch 2.5, `pytorch-cuda` of the channels "
    "pytorch and nvidia in place of `cpuonly`"
)


def moved_too(examination: Examination, wanted: str) -> str:
    """Return which lines of the plan admit none of the torches that are advised, as a piece of a remedy; else nothing.

    A pin of what is built for one torch, such as torchaudio, is one, too.
    """
    resolution, asked = examination.resolution, SpecifierSet(wanted)
    torch = resolution.get("torch") if resolution is not None else None
    lines = [one for one in (torch.wanted_by if torch else ()) if one.asked_by not in COMPANIONS]
    against = [one for one in lines if (one.specifier & asked).is_unsatisfiable()]
    for table in couplings() if resolution is not None else ():
        package = resolution.get(table.subject) if table.object == "torch" and resolution is not None else None
        needed = table.wanted(package.version) if package is not None else None
        if package is not None and needed and (SpecifierSet(needed) & asked).is_unsatisfiable():
            against += [one for one in package.wanted_by if one.is_pin]
    told = list(dict.fromkeys(f"`{one.pep508}` ({one.origin}{_coming_with(examination, one)})" for one in against))
    return f"; {in_words(told)} must move with it, or go" if told else ""


def advice_for_card(card: str, examination: Examination) -> str:
    """Return which torch to install for a card of this architecture, whatever lacks its kernels now."""
    target, project = examination.target, examination.project
    if target is None:
        return advice_for_torch(card)
    if _vendor(card) == "nvidia":
        jetpack = str(examination.facts.value("host.jetpack") or "")
        board = ways_of(Card("nvidia", card, jetpack=jetpack), target, _asked(project, target))
        first = next((way for way in board if not way.against), None)
        if first is not None and first.index is not None and not label_of(first.index.url):
            return f"take torch, torchaudio and torchvision of {first.said}"
        return advice_for_torch(card, target.arch.value)
    ways = ways_of(Card("amd", card), target, _asked(project, target))
    best = next((way for way in ways if not way.against), None)
    if best is not None and best.index is not None and (label_of(best.index.url) or "").startswith("rocm"):
        return advice_for_torch(card, target.arch.value)
    instead = "run it on the CPU" if best is None or best.backend is Backend.CPU else f"take {best.said}"
    return f"no build of PyTorch's own indexes is for {card} on {target.os.value}: {instead}{_passing(card, target)}"


def _passing(card: str, target: Target) -> str:
    """Return how a card passes for one of its generation that PyTorch's builds have kernels for; empty where none."""
    rows = (row for row in shipped_wheel_facts().kernels if row.package == "torch")
    others = {other for row in rows for other in row.architectures if other[:-1] == card[:-1]}
    if not others or target.wsl or target.os is not OperatingSystem.LINUX:
        return ""
    other = min(others)
    version = f"{other[3:-2]}.{int(other[-2], 16)}.{int(other[-1], 16)}"
    return (
        f"; on bare-metal Linux HSA_OVERRIDE_GFX_VERSION={version} lets it pass for {other}, which AMD does not promise"
    )


def _vendor(architecture: str) -> str:
    return "amd" if architecture.startswith("gfx") else "nvidia"


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
