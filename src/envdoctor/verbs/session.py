"""One run of a verb over a project: its request, its index and its progress line, closed together."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from envdoctor.diagnose.host_needs import card_against
from envdoctor.model.dataclass import dataclass
from envdoctor.model.fact import Facts
from envdoctor.model.project import GroupChoice
from envdoctor.ports import Index, Progress, Tell
from envdoctor.toml_tables import did_you_mean
from envdoctor.verbs import project_inputs
from envdoctor.verbs.automatic_backend import choose_backend, facts_for, with_torch
from envdoctor.verbs.card_choice import with_card
from envdoctor.verbs.check_environment import answered
from envdoctor.verbs.check_request import CheckRequest
from envdoctor.verbs.next_command import Typed
from envdoctor.verbs.patient import Patient
from envdoctor.verbs.project_index import as_the_project_says, left_to_conda
from envdoctor.verbs.project_inputs import IndexChoice, TargetChoice, lock_name
from envdoctor.verbs.repositories import with_repositories
from envdoctor.verbs.scope import scope_of_project, target_facts
from envdoctor.verbs.settings import Settings, further_advisories
from envdoctor.verbs.substitutes import typed_substitutes, with_substitutes
from envdoctor.verbs.target_choice import fitted, fitted_of_profile, on_python

if TYPE_CHECKING:
    from envdoctor.adapters.index.opening import AnyIndex
    from envdoctor.diagnose.torch_ways import TorchChoice
    from envdoctor.lock.locked_way import LockedWay
    from envdoctor.lock.pylock_reader import LockedProject
    from envdoctor.model.environment import InstalledEnvironment
    from envdoctor.model.plan import PatchState
    from envdoctor.model.profile import Profile
    from envdoctor.model.project import Project
    from envdoctor.model.target import Target

__all__ = ["Session", "open_session"]

_ALL = "*"
"""Typed in the place of a name: every package."""


@dataclass(frozen=True, slots=True)
class Session:
    """A request with the ports behind it; a context manager that closes them."""

    request: CheckRequest
    indexes: tuple[AnyIndex, ...]
    progress: Progress
    tell: Tell
    index_urls: Mapping[str, str]
    """Index names to URLs, as a lock names them."""
    typed: Typed
    """What the user typed, for commands that are printed to be copied."""
    requests: tuple[CheckRequest, ...] = ()
    """The request, or one for each environment of the profile; each with the lock of its own."""

    def __enter__(self) -> Session:  # noqa: PYI034 - typing.Self is newer than Python 3.10
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.progress.close()
        for text in dict.fromkeys(text for index in self.indexes for text in index.notes):
            self.tell(text)
        for index in self.indexes:
            index.close()


def open_session(
    project: Path,
    profile: str | None,
    target_choice: TargetChoice,
    index_choice: IndexChoice,
    *,
    progress: Progress,
    tell: Tell,
    patient: Patient | None = None,
    lock_folder: Path | None = None,
    upgrade: frozenset[str] = frozenset(),
    groups: GroupChoice = GroupChoice(),  # noqa: B008 - immutable
    python: tuple[int, int] | None = None,
    substitute: Sequence[str] = (),
) -> Session:
    """Read project, profile and lock, choose the target, open the index. Raises UsageError.

    ``python``: that of the environment which will be treated; it is the target's where nobody asks for another.
    """
    facts = facts_for(target_choice, with_card(patient.facts if patient else Facts(), target_choice.gpu))
    patient = replace(answered(patient, target_choice), facts=facts) if patient is not None else None
    settings = replace(project_inputs.load_settings(project), offline=index_choice.offline)
    taken = _take(project, profile, target_choice, settings, facts, patient, groups, python, tell)
    target = taken.target
    beside = _lock(lock_folder or project, taken.profile, patient, taken.project, groups, (target, taken.pythons))
    kept = beside if beside is not None and beside.is_for(target, taken.pythons) else None
    opened = _open(taken, kept, facts, index_choice, progress, tell)
    stood_in = with_substitutes(taken.profile, opened.project, typed_substitutes(substitute), kept, opened.said, target)
    taken = replace(taken, profile=stood_in.profile)
    opened = replace(opened, project=stood_in.project)
    request = replace(
        _request(project, taken, opened, settings, patient, groups),
        facts=facts,
        locked=beside,
        lock_folder=lock_folder,
        upgrade=frozenset(":all:" if name == _ALL else canonicalize_name(name) for name in upgrade),
        progress=progress,
    )
    chosen = taken.profile
    named = None if settings.profile or chosen is None else chosen.name
    if taken.of_environment and chosen is None:
        target_choice = replace(target_choice, python=target.python_version)  # A lock is to be for the same one.
    requests = tuple(_requests(request, project, lock_folder or project, patient))
    for said in _names_not_there(requests, upgrade, substitute):
        tell(said)
    return Session(
        request,
        (opened.index, opened.plain),
        progress,
        tell,
        project_inputs.index_urls(opened.choice, chosen, opened.project),
        Typed(project, profile or named, target_choice, opened.choice, output_dir=lock_folder, groups=groups),
        requests,
    )


def _request(
    project: Path, taken: _Taken, opened: _Opened, settings: Settings, patient: Patient | None, groups: GroupChoice
) -> CheckRequest:
    """Return the request for what is looked at, without a lock."""
    profile, target, read, index = taken.profile, taken.target, opened.project, opened.index
    return CheckRequest(
        target=target,
        today=datetime.now(tz=timezone.utc).date(),
        python_choices=taken.pythons,
        project=read,
        # A group by itself is not what the sources import from.
        sources=None if groups.only else project_inputs.sources_of(project),
        profile=profile,
        settings=settings,
        index=opened.said,
        archives=index,
        plain_index=opened.said if opened.plain is index else as_the_project_says(opened.plain, read, target),
        plain_archives=opened.plain,
        build_risk=index.build_risk,
        environment=_beside(patient, project, _name_of(profile, groups), target) if patient else None,
        groups=groups,
        binaries=patient.binaries if patient else None,
        log=patient.log if patient else None,
        not_read=patient.not_read if patient else (),
        patches=_patches(profile, project),
        scope=scope_of_project(
            read,
            patient,
            project_inputs.index_settings(opened.choice, profile, read),
            project_inputs.upload_settings(opened.choice, read),
            target_facts(target, taken.choice, settings, profile, patient, taken.python_origin),
        ),
        unreachable=lambda: index.unreachable,
        offline=opened.choice.offline,
        torch=taken.torch,
        way=opened.way,
        further=further_advisories(settings, project),
    )


@dataclass(frozen=True, slots=True)
class _Opened:
    """The project with what its repositories say, and the indexes that it is judged by."""

    project: Project
    index: AnyIndex
    plain: AnyIndex
    """That without the profile's own indexes."""
    said: Index
    """The index as the project's own settings make it count."""
    choice: IndexChoice
    """What was typed of indexes, with that of the card's torch."""
    way: LockedWay | None


