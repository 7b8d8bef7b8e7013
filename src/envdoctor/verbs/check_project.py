"""``check`` of a project: a report of each of its environments, and the command to type next."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from envdoctor.model.project import GroupChoice
from envdoctor.model.report import Report
from envdoctor.ports import Progress, Tell, UsageError
from envdoctor.shell_line import shell_line
from envdoctor.verbs.check import diagnose_project, report_of
from envdoctor.verbs.index_choice import IndexChoice
from envdoctor.verbs.next_command import after_check, after_checks, elsewhere, with_whole_commands
from envdoctor.verbs.patient import Patient
from envdoctor.verbs.profile_environments import together
from envdoctor.verbs.project_inputs import describes_requirements
from envdoctor.verbs.refused_lock import refusals_in_use
from envdoctor.verbs.session import open_session
from envdoctor.verbs.target_choice import TargetChoice

__all__ = ["check_project", "refuse_patient_as_project"]

_PATIENT_FILES = {"installed.txt": "--installed", "probe.json": "--facts", "site-packages": "--env"}


def refuse_patient_as_project(folder: Path) -> None:
    """Say which options to use where a file is a log or a listing, or a folder holds an environment and no project."""
    if os.path.isfile(folder):
        from envdoctor.verbs.pastes import option_of_paste

        if option := option_of_paste(folder):
            what = "a log" if option == "--log" else "what a tool lists as installed"
            command = shell_line(["envdoctor", "check", option, str(folder)])
            raise UsageError(f"`{folder}` is no list of requirements but {what}: use `{command}`")
        return
    found = {name: option for name, option in _PATIENT_FILES.items() if os.path.exists(folder / name)}
    if found and not describes_requirements(folder):
        options = [word for name, option in found.items() for word in (option, str(folder / name))]
        command = shell_line(["envdoctor", "check", *options])
        raise UsageError(f"`{folder}` describes no requirements, but an environment: use `{command}`")


def check_project(
    folder: Path,
    profile: str | None,
    target: TargetChoice,
    choice: IndexChoice,
    patient: Patient | None,
    groups: GroupChoice,
    *,
    env: Path | None,
    facts: Path | None = None,
    progress: Progress,
    tell: Tell,
) -> Report:
    """Return the report of a project, with commands that can be typed as they are."""
    with open_session(
        folder, profile, target, choice, progress=progress, tell=tell, patient=patient, groups=groups
    ) as session:
        typed = replace(session.typed, env=env, facts=facts)
        reports = []
        for request in session.requests:
            result = diagnose_project(request, groups=True)
            report = report_of(request, result, command="check")
            locked = request.lock_for(result.target)
            command = after_check(report, typed, refusals_in_use(request, result), locked)
            there = elsewhere(report, typed, locked) if command is None else None
            reports.append(replace(report, next_command=command, next_elsewhere=there))
    there = reports[0].next_elsewhere if all(item.next_elsewhere for item in reports) else None
    report = replace(together(reports), next_command=after_checks(reports, typed), next_elsewhere=there)
    return with_whole_commands(report, typed)
