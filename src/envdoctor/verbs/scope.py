"""What a report is about: the files, lists, indexes and target that were looked at, and where each was named."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from envdoctor.model.compatibility import nearest_known
from envdoctor.model.fact import FactState
from envdoctor.model.project import FileLeftOut, LeftOut, Project
from envdoctor.model.report import FileRead, Scope, Setting
from envdoctor.model.target import Target, dotted
from envdoctor.verbs.target_choice import python_of_patient

if TYPE_CHECKING:
    from envdoctor.lock.pylock_reader import LockedProject
    from envdoctor.model.conflict import GroupOutcome
    from envdoctor.model.profile import Profile
    from envdoctor.verbs.patient import Patient
    from envdoctor.verbs.settings import Settings
    from envdoctor.verbs.target_choice import TargetChoice

__all__ = [
    "place_in_repository",
    "scope_of_project",
    "target_facts",
    "with_groups",
    "with_level",
    "with_lock_of_another",
]


def scope_of_project(
    read: Project,
    patient: Patient | None,
    indexes: tuple[Setting, ...],
    uploads: tuple[Setting, ...],
    target: tuple[Setting, ...],
) -> Scope:
    """Return the scope of a report about a project, and about the environment that is looked at beside it."""
    from envdoctor.adapters.index.project_indexes import indexes_of

    environment = patient.environment if patient is not None else None
    return Scope(
        read=(
            *(FileRead(path, _form(path)) for path in read.files),
            *(FileRead(url, "of a repository") for _, each in read.described for url in each.files),
        ),
        not_read=read.left_out,
        asked=read.asked,
        environments=(environment.root,) if environment is not None and environment.root else (),
        index_settings=indexes,
        upload_settings=uploads,
        own_indexes=indexes_of(read).names,
        target_facts=target,
        root=read.root,
    )


def with_groups(scope: Scope, outcomes: tuple[GroupOutcome, ...]) -> Scope:
    """Return the scope with what came out for the lists that nobody asked for."""
    return replace(scope, beside=outcomes)


def with_level(scope: Scope, target: Target) -> Scope:
    """Return the scope with the glibc or macOS that was judged for: a newer one than assumed, where files need it."""
    judged = Setting(target.level_option, dotted(target.level or (0, 0)), "assumed")
    moved = [one.name == judged.name and one.value != judged.value for one in scope.target_facts]
    told = (judged if other else one for one, other in zip(scope.target_facts, moved, strict=True))
    return replace(scope, target_facts=tuple(told))


def with_lock_of_another(scope: Scope, locked: LockedProject | None, target: Target) -> Scope:
    """Return the scope with the lock beside the project among what was not read, where it is for another target."""
    if locked is None or locked.is_for(target):
        return scope
    left = FileLeftOut(locked.path, LeftOut.ANOTHER_TARGET, locked.made_for)
    return replace(scope, not_read=(*scope.not_read, left))


def _form(path: str) -> str:
    from pathlib import Path

    from envdoctor.adapters.project import ProjectFileError
    from envdoctor.adapters.project.file_names import form_of

    try:
        return form_of(Path(path)).value
    except ProjectFileError:
        return "text"


def target_facts(
    target: Target,
    choice: TargetChoice,
    settings: Settings,
    profile: Profile | None,
    patient: Patient | None,
    python_origin: str = "",
) -> tuple[Setting, ...]:
    """Return what the target is taken to be, each with who says so; ``python_origin``: the file that asks for it."""
    return tuple(_facts(target, choice, settings, profile, patient, python_origin))


def _facts(
    target: Target,
    choice: TargetChoice,
    settings: Settings,
    profile: Profile | None,
    patient: Patient | None,
    python_origin: str,
) -> Iterator[Setting]:
    of_profile = f"profile {profile.name}" if profile is not None else ""
    place = patient.environment if patient is not None else None
    tells = place is not None and (place.told.platform or place.built_for.system)
    yield Setting("os", target.os.value, _who("--target-os" if choice.os else of_profile, patient, "os", tells))
    tells = place is not None and (place.told.machine or place.built_for.machine)
    arch = "--target-arch" if choice.arch else of_profile
    yield Setting("arch", target.arch.value, _who(arch, patient, "arch", tells))
    python = "--target-python" if choice.python else ""
    python = python or ("[tool.envdoctor] target-python" if settings.target_python else "") or python_origin
    mine = place is not None and place.python == target.python
    python = python or ("" if mine else of_profile) or _beyond(patient)
    yield Setting("python", target.python_version, _who(python, patient, "python.version", mine))
    if target.backend.value != "unknown":
        backend = "--target-backend" if choice.named_backend else of_profile
        yield Setting("backend", target.backend.value, backend or "the cards")
    yield from _level(target, choice, of_profile, patient)
    if target.gpu_architecture:
        yield Setting("gpu", target.gpu_architecture, "--gpu" if choice.gpu else of_profile or "facts")


def _beyond(patient: Patient | None) -> str:
    """Return which Python is taken where the one that is there, or else runs here, is not known; empty where it is."""
    there = (python_of_patient(patient) if patient is not None else None) or sys.version_info[:2]
    if nearest_known(there) == there:
        return ""
    return f"the {'newest' if there > nearest_known(there) else 'oldest'} that is known"


def _level(target: Target, choice: TargetChoice, of_profile: str, patient: Patient | None) -> Iterator[Setting]:
    name, environment = target.level_option, patient.environment if patient is not None else None
    if target.level is not None:
        shown = dotted(target.level)
        tells = name == "glibc" and environment is not None and shown in environment.told.glibc
        usually = "assumed" if target.level_assumed else of_profile
        who = f"--{name}" if getattr(choice, name) else "" if tells or _known(patient, f"host.{name}") else usually
        yield Setting(name, shown, _who(who, patient, f"host.{name}", tells))


def _who(typed: str, patient: Patient | None, fact: str, in_environment: object) -> str:
    """Return who says a property: what was typed or chosen, else facts, the environment, or the machine that runs."""
    if typed:
        return typed
    return "facts" if _known(patient, fact) else "the environment" if in_environment else "this machine"


def _known(patient: Patient | None, fact: str) -> bool:
    return patient is not None and patient.facts.get(fact).state is FactState.KNOWN


def place_in_repository(project: Path) -> str | None:
    """Return the project's folder relative to the root of its repository, with forward slashes; None for the root.

    The root is the closest folder upwards with a ``.git`` in it; where there is none, the folder that a CI job names
    (``GITHUB_WORKSPACE``, ``CI_PROJECT_DIR``), else the current one. None also where the project is not below it.
    """
    try:
        folder = (project if project.is_dir() else project.parent).resolve()
    except OSError:
        # The current folder is gone.
        return None
    above = next((each for each in (folder, *folder.parents) if os.path.exists(each / ".git")), None)
    named = os.environ.get("GITHUB_WORKSPACE") or os.environ.get("CI_PROJECT_DIR")
    root = above or Path(named or ".").resolve()
    if folder == root or not folder.is_relative_to(root):
        return None
    return folder.relative_to(root).as_posix()
