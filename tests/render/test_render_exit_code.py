"""Exit codes: what fails a check, and what could not be checked."""

from __future__ import annotations

from dataclasses import replace

import pytest
from render_reports import REPORTS

from envdoctor.model.finding import Finding, Severity, Waiver
from envdoctor.model.kernel import KernelResult, KernelStatus
from envdoctor.model.report import FailOn, Report, exit_code


def report_of(severity: Severity, *, waived: bool = False, complete: bool = True) -> Report:
    waiver = Waiver("known", "pyproject.toml") if waived else None
    return Report("check", findings=(Finding("RES102", "n", severity, "s", "m", waived=waiver),), complete=complete)


@pytest.mark.parametrize(
    ("severity", "fail_on", "code"),
    [
        (Severity.ERROR, "error", 1),
        (Severity.ERROR, "warning", 1),
        (Severity.ERROR, "never", 0),
        (Severity.WARNING, "error", 0),
        (Severity.WARNING, "warning", 1),
        (Severity.INFO, "warning", 0),
    ],
)
def test_a_finding_fails_at_or_above_the_level(severity: Severity, fail_on: FailOn, code: int) -> None:
    assert exit_code(report_of(severity), fail_on) == code


def test_an_accepted_finding_fails_nothing() -> None:
    assert exit_code(report_of(Severity.ERROR, waived=True), "warning") == 0


def test_an_incomplete_look_is_3_unless_something_failed() -> None:
    assert exit_code(report_of(Severity.INFO, complete=False)) == 3
    assert exit_code(report_of(Severity.ERROR, complete=False)) == 1
    assert exit_code(report_of(Severity.ERROR, complete=False), "never") == 3


@pytest.mark.parametrize("status", KernelStatus)
def test_a_kernel_that_failed_fails(status: KernelStatus) -> None:
    fine = status in (KernelStatus.PASSED, KernelStatus.CONVERTED, KernelStatus.SKIPPED)
    report = Report("smoke", kernels=(KernelResult("gemm", "cuda:0", status),))
    assert exit_code(report) == (0 if fine else 1)
    assert exit_code(report, "never") == 0


def test_conflicts_fail_where_no_repair_is_in_use() -> None:
    bare = replace(REPORTS["diffrhythm2"], findings=())
    assert exit_code(bare) == 0
    assert exit_code(replace(bare, resolution=None)) == 1
