"""``check`` without a project: an environment, facts or a log in; report out. Nothing is resolved."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from envdoctor.diagnose.engine import examine
from envdoctor.model.report import Report
from envdoctor.workflow.host import cards_were_asked

if TYPE_CHECKING:
    from envdoctor.diagnose.examination import Examination
    from envdoctor.model.environment import InstalledEnvironment

__all__ = ["check_patient", "could_be_asked"]


def check_patient(examination: Examination) -> Report:
    """Return the report of ``check`` over what is known of an environment or a machine alone."""
    begin = time.perf_counter()
    findings = examine(examination)
    seconds = round(time.perf_counter() - begin, 3)
    return Report(
        command="check",
        target=examination.target,
        profile=examination.profile.name if examination.profile else None,
        complete=could_be_asked(examination.environment) and cards_were_asked(examination.facts),
        findings=findings,
        facts=tuple(examination.facts),
        timings={"total_s": seconds, "rules_s": seconds},
    )


def could_be_asked(environment: InstalledEnvironment | None) -> bool:
    """Return whether the environment's interpreter answered, so that more than its folder was read."""
    problems = environment.problems if environment else ()
    return not any(problem.kind in ("interpreter-timeout", "interpreter-failed") for problem in problems)
