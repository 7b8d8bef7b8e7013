"""``envdoctor check`` over an environment, facts or a log alone: no project is read, and mostly no index asked."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from envdoctor.cli.patient_target import fitted, torch_of_facts, with_assumed
from envdoctor.cli.targets import TargetChoice, pick_target
from envdoctor.diagnose.examination import Examination
from envdoctor.resolve.memory import collector_paused
from envdoctor.workflow.patient import check_patient

if TYPE_CHECKING:
    from envdoctor.cli.indexes import IndexChoice
    from envdoctor.cli.patient import Patient
    from envdoctor.model.environment import InstalledEnvironment
    from envdoctor.model.profile import Profile
    from envdoctor.model.report import Report

__all__ = ["report_of_patient"]


def report_of_patient(
    named: str | None,
    target_choice: TargetChoice,
    patient: Patient,
    index_choice: IndexChoice,
    *,
    quiet: bool = False,
) -> Report:
    """Return the report. Raises UsageFault.

    The index is asked for one thing: what the distributions of a listing require.
    """
    if patient.environment is None:
        patient = replace(patient, environment=torch_of_facts(patient.facts))
    profile = _profile(named)
    target, _ = pick_target(target_choice, profile, None)
    environment = patient.environment
    if profile is None:
        target = fitted(target, patient, target_choice)
        environment = with_assumed(environment, patient, target_choice) if environment is not None else None
        assumed = environment.details["assumed"] if environment is not None else None
        target = replace(target, python_assumed=isinstance(assumed, frozenset) and "python" in assumed)
    elif target_choice.python is None and environment is not None and environment.python is not None:
        target = replace(target, python=environment.python, python_full=environment.python_full)
    if profile is not None and environment is not None:
        environment = _without_torch(environment, profile)
    examination = Examination(
        target=target,
        profile=profile,
        environment=_with_requirements(environment, index_choice, profile, quiet=quiet),
        binaries=patient.binaries,
        facts=patient.facts,
        log=patient.log,
    )
    with collector_paused():
        return check_patient(examination)


def _without_torch(environment: InstalledEnvironment, profile: Profile) -> InstalledEnvironment:
    """Return the environment with torch as a missing module, where the profile proves itself in torch's kernels.

    Which torch that is, the project's files say; without them its absence would be passed over.
    """
    measured = environment.executable is not None and "imports" not in environment.details
    if not profile.smoke.kernels or not measured or environment.get("torch") is not None:
        return environment
    from envdoctor.model.environment import ImportOutcome

    outcome = ImportOutcome("torch", "missing", "the profile's kernels run in it")
    return replace(environment, details={**environment.details, "imports": {"torch": outcome}})


def _profile(named: str | None) -> Profile | None:
    if named is None:
        return None
    from pathlib import Path

    from envdoctor.cli.composition import pick_profile
    from envdoctor.workflow.settings import Settings

    return pick_profile(named, Settings(), Path())


def _with_requirements(
    environment: InstalledEnvironment | None, choice: IndexChoice, profile: Profile | None, *, quiet: bool
) -> InstalledEnvironment | None:
    """Return a listing with the requirements that the index knows; anything else, and all offline, as it is."""
    if environment is None or environment.details.get("kind") != "listing" or choice.offline:
        return environment
    from envdoctor.cli.indexes import open_ports
    from envdoctor.cli.messages import note
    from envdoctor.cli.progress import SilentProgress
    from envdoctor.diagnose.mailed import with_requirements

    index = open_ports(choice, profile, None, SilentProgress())
    try:
        return with_requirements(environment, index)
    finally:
        index.close()
        for text in () if quiet else dict.fromkeys(index.notes):
            note(text)
