"""The exit code that a report asks for; usage errors (2) never get as far as a report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from envdoctor.model.finding import Severity

if TYPE_CHECKING:
    from envdoctor.model.report import Report

__all__ = ["FailOn", "exit_code"]

FailOn: TypeAlias = Literal["error", "warning", "never"]

_FAILS = 1
_COULD_NOT_CHECK = 3


def exit_code(report: Report, fail_on: FailOn = "error") -> int:
    """Return 1 where something fails, else 3 where not everything could be looked at, else 0.

    Fails: an open finding at or above ``fail_on``, requirements that cannot hold together with no repair in use,
    or a kernel that neither passed nor was skipped. ``never`` lets all of these pass, but not an incomplete look.
    """
    if fail_on != "never" and _fails(report, Severity(fail_on)):
        return _FAILS
    return 0 if report.complete else _COULD_NOT_CHECK


def _fails(report: Report, threshold: Severity) -> bool:
    if any(finding.severity.rank <= threshold.rank for finding in report.open_findings):
        return True
    if report.unresolved:
        return True
    return any(result.failed for result in report.kernels)
