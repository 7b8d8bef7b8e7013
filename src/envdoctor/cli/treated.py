"""How a treatment came out, and what of its plan need not be done again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from envdoctor.model.plan import WriteRecord, WriteVariables
from envdoctor.model.report import Report
from envdoctor.workflow.fix_request import Prepared

if TYPE_CHECKING:
    from envdoctor.adapters.apply.executor import Applied

__all__ = ["Treated", "failure_lines", "without_known"]


@dataclass(frozen=True, slots=True)
class Treated:
    """How one environment came out."""

    lines: tuple[str, ...]
    code: int = 0
    report: Report | None = None

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


def _says(path: Path, content: str) -> bool:
    try:
        return path.read_text(encoding="utf-8") == content
    except (OSError, UnicodeDecodeError):
        return False


def failure_lines(applied: Applied) -> list[str]:
    """Return why a fix was taken back, with the end of what an installer wrote."""
    lines = [f"error: {applied.failure}"]
    failed = next((outcome for outcome in applied.outcomes if outcome.status == "failed"), None)
    if failed is not None and failed.output:
        lines += [f"  {line}" for line in failed.output.splitlines()[-25:]]
    restored = applied.restored
    problems = restored.problems if restored is not None else []
    lines += [f"warning: {problem}" for problem in problems]
    lines.append("the state of before was brought back" if not problems else "not all of it could be brought back")
    return lines
