"""The real child in a real torch, on its CPU and as a stand-in for devices that are not here."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

import pytest

from envdoctor.adapters.smoke import kernel_catalogue
from envdoctor.adapters.smoke.bundle import write_bundle
from envdoctor.adapters.smoke.runner import ChildRunner
from envdoctor.model.kernel import KernelResult, KernelStatus, SmokeOutcome, SmokeRequest

pytestmark = pytest.mark.torch

FAST = tuple(
    name
    for name in kernel_catalogue.names()
    if name not in ("torch-compile", "kokoro-export") and not name.startswith("kokoro-coreml")
)
posix = pytest.mark.skipif(os.name != "posix", reason="Windows has no signals that end a process")


@lru_cache(maxsize=1)
def interpreter() -> Path:
    named = os.environ.get("ENVDOCTOR_TORCH_PYTHON")
    if named:
        return Path(named)
    if importlib.util.find_spec("torch") is None:
        pytest.skip("no torch here; name an interpreter that has it in ENVDOCTOR_TORCH_PYTHON")
    return Path(sys.executable)


def run(*names: str, backend: str = "cpu", **options: object) -> SmokeOutcome:
    request = SmokeRequest(names, backend=backend, **options)  # type: ignore[arg-type]
    return ChildRunner(interpreter()).run(request)


def planted(plant: dict[str, str], *names: str, bisect: bool = False, **options: object) -> SmokeOutcome:
    environment = {"ENVDOCTOR_PLANT": "1"}
    return run(*names, plant=plant, environment=environment, bisect=bisect, **options)


def by_name(outcome: SmokeOutcome) -> dict[str, KernelResult]:
    return {result.kernel: result for result in outcome.results}


def test_every_kernel_and_workload_passes_in_one_process() -> None:
    outcome = run(*FAST)
    bad = {result.kernel: (result.status, result.detail) for result in outcome.results if result.failed}
    assert bad == {}
    assert outcome.children == 1
    assert {result.kernel for result in outcome.results} == {"import-torch", "device-context", *FAST}
    assert all(result.detail for result in outcome.results if result.status is KernelStatus.SKIPPED)


def test_compile_and_export_pass() -> None:
    results = by_name(run("torch-compile", "kokoro-export"))
    assert not any(result.failed for result in results.values())


ALIGNER = """
import torch

def maximum_path(neg_cent, mask):
    frames, tokens = (int(mask.sum(axis)[0, 0]) for axis in (1, 2))
    assert frames >= tokens, "every token takes a frame"
    best = torch.full((frames, tokens), float("-inf"))
    for y in range(frames):
        for x in range(max(0, tokens + y - frames), min(tokens, y + 1)):
            before = [best[y - 1, x]] + ([best[y - 1, x - 1]] if x else []) if y else [torch.tensor(0.0)]
            best[y, x] = neg_cent[0, y, x] + max(before)
    path, x = torch.zeros_like(neg_cent), tokens - 1
    for y in range(frames - 1, -1, -1):
        path[0, y, x] = 1
        if x and (x == y or best[y - 1, x] < best[y - 1, x - 1]):
            x -= 1
    return path
