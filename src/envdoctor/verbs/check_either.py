"""``check`` of a project, or of an environment, facts or a log alone: what was given decides."""

from __future__ import annotations

from pathlib import Path

from envdoctor.model.project import GroupChoice
from envdoctor.model.report import Report
from envdoctor.ports import Progress, Tell
from envdoctor.verbs.index_choice import IndexChoice
from envdoctor.verbs.next_command import Typed, with_whole_commands
from envdoctor.verbs.patient import PatientChoice, open_patient
from envdoctor.verbs.target_choice import TargetChoice

__all__ = ["check_either"]


def check_either(
    project: Path | None,
    profile: str | None,
    target: TargetChoice,
    choice: IndexChoice,
    looked_at: PatientChoice,
    groups: GroupChoice,
    *,
    progress: Progress,
    tell: Tell,
) -> Report:
    """Return the report of a project, with what is looked at beside it; or of that alone. Raises UsageError."""
    patient = open_patient(looked_at)
    for text in patient.notes:
        tell(text)
    # Imported below: neither way pays for the other's modules.
    if looked_at.given and (project is None or not _describes_requirements(project)):
        from envdoctor.verbs.check_environment import report_of_patient

        report = report_of_patient(profile, target, patient, choice, tell=tell)
        return with_whole_commands(report, Typed(profile=profile, env=looked_at.env))
    from envdoctor.verbs.check_project import check_project, refuse_patient_as_project
    from envdoctor.verbs.project_inputs import project_of

    folder = project or Path()
    refuse_patient_as_project(folder)
    folder = project_of(folder, tell)
    return check_project(
        folder,
        profile,
        target,
        choice,
        patient,
        groups,
        env=looked_at.env,
        facts=looked_at.facts,
        progress=progress,
        tell=tell,
    )


def _describes_requirements(folder: Path) -> bool:
    from envdoctor.verbs.project_inputs import describes_requirements

    return describes_requirements(folder)
