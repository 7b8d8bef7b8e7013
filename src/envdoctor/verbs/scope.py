"""What a report is about: the files, lists, indexes and target that were looked at, and where each was named."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from envdoctor.model.report import FileRead, Scope, Setting
from envdoctor.model.target import Target

if TYPE_CHECKING:
    from envdoctor.model.conflict import GroupOutcome
    from envdoctor.model.profile import Profile
    from envdoctor.model.project import Project
    from envdoctor.verbs.patient import Patient
    from envdoctor.verbs.settings import Settings
    from envdoctor.verbs.target_choice import TargetChoice

__all__ = ["scope_of_project", "target_facts", "with_groups"]


def scope_of_project(
    read: Project, patient: Patient | None, indexes: tuple[Setting, ...], target: tuple[Setting, ...]
) -> Scope:
    """Return the scope of a report about a project, and about the environment that is looked at beside it."""
    environment = patient.environment if patient is not None else None
    return Scope(
        read=tuple(FileRead(path, _form(path)) for path in read.files),
        not_read=read.left_out,
        asked=read.asked,
        environments=(environment.root,) if environment is not None and environment.root else (),
        index_settings=indexes,
        target_facts=target,
    )


def with_groups(scope: Scope, outcomes: tuple[GroupOutcome, ...]) -> Scope:
    """Return the scope with what came out for the lists that nobody asked for."""
    return replace(scope, beside=outcomes)


def _form(path: str) -> str:
    from pathlib import Path

    from envdoctor.adapters.project import ProjectFileError
    from envdoctor.adapters.project.discovery import form_of

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
    looked_at = patient is not None and patient.environment is not None
    other = f"profile {profile.name}" if profile is not None else "the environment" if looked_at else "this machine"
    yield Setting("os", target.os.value, "--target-os" if choice.os else other)
    yield Setting("arch", target.arch.value, "--target-arch" if choice.arch else other)
    python = "--target-python" if choice.python else ""
    python = python or ("[tool.envdoctor] target-python" if settings.target_python else "")
    yield Setting("python", target.python_version, python or python_origin or other)
    if target.backend.value != "unknown":
        yield Setting("backend", target.backend.value, "--target-backend" if choice.backend else other)
    plain = Target(target.os, target.arch, target.python)
    for name, system, release, typed, usual in (
        ("glibc", "linux", target.glibc, choice.glibc, plain.glibc),
        ("macos", "macos", target.macos, choice.macos, plain.macos),
    ):
        if target.os.value == system:
            told = f"--{name}" if typed else other if profile is not None or release != usual else "assumed"
            yield Setting(name, ".".join(map(str, release)), told)
    if target.gpu_architecture:
        yield Setting("gpu", target.gpu_architecture, "--gpu" if choice.gpu else other)
