"""What is to be said of an environment once it was treated: where pip itself sees something else, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.version import Version

from envdoctor.model.dataclass import dataclass
from envdoctor.model.event import EventKind, TreatmentEvent
from envdoctor.model.finding import Command, Evidence, Finding, Remedy, Severity, Waiver
from envdoctor.model.override import Override
from envdoctor.model.refusal import Refusal
from envdoctor.model.report import Report
from envdoctor.model.step import PlannedFile, WriteRecord, WriteVariables
from envdoctor.verbs.fix_request import Prepared
from envdoctor.verbs.next_command import Typed, with_whole_commands

if TYPE_CHECKING:
    from envdoctor.adapters.apply.executor import Applied

__all__ = [
    "Treated",
    "disagreements",
    "failure_events",
    "report_of_all",
    "with_whole_errors",
    "without_known",
]


def disagreements(
    files: Sequence[PlannedFile],
    versions: Mapping[str, str] | None,
    complaints: Sequence[tuple[str, str, str]],
    overrides: Sequence[Override],
    *,
    source: str,
) -> tuple[Finding, ...]:
    """Return a finding for each difference between the plan and what installers see.

    ``complaints`` are of ``pip check`` or ``uv pip check``: consumer, name, line. Those that an override explains are
    waived, with that reason; none is hidden.
    """
    return (*_missing(files, versions, source), *_complaints(complaints, overrides, source))


def _missing(files: Sequence[PlannedFile], versions: Mapping[str, str] | None, source: str) -> Iterator[Finding]:
    if versions is None:
        return
    for file in files:
        seen = versions.get(file.name)
        if seen is not None and _same(seen, file.version):
            continue
        what = f"sees {seen}" if seen is not None else "does not see it"
        yield Finding(
            rule="ENV030",
            name="installer-disagrees",
            severity=Severity.ERROR,
            subject=file.name,
            message=f"`{file.name}` {file.version} was installed, and {source} {what}",
            evidence=(Evidence(seen or "not listed", source),),
            remedy=Remedy("take the fix back and try the other installer", commands=(Command("undo"),)),
        )


def _same(one: str, other: str) -> bool:
    try:
        return Version(one) == Version(other)
    except ValueError:
        return one == other


def _complaints(
    complaints: Sequence[tuple[str, str, str]], overrides: Sequence[Override], source: str
) -> Iterator[Finding]:
    for consumer, name, line in complaints:
        finding = Finding(
            rule="ENV031",
            name="installer-check-complains",
            severity=Severity.WARNING,
            subject=consumer,
            message=f"the installer's own check says: {line.rstrip('.')}",
            evidence=(Evidence(line, source),),
        )
        if any(item.name == name and item.replaces_demand_of(consumer) for item in overrides):
            reason = f"the lock sets this demand of `{consumer}` on `{name}` aside on purpose"
            finding = finding.waive(Waiver(reason, ".envdoctor/pylock.toml"))
        yield finding


@dataclass(frozen=True, slots=True)
class Treated:
    """How one environment came out."""

    events: tuple[TreatmentEvent, ...]
    code: int = 0
    report: Report | None = None
    refusals: tuple[Refusal, ...] = ()
    """Why components were not placed where their kernels can run."""

    @property
    def failed(self) -> bool:
        """Whether it was taken back."""
        return self.code != 0


def without_known(prepared: Prepared) -> Prepared:
    """Leave out records that say what they said before, and with them variables that have not changed."""
    plan = prepared.plan
    if plan is None:
        return prepared
    own = Path(plan.environment) / ".envdoctor"
    fresh = [step for step in plan.steps if isinstance(step, WriteRecord) and not _says(own / step.path, step.content)]
    known = not any(step.path == "environment.json" for step in fresh)
    steps = tuple(
        step
        for step in plan.steps
        if not (isinstance(step, WriteRecord) and step not in fresh)
        and not (known and isinstance(step, WriteVariables))
    )
    return replace(prepared, plan=replace(plan, steps=steps))


def with_whole_errors(prepared: Prepared, typed: Typed) -> Prepared:
    """Complete the commands of the known errors: project, profile and environment as typed."""
    plan, report = prepared.plan, prepared.report
    if plan is None or report is None or not plan.known_errors:
        return prepared
    known = with_whole_commands(replace(report, findings=plan.known_errors), typed).findings
    return replace(prepared, plan=replace(plan, known_errors=known))


def _says(path: Path, content: str) -> bool:
    try:
        return path.read_text(encoding="utf-8") == content
    except (OSError, UnicodeDecodeError):
        return False


def failure_events(applied: Applied) -> Iterator[TreatmentEvent]:
    """Yield why a fix was taken back, with the end of what an installer wrote."""
    failed = next((outcome for outcome in applied.outcomes if outcome.status == "failed"), None)
    output = failed.output.splitlines()[-25:] if failed is not None else ()
    yield TreatmentEvent(EventKind.FAILED, detail=applied.failure or "", output=tuple(output))
    problems = applied.restored.problems if applied.restored is not None else []
    yield from (TreatmentEvent(EventKind.PROBLEM, detail=problem) for problem in problems)
    yield TreatmentEvent(EventKind.NOT_PUT_BACK if problems else EventKind.PUT_BACK)


def report_of_all(reports: Sequence[Report]) -> Report | None:
    """Return one report for all environments of a profile: one document is printed, never two."""
    if not reports:
        return None
    return replace(
        reports[0],
        complete=all(report.complete for report in reports),
        findings=tuple(finding for report in reports for finding in report.findings),
        kernels=tuple(result for report in reports for result in report.kernels),
        placement=tuple(item for report in reports for item in report.placement),
    )
