"""From kernels to devices."""

from __future__ import annotations

from envdoctor.model.kernel import KernelResult, KernelStatus, Placement
from envdoctor.model.profile import PlacementRule
from envdoctor.model.unknown import Subject, SubjectKind, Unknown, UnknownKind
from envdoctor.planning.placement import describe_failure, moved, place

RULE = PlacementRule("xtts", ("gemm-float32", "attention"))


def result(kernel: str, status: KernelStatus = KernelStatus.PASSED, **more: object) -> KernelResult:
    device = str(more.pop("device", "cuda:0"))
    return KernelResult(kernel, device, status, **more)  # type: ignore[arg-type]


def test_all_pass_and_the_component_stays() -> None:
    assert place([RULE], [result("gemm-float32"), result("attention")]) == (Placement("xtts", "cuda:0"),)


def test_a_failed_kernel_moves_the_component_and_says_why() -> None:
    results = [result("gemm-float32", KernelStatus.CRASHED, detail="SIGABRT"), result("attention")]
    (placed,) = place([RULE], results)
    assert placed == Placement("xtts", "cpu", ("gemm-float32 crashed (SIGABRT)",), away=True)
    assert moved(placed, RULE)


def test_a_setting_that_works_keeps_it_on_the_gpu() -> None:
    results = [result("gemm-float32"), result("attention", KernelStatus.WRONG_ANSWER, setting="flash-off")]
    (placed,) = place([RULE], results)
    assert placed.device == "cuda:0"
    assert placed.because == ("attention gave a wrong answer; it passes with flash-off",)


def test_another_device_that_works_is_taken() -> None:
    results = [
        result("gemm-float32", KernelStatus.UNSUPPORTED),
        result("attention"),
        result("gemm-float32", device="cuda:1"),
        result("attention", device="cuda:1"),
    ]
    assert place([RULE], results) == (Placement("xtts", "cuda:1"),)


def test_a_later_run_lifts_the_placement() -> None:
    bad = place([RULE], [result("gemm-float32", KernelStatus.TIMED_OUT), result("attention")])
    good = place([RULE], [result("gemm-float32"), result("attention")])
    assert (bad[0].device, good[0].device) == ("cpu", "cuda:0")


def test_always_goes_there_whatever_the_kernels_say() -> None:
    rule = PlacementRule("whisper", (), always=True, because="CTranslate2 has no AMD wheels")
    assert place([rule], [result("gemm-float32")]) == (Placement("whisper", "cpu", ("CTranslate2 has no AMD wheels",)),)


def test_the_words_of_a_kernel_that_was_skipped_prove_nothing_by_themselves() -> None:
    told = result("attention", KernelStatus.SKIPPED, detail="the author says that `conv1d` did not pass, given up")
    assert place([RULE], [result("gemm-float32"), told])[0].device == "cuda:0"


def test_what_an_older_torch_cannot_be_asked_is_no_proof_against_the_device() -> None:
    results = [result("gemm-float32"), result("attention", KernelStatus.SKIPPED, detail="needs torch 2.0 or later")]
    assert place([RULE], results)[0].device == "cuda:0"


def test_a_device_that_does_not_open_moves_everything() -> None:
    stage = result("device-context", KernelStatus.UNSUPPORTED, detail="sees no device", device="none")
    skipped = result(
        "gemm-float32",
        KernelStatus.SKIPPED,
        device="none",
        unknown=Unknown(UnknownKind.NOT_RUN, Subject(SubjectKind.KERNEL, "device-context")),
    )
    (placed,) = place([RULE], [stage, skipped])
    assert placed.device == "cpu"
    assert placed.because == ("device-context is not supported (sees no device)",)


def test_a_kernel_that_was_not_run_proves_nothing() -> None:
    assert "attention was not run" in place([RULE], [result("gemm-float32")])[0].because


def test_a_wrong_answer_tells_how_wrong() -> None:
    wrong = result("stft", KernelStatus.WRONG_ANSWER, error_relative=0.25, tolerance=2e-5)
    assert describe_failure(wrong) == "stft gave a wrong answer (error 2.5e-01, at most 2e-05)"
