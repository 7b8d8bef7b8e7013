"""The verb: which kernels run, and what the report says of them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from packaging.specifiers import SpecifierSet

from envdoctor.diagnose.rulebook import rule
from envdoctor.model.finding import Severity
from envdoctor.model.kernel import KernelResult, KernelStatus, SmokeOutcome, SmokeRequest
from envdoctor.model.profile import PlacementRule, Profile, ProfileTarget, SmokeSpec
from envdoctor.model.report import Report, Verdict
from envdoctor.model.target import Arch, Backend, OperatingSystem
from envdoctor.model.unknown import Subject, SubjectKind, Unknown, UnknownKind
from envdoctor.verbs.smoke import CODES, UnknownKernel, smoke

PROFILE = Profile(
    name="xtts-zluda",
    summary="",
    target=ProfileTarget(OperatingSystem.WINDOWS, Arch.X86_64, SpecifierSet(">=3.10"), Backend.ZLUDA),
    environment={"DISABLE_ADDMM_CUDA_LT": "1"},
    smoke=SmokeSpec(("gemm-float32", "stft"), ("xtts-gpt",), ("cudnn-off",)),
    placements=(PlacementRule("xtts", ("gemm-float32",)),),
)


class FakeRunner:
    def __init__(self, *failed: KernelResult) -> None:
        self.failed = {item.kernel: item for item in failed}
        self.request: SmokeRequest | None = None

    def known(self) -> tuple[str, ...]:
        return ("gemm-float32", "stft", "xtts-gpt", "sort", "kokoro-coreml")

    def run(self, request: SmokeRequest) -> SmokeOutcome:
        self.request = request
        passed = [KernelResult(name, "cuda:0", KernelStatus.PASSED) for name in request.kernels]
        stages = [self.failed[name] for name in ("import-torch", "device-context") if name in self.failed]
        return SmokeOutcome((*stages, *(self.failed.get(item.kernel, item) for item in passed)))


def run(*failed: KernelResult, **options: object) -> tuple[Report, SmokeRequest]:
    runner = FakeRunner(*failed)
    report = smoke(runner, **options)  # type: ignore[arg-type]
    assert runner.request is not None
    return report, runner.request


def bad(kernel: str, status: KernelStatus = KernelStatus.CRASHED, **more: object) -> KernelResult:
    return KernelResult(kernel, "cuda:0", status, **more)  # type: ignore[arg-type]


def test_a_profile_says_what_runs_and_under_what() -> None:
    report, request = run(profile=PROFILE)
    assert request.kernels == ("gemm-float32", "stft", "xtts-gpt")
    assert (request.backend, request.settings) == ("zluda", ("cudnn-off",))
    assert request.environment == {"DISABLE_ADDMM_CUDA_LT": "1"}
    assert report.verdict is Verdict.HEALTHY
    assert [(item.component, item.device) for item in report.placement] == [("xtts", "cuda:0")]


def test_without_a_profile_all_run_on_what_torch_offers() -> None:
    _, request = run()
    assert (request.kernels, request.backend) == (FakeRunner().known(), "auto")


def test_kernels_that_are_asked_for_run_alone_and_by_force() -> None:
    _, request = run(profile=PROFILE, kernels=["sort"], backend="cuda")
    assert (request.kernels, request.forced, request.backend) == (("sort",), frozenset({"sort"}), "cuda")


def test_a_name_that_is_none_is_refused_before_anything_runs() -> None:
    with pytest.raises(UnknownKernel, match="`gemm-float33`"):
        run(kernels=["gemm-float33"])


def test_a_failure_that_a_placement_covers_degrades() -> None:
    report, _ = run(bad("gemm-float32", detail="SIGABRT"), profile=PROFILE)
    (finding,) = report.findings
    assert (finding.rule, finding.severity) == ("GPU002", Severity.WARNING)
    assert finding.message == "`gemm-float32` on `cuda:0` crashed (SIGABRT)"
    assert finding.remedy is not None
    assert "`xtts` on `cpu`" in finding.remedy.summary
    assert report.verdict is Verdict.DEGRADED
    assert report.placement[0].because == ("gemm-float32 crashed (SIGABRT)",)


def test_a_failure_that_nothing_covers_is_an_error() -> None:
    report, _ = run(bad("stft", KernelStatus.WRONG_ANSWER, error_relative=0.5, tolerance=1e-5), profile=PROFILE)
    assert report.verdict is Verdict.BROKEN
    assert [item.rule for item in report.findings] == ["GPU001"]
    assert report.findings[0].evidence[1].what == "relative error 5.00e-01, tolerance 1e-05"


def test_a_setting_that_works_is_the_remedy() -> None:
    report, _ = run(bad("stft", setting="cudnn-off"))
    assert report.findings[0].severity is Severity.WARNING
    assert report.findings[0].remedy is not None
    assert "torch.backends.cudnn.enabled = False" in report.findings[0].remedy.summary


@pytest.mark.parametrize(("stage", "rule"), [("import-torch", "GPU006"), ("device-context", "GPU007")])
def test_torch_or_a_device_that_does_not_come_is_an_error(stage: str, rule: str) -> None:
    report, _ = run(bad(stage, KernelStatus.UNSUPPORTED, detail="why"))
    assert report.findings[0].rule == rule
    assert report.verdict is Verdict.BROKEN


def test_what_a_backend_lacks_and_nobody_needs_is_a_warning() -> None:
    report, _ = run(bad("sort", KernelStatus.UNSUPPORTED))
    assert report.findings[0].severity is Severity.WARNING


def test_what_a_profile_runs_and_none_of_its_components_needs_may_be_lacking() -> None:
    report, _ = run(bad("stft", KernelStatus.UNSUPPORTED, setting=None), profile=PROFILE)
    assert [(item.rule, item.severity) for item in report.findings] == [("GPU005", Severity.WARNING)]
    assert report.verdict is Verdict.DEGRADED


def test_a_device_that_was_given_up_leaves_the_look_incomplete() -> None:
    given_up = Unknown(UnknownKind.NOT_RUN, Subject(SubjectKind.DEVICE))
    skipped = KernelResult("sort", "cuda:0", KernelStatus.SKIPPED, unknown=given_up)
    assert not run(skipped)[0].complete
    assert run(replace(skipped, unknown=None, detail="its author has given up on old torch"))[0].complete


def test_gpu_slower_than_cpu_is_said_once() -> None:
    slow = KernelResult(
        "sort", "cuda:0", KernelStatus.PASSED, detail="slower than the CPU here (2.00 ms, CPU 1.00 ms)", slower=True
    )
    report, _ = run(slow, replace(slow, kernel="stft"))
    (finding,) = report.findings
    assert (finding.rule, finding.severity) == ("GPU008", Severity.INFO)
    assert finding.message == "2 kernels are slower than the CPU at these small shapes: `stft`, `sort`"
    assert report.verdict is Verdict.HEALTHY


def test_what_is_known_of_a_failure_is_said_as_a_note_with_its_remedy() -> None:
    words = "CUDA error: no kernel image is available for execution on the device"
    report, _ = run(bad("gemm-float32", detail=words), bad("stft", detail=words))
    notes = [item for item in report.findings if item.rule.startswith("ADV")]
    assert [(item.name, item.severity) for item in notes] == [("no-kernel-for-the-card", Severity.INFO)]
    assert notes[0].message.startswith("`gemm-float32` shows a known issue: ")
    assert notes[0].evidence[0].where == "cuda:0"
    assert notes[0].remedy is not None


def test_a_conversion_that_numpy_breaks_names_numpy() -> None:
    words = "TypeError: only 0-dimensional arrays can be converted to Python scalars"
    report, _ = run(bad("kokoro-coreml", detail=words), kernels=["kokoro-coreml"])
    assert [item.subject for item in report.findings] == ["kokoro-coreml", "numpy"]


def test_every_code_that_smoke_reports_has_a_rule_of_that_name() -> None:
    assert {code: found.name for code in CODES if (found := rule(code)) is not None} == CODES