"""


def test_an_aligner_takes_frames_before_tokens(tmp_path: Path) -> None:
    (tmp_path / "monotonic_align").mkdir()
    (tmp_path / "monotonic_align" / "__init__.py").write_text(ALIGNER)
    outcome = run("amphion-monotonic-align", environment={"PYTHONPATH": str(tmp_path)})
    result = by_name(outcome)["amphion-monotonic-align"]
    assert (result.status, result.error_relative) == (KernelStatus.PASSED, 0.0), result.detail


def test_a_packaged_aligner_takes_tokens_before_frames(tmp_path: Path) -> None:
    (tmp_path / "monotonic_alignment_search.py").write_text(
        ALIGNER.replace("def maximum_path(", "def _frames_first(")
        + "\ndef maximum_path(value, mask):\n"
        + "    return _frames_first(value.transpose(1, 2), mask.transpose(1, 2)).transpose(1, 2)\n"
    )
    outcome = run("amphion-monotonic-align", environment={"PYTHONPATH": str(tmp_path)})
    result = by_name(outcome)["amphion-monotonic-align"]
    assert (result.status, result.error_relative) == (KernelStatus.PASSED, 0.0), result.detail


def test_coremltools_converts_fixed_enumerated_and_ranged_shapes_and_the_buckets() -> None:
    names = ("kokoro-coreml", "kokoro-coreml-shapes", "kokoro-coreml-buckets")
    results = by_name(run(*names))
    if results[names[0]].status is KernelStatus.SKIPPED:
        pytest.skip(str(results[names[0]].detail))
    wanted = KernelStatus.PASSED if sys.platform == "darwin" else KernelStatus.CONVERTED
    for name in names:
        assert results[name].status is wanted, results[name].detail
    assert "decoder 30 s" in str(results[names[2]].detail)
    assert "durations ranged" in str(results[names[1]].detail)


def test_builders_and_catalogue_agree(tmp_path: Path) -> None:
    bundle = write_bundle(tmp_path / "smoke.pyz")
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from envdoctor_smoke.child import registry\nprint('\\n'.join(sorted(registry.load())))"
    )
    command = [str(interpreter()), "-c", code, str(bundle)]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    assert set(answer.stdout.split()) == set(kernel_catalogue.names()) - {"all-reduce"}


@posix
@pytest.mark.parametrize(
    ("fault", "status", "words"),
    [
        ("abort", KernelStatus.CRASHED, "SIGABRT"),
        ("segv", KernelStatus.CRASHED, "SIGSEGV"),
        ("kill", KernelStatus.CRASHED, "SIGKILL"),
        ("exit", KernelStatus.CRASHED, "exit status 7"),
        ("system-exit", KernelStatus.CRASHED, "SystemExit"),
        ("exception", KernelStatus.CRASHED, "planted in stft"),
        ("hang", KernelStatus.TIMED_OUT, "no answer after"),
        ("wrong", KernelStatus.WRONG_ANSWER, None),
        ("nan", KernelStatus.WRONG_ANSWER, "NaN among"),
        ("shape", KernelStatus.WRONG_ANSWER, "instead of"),
        ("oom", KernelStatus.OUT_OF_MEMORY, "out of memory"),
        ("spam", KernelStatus.PASSED, None),
    ],
)
def test_a_planted_fault_is_named_and_the_rest_is_done(fault: str, status: KernelStatus, words: str | None) -> None:
    scale = 0.05 if fault == "hang" else 1.0
    results = by_name(planted({"stft": fault}, "gemm-float32", "stft", "lstm", timeout_scale=scale))
    assert results["stft"].status is status
    if words is not None:
        assert words in str(results["stft"].detail)
    assert results["gemm-float32"].status is results["lstm"].status is KernelStatus.PASSED


def test_faults_are_not_planted_unless_the_environment_says_so() -> None:
    assert by_name(run("stft", plant={"stft": "wrong"}, bisect=False))["stft"].status is KernelStatus.PASSED


@posix
def test_a_crash_is_bisected_to_the_setting_that_avoids_it() -> None:
    plant = {"conv1d": "abort@cudnn-off", "attention": "wrong@math-only", "gemm-float16": "exception@dtype-float32"}
    results = by_name(planted(plant, *plant, backend="cpu-as:cuda", bisect=True))
    assert {name: results[name].setting for name in plant} == {
        "conv1d": "cudnn-off",
        "attention": "math-only",
        "gemm-float16": "dtype-float32",
    }
    assert all(results[name].failed for name in plant)


@pytest.mark.parametrize("backend", ["cuda", "rocm", "zluda", "directml", "mps", "xpu", "coreml"])
def test_a_stand_in_walks_the_code_of_a_device_that_is_not_here(backend: str) -> None:
    outcome = run("gemm-float32", "stft", "attention", "attention-flash", backend=f"cpu-as:{backend}")
    results = by_name(outcome)
    facts = {fact.name: fact.value for fact in outcome.facts}
    assert facts["smoke.stand_in"] is True
    assert outcome.backend == backend
    assert results["gemm-float32"].status is KernelStatus.PASSED
    assert results["gemm-float32"].reference_ms is not None
    expected = KernelStatus.UNSUPPORTED if backend == "directml" else KernelStatus.PASSED
    assert results["stft"].status is expected
    if backend == "zluda":
        # No backend has settings of its own: they are the profile's, or the environment's start-up hook sets them.
        assert "smoke.settings" not in facts
        assert str(facts["smoke.device"]).endswith("[ZLUDA]")


def test_a_kernel_asked_for_by_name_runs_where_the_backend_is_said_to_lack_it() -> None:
    outcome = run("stft", backend="cpu-as:directml", forced=frozenset({"stft"}))
    assert by_name(outcome)["stft"].status is KernelStatus.PASSED


@pytest.mark.parametrize("backend", ["directml", "mps", "xpu"])
def test_a_backend_that_is_not_there_is_said(backend: str) -> None:
    results = by_name(run("stft", backend=backend))
    if results["device-context"].status is KernelStatus.PASSED:
        pytest.skip(f"this machine has {backend}")
    assert results["device-context"].status is KernelStatus.UNSUPPORTED
    assert results["device-context"].detail
    assert results["stft"].status is KernelStatus.SKIPPED


def test_two_processes_all_reduce() -> None:
    result = by_name(run("all-reduce"))["all-reduce"]
    assert (result.status, result.error_relative) == (KernelStatus.PASSED, 0.0)


def test_the_bundle_works_alone(tmp_path: Path) -> None:
    bundle = write_bundle(tmp_path / "smoke.pyz")
    plan = json.dumps({"backend": "cpu", "items": [{"kernel": "rfft"}]})
    command = [str(interpreter()), "-I", str(bundle), "--plan", plan]
    answer = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    events = [json.loads(line) for line in answer.stdout.splitlines()]
    assert [event["event"] for event in events][-3:] == ["start", "result", "end"]
    assert events[-2]["status"] == "passed"


def test_the_suite_says_where_its_seconds_went() -> None:
    timings = run("gemm-float32", "lstm", backend="cpu-as:cuda").timings
    parts = ("start_s", "import_torch_s", "device_context_s", "load_s", "inputs_s", "first_s", "reference_s")
    parts += ("compare_s", "steady_s", "cpu_timing_s", "end_s")
    assert set(parts) <= set(timings)
    assert sum(timings[part] for part in parts) <= timings["first_run_s"] + 0.01


def test_the_phase_of_a_harmonic_source_stays_right_for_seconds(tmp_path: Path) -> None:
    # A device that sums one value after the other in float32, over the phase of the ninth harmonic of a second.
    bundle = write_bundle(tmp_path / "smoke.pyz")
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import torch\nfrom envdoctor_smoke.child.kernels.audio import harmonics\n"
        "def one_by_one(x, dim):\n"
        "    total, sums = torch.zeros_like(x[:, 0]), []\n"
        "    for place in range(x.shape[1]):\n"
        "        total = total + x[:, place]\n"
        "        sums.append(total)\n"
        "    return torch.stack(sums, 1)\n"
        "pitch = 150 + 60 * torch.rand(1, 24000, generator=torch.Generator().manual_seed(1))\n"
        "right = harmonics(pitch.double(), 9, 24000.0)\n"
        "torch.cumsum = one_by_one\n"
        "print(float((harmonics(pitch, 9, 24000.0).double() - right).abs().max()))"
    )
    command = [str(interpreter()), "-c", code, str(bundle)]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    assert float(answer.stdout) < kernel_catalogue.find("harmonic-source").tolerance
