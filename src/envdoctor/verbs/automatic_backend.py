"""``--target-backend auto``: the way that the card gets is the target's backend, and its index is bound."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.requirements import Requirement as Pep508
from packaging.utils import canonicalize_name

from envdoctor.diagnose.host_needs import card_against
from envdoctor.diagnose.torch_choice import choose_torch
from envdoctor.diagnose.torch_ways import BY_EXTRA, TorchChoice, TorchWay
from envdoctor.lock.locked_way import LockedWay
from envdoctor.model.fact import Fact, Facts
from envdoctor.model.index_url import bare_url
from envdoctor.model.origin import CommandLineOrigin
from envdoctor.model.profile import Profile
from envdoctor.model.project import Project
from envdoctor.model.requirement import Requirement, RequirementKind
from envdoctor.model.target import Backend, Target, TargetBackend
from envdoctor.ports import Tell
from envdoctor.verbs import project_inputs
from envdoctor.verbs.card_choice import with_card
from envdoctor.verbs.patient import Patient
from envdoctor.verbs.settings import Settings
from envdoctor.verbs.target_choice import TargetChoice, fitted, host_target, pick_target

if TYPE_CHECKING:
    from envdoctor.lock.pylock_reader import LockedProject

__all__ = ["choose_backend", "facts_for", "with_torch"]

_OPTION = "--target-backend auto"
_OF_CARDS = ("gpu", "driver.", "host.jetpack", "host.wsl")


def facts_for(choice: TargetChoice, facts: Facts) -> Facts:
    """Return the facts by which a card is chosen for: those that are given, else this machine's of cards and drivers.

    This machine tells nothing of a target with another system.
    """
    elsewhere = choice.os not in (None, host_target().os)
    if not choice.automatic or facts.of_cards() or elsewhere:
        return facts
    return Facts([*facts, *_measured()])


def _measured() -> Iterator[Fact]:
    from envdoctor.adapters.probe.host_facts import probe_host

    return (fact for fact in probe_host(disk_at=".") if fact.name.startswith(_OF_CARDS))


def choose_backend(
    choice: TargetChoice, patient: Patient, settings: Settings, project: Path
) -> tuple[TargetChoice, TorchChoice | None]:
    """Return the options with the backend that the card gets in the place of ``auto``, and what it was chosen from."""
    if not choice.automatic:
        return choice, None
    target = fitted(pick_target(choice, None, settings)[0], patient, choice)
    torch = choose_torch(patient.facts, target, project_inputs.read(project, None, settings, target))
    backend = TargetBackend(torch.taken.backend.value) if torch.taken is not None else None
    return replace(choice, backend=backend), torch


def with_torch(
    project: Project,
    profile: Profile | None,
    torch: TorchChoice | None,
    locked: LockedProject | None,
    facts: Facts,
    target: Target,
    tell: Tell,
) -> tuple[Project, LockedWay | None]:
    """Return the project with the index of the torch that its card gets; with the way, where the card chose it.

    ``locked``: a lock for the target, whose way holds where no card is asked now.
    """
    if profile is not None:
        own = _way_of_profile(profile, facts, target, project)
        return (_with_way(project, own.requires) if own is not None else project), None
    way = _of_card(torch, tell) if torch is not None else _of_lock(locked, facts, tell)
    return (_with_way(project, way.requires) if way is not None else project), way


def _of_card(torch: TorchChoice, tell: Tell) -> LockedWay | None:
    way = torch.taken
    if way is None:
        return None
    tell(f"taking {way.backend.value}: {way.words}; `--target-backend` chooses another")
    return LockedWay(way.index, way.requires)


def _of_lock(locked: LockedProject | None, facts: Facts, tell: Tell) -> LockedWay | None:
    """Return the way with which a lock was made, unless it was for another vendor's cards than the facts speak of."""
    if locked is None or locked.way is None:
        return None
    made = [each for each in Backend if any(row["backend"] == each.value for row in locked.targets)]
    if any(card_against(each, facts) for each in made):
        return None
    if locked.way.index is not None:
        place = bare_url(locked.way.index.url)
        tell(f"taking torch from {place}, as {locked.path} was made; `--target-backend` chooses anew")
    return locked.way


def _way_of_profile(profile: Profile, facts: Facts, target: Target, project: Project) -> TorchWay | None:
    """Return the way of the card through the index of a profile that has kernels by an extra; None for all others.

    The card is that of the facts, else, where the profile is for this system, this machine's, else the one that the
    profile names.
    """
    if not any(index.name == BY_EXTRA for index in profile.indexes):
        return None
    if not facts.of_cards() and target.os is host_target().os:
        facts = Facts([*facts, *_measured()])
    if not facts.of_cards():
        facts = with_card(facts, target.gpu_architecture)
    ways = choose_torch(facts, target, project).ways
    return next((way for way in ways if way.index is not None and way.index.name == BY_EXTRA and not way.against), None)


def _with_way(project: Project, requires: Iterable[str]) -> Project:
    """Return the project with what a way asks for beside its own lines.

    Where no line of it asks for torch, torch is held to what the way has if anything else asks for it.
    """
    asked = tuple(map(_requirement, requires))
    if not any(line.name == "torch" for line in project.requirements):
        asked = tuple(
            replace(line, kind=RequirementKind.CONSTRAINT, extras=frozenset(), text=f"{line.name}{line.specifier}")
            for line in asked
            if line.name == "torch" and line.specifier
        )
    return replace(project, requirements=(*project.requirements, *asked))


def _requirement(text: str) -> Requirement:
    parsed = Pep508(text)
    extras = frozenset(canonicalize_name(extra) for extra in parsed.extras)
    origin = CommandLineOrigin(_OPTION)
    return Requirement(canonicalize_name(parsed.name), origin, parsed.specifier, extras=extras, text=text)