def _open(
    taken: _Taken, locked: LockedProject | None, facts: Facts, choice: IndexChoice, progress: Progress, tell: Tell
) -> _Opened:
    """Open the index, and read what only it, or a repository, tells of the project."""
    chosen, target = taken.profile, taken.target
    read, way = with_torch(taken.project, chosen, taken.torch, locked, facts, target, tell)
    read = project_inputs.with_image(read, tell, chosen=chosen is not None or way is not None)
    if way is not None:
        choice = replace(choice, bound=(way.index,) if way.index is not None else ())
    index = project_inputs.open_ports(choice, chosen, read, progress, target)
    bound = chosen is not None and bool(chosen.indexes)
    plain = project_inputs.open_ports(choice, None, read, progress) if bound else index
    read = project_inputs.with_machines_builds(with_repositories(left_to_conda(read, index), index, target))
    return _Opened(read, index, plain, as_the_project_says(index, read, target), choice, way)


@dataclass(frozen=True, slots=True)
class _Taken:
    """What is looked at, and for which target."""

    profile: Profile | None
    target: Target
    pythons: tuple[tuple[int, int], ...]
    project: Project
    choice: TargetChoice
    """What was typed of the target, with the backend that the card chose."""
    torch: TorchChoice | None
    python_origin: str
    """Who names the target's Python, where neither the user nor the profile does."""
    of_environment: bool
    """The target's Python is that of an environment, and another one than would be taken without."""


