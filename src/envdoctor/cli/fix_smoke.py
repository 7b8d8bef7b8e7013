"""The proof at the end of a fix: GPU kernels in the environment, and where each component should run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from envdoctor.adapters.apply.interpreters import python_of
from envdoctor.adapters.apply.records import read_record
from envdoctor.adapters.smoke.runner import ChildRunner
from envdoctor.cli.environments import EnvironmentPart
from envdoctor.model.report import Report
from envdoctor.planning.placement import moved
from envdoctor.workflow.smoke import smoke

__all__ = ["moved_components", "proved"]


def proved(part: EnvironmentPart, report: Report, say: Callable[[str], None]) -> tuple[Report, list[str]]:
    """Run the profile's kernels and add what they say to the report; lines to show come with it."""
    profile = part.request.profile
    record = read_record(part.environment)
    say("running GPU kernels in the environment (`--no-smoke` leaves them out)")
    try:
        result = smoke(
            ChildRunner(python_of(part.environment)),
            profile=profile,
            target=part.request.target,
            environment=dict(record.variables) if record is not None else None,
        )
    except OSError as error:
        return report, [f"warning: no kernel could be run: {error}"]
    lines = [f"{item.component} runs on {item.device}: {'; '.join(item.because)}" for item in result.placement]
    merged = replace(
        report,
        findings=(*report.findings, *result.findings),
        facts=(*report.facts, *result.facts),
        kernels=result.kernels,
        placement=result.placement,
        complete=report.complete and result.complete,
    )
    return merged, lines


def moved_components(part: EnvironmentPart, report: Report) -> tuple[str, ...]:
    """Return the components that their kernels sent away from the GPU."""
    rules = {rule.component: rule for rule in (part.request.profile.placements if part.request.profile else ())}
    return tuple(
        item.component for item in report.placement if item.component in rules and moved(item, rules[item.component])
    )