def _take(
    project: Path,
    profile: str | None,
    choice: TargetChoice,
    settings: Settings,
    facts: Facts,
    patient: Patient | None,
    groups: GroupChoice,
    python: tuple[int, int] | None,
    tell: Tell,
) -> _Taken:
    """Choose profile, target and Python, and read the project for them."""
    chosen = project_inputs.placed(project_inputs.pick_profile(profile, settings, project), project, tell)
    torch: TorchChoice | None = None
    if chosen is None:
        looked_at = patient or Patient(facts=facts)
        choice, torch = choose_backend(choice, looked_at, settings, project)
        read = project_inputs.read(project, None, settings)
        chosen = project_inputs.recognised_profile(project, read, choice, looked_at, tell=tell, settings=settings)
    elif contrary := card_against(chosen.target.backend, facts):
        tell(f"profile `{chosen.name}` is for {chosen.target.backend.value}, {contrary}")
    target, pythons = project_inputs.pick_target(choice, chosen, settings)
    usual = target.python
    if patient is not None and chosen is None:
        target = fitted(target, patient, choice)
    elif patient is not None:
        target, pythons = fitted_of_profile(target, pythons, patient, choice)
    origin = ""
    unasked = choice.python is None and settings.target_python is None
    has_its_own = patient is not None and patient.environment is not None
    if python is not None and chosen is None and unasked:
        target, has_its_own, origin = on_python(target, python, None), True, "the environment"
    read = project_inputs.read(project, chosen, settings, target, groups)
    if unasked and not has_its_own:
        asked = project_inputs.asked_python(read, target, pythons, tell=tell)
        if asked != (target, pythons):
            target, pythons = asked
            read = project_inputs.read(project, chosen, settings, target, groups)
            origin = str(read.chosen_python[1] or "")
    return _Taken(chosen, target, pythons, read, choice, torch, origin, has_its_own and target.python != usual)


def _requests(request: CheckRequest, project: Path, folder: Path, patient: Patient | None) -> Iterator[CheckRequest]:
    """Yield a request for each environment; where one is looked at that is made for one of them, for that alone."""
    from envdoctor.verbs.profile_environments import per_environment

    parts = per_environment(request)
    root = request.environment.root if request.environment is not None else None
    for part in [item for item in parts if root and item.part and Path(root).name.endswith(f"-{item.part}")] or parts:
        if not part.part:
            yield part
            continue
        name = _name_of(request.profile, request.groups, part.part)
        wanted = (part.target, part.python_choices)
        yield replace(
            part,
            locked=_lock(folder, request.profile, patient, request.project, request.groups, wanted, part.part),
            environment=_beside(patient, project, name, part.target) if patient else None,
        )


def _lock(
    folder: Path,
    profile: Profile | None,
    patient: Patient | None,
    read: Project | None,
    groups: GroupChoice,
    wanted: tuple[Target, tuple[tuple[int, int], ...]],
    part: str = "",
) -> LockedProject | None:
    """Return the lock beside the project, else the one that a fix has left in the environment that is looked at.

    ``wanted``: the target, and the other interpreters that it may have, which choose the part of a joined lock.
    A lock that is read as what is asked for is not held against itself.
    """
    from envdoctor.verbs.patient import locked_of

    name = profile.name if profile is not None else None
    beside = project_inputs.read_lock(folder, lock_name(name, part, groups), *wanted)
    if beside is not None and read is not None and beside.path in read.files:
        beside = None
    return beside or locked_of(patient.environment if patient is not None else None, name)


def _patches(profile: Profile | None, project: Path) -> tuple[PatchState, ...]:
    if profile is None or not any(patch.root == "project" for patch in profile.patches):
        return ()
    from envdoctor.adapters.apply.preview import patch_states

    return patch_states(profile, project)


def _name_of(profile: Profile | None, groups: GroupChoice, part: str = "") -> str:
    return lock_name(profile.name if profile else None, part, groups)


def _beside(patient: Patient, project: Path, lock: str, target: Target) -> InstalledEnvironment | None:
    """Return the environment with the lock beside the project for it, unless it was built from one that it holds."""
    from envdoctor.verbs.patient import with_lock

    environment = patient.environment
    if environment is None or environment.lock is not None:
        return environment
    folder = project if project.is_dir() else project.parent
    return with_lock(environment, folder / (f"pylock.{lock}.toml" if lock else "pylock.toml"), target)


def _names_not_there(
    requests: Sequence[CheckRequest], upgrade: Collection[str], substitute: Collection[str]
) -> Iterator[str]:
    """Yield a sentence for each name that was typed and that no requirement and no lock has.

    Nothing is said where an environment has no lock yet: what its requirements lead to is not known before they are
    resolved.
    """
    typed = [("--upgrade", name) for name in upgrade if name != _ALL]
    typed += [("--substitute", name) for name in substitute]
    if not typed or any(request.locked is None for request in requests):
        return
    known = {name for request in requests for name in request.names()}
    for option, name in typed:
        if canonicalize_name(name) not in known:
            close = did_you_mean(canonicalize_name(name), known)
            yield f"`{option} {name}`: neither the requirements nor the lock have `{name}`{close}"
