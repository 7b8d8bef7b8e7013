"""The parent names the culprit and gets the rest done, whatever the child does."""

from __future__ import annotations

import math
import os
import sys
import time
from pathlib import Path

import pytest

from envdoctor.adapters.smoke import kernel_catalogue
from envdoctor.adapters.smoke.bisection import MOST_KERNELS, bisect
from envdoctor.adapters.smoke.supervisor import OUT_OF_TIME, Item, Run, Supervisor
from envdoctor.model.unknown import Subject, SubjectKind, UnknownKind

STUB = Path(__file__).with_name("smoke_stub.py")
NAMES = ("gemm-float32", "conv1d", "stft", "attention")
posix = pytest.mark.skipif(os.name != "posix", reason="Windows has no signals that end a process")


def supervise(plant: dict[str, str], names: tuple[str, ...] = NAMES, **options: object) -> Run:
    supervisor = Supervisor(Path(sys.executable), options={"plant": plant}, script=STUB, **options)  # type: ignore[arg-type]
    return supervisor.run([Item(name) for name in names])


def statuses(run: Run) -> dict[str, str]:
    return {name: outcome["status"] for name, outcome in run.outcomes.items() if name in NAMES}


def test_a_healthy_run_takes_one_child() -> None:
    run = supervise({})
    assert statuses(run) == dict.fromkeys(NAMES, "passed")
    assert run.children == 1
    assert run.device["name"] == "stub"


@posix
@pytest.mark.parametrize(("fault", "word"), [("abort", "SIGABRT"), ("kill", "SIGKILL"), ("exit", "exit status 7")])
def test_a_death_is_put_on_the_kernel_in_flight_and_the_rest_goes_on(fault: str, word: str) -> None:
    run = supervise({"conv1d": fault})
    assert statuses(run) == {**dict.fromkeys(NAMES, "passed"), "conv1d": "crashed"}
    assert word in run.outcomes["conv1d"]["note"]
    assert run.children == 2


def test_a_hang_ends_at_the_kernels_limit() -> None:
    begin = time.monotonic()
    run = supervise({"stft": "hang"}, timeout_scale=0.02)
    assert statuses(run) == {**dict.fromkeys(NAMES, "passed"), "stft": "timed-out"}
    assert "no answer after" in run.outcomes["stft"]["note"]
    assert time.monotonic() - begin < 45


@posix
def test_every_kernel_may_fail_in_its_own_way() -> None:
    run = supervise({"gemm-float32": "abort", "conv1d": "poison", "stft": "wrong", "attention": "exit"})
    assert statuses(run) == {
        "gemm-float32": "crashed",
        "conv1d": "crashed",
        "stft": "wrong-answer",
        "attention": "crashed",
    }
    assert run.outcomes["conv1d"]["note"] == "assert"


def test_what_the_child_said_last_is_told() -> None:
    run = supervise({"conv1d": "words"})
    assert "terminate called after throwing" in run.outcomes["conv1d"]["note"]


def test_noise_on_both_streams_neither_breaks_nor_fills_anything() -> None:
    run = supervise({"conv1d": "noise"})
    assert statuses(run) == dict.fromkeys(NAMES, "passed")


def test_a_death_between_two_kernels_is_nobodys_and_the_rest_goes_on() -> None:
    run = supervise({"conv1d": "die-after"})
    assert statuses(run) == dict.fromkeys(NAMES, "passed")
    assert run.children == 2


@posix
@pytest.mark.parametrize("stage", ["import-torch", "device-context"])
@pytest.mark.parametrize(("fault", "status"), [("abort", "crashed"), ("refuse", "unsupported")])
def test_without_torch_or_device_the_rest_is_skipped(stage: str, fault: str, status: str) -> None:
    run = supervise({stage: fault})
    assert run.outcomes[stage]["status"] == status
    assert statuses(run) == dict.fromkeys(NAMES, "skipped")
    assert run.outcomes["stft"]["note"] == f"`{stage}` did not pass"
    assert run.outcomes["stft"]["unknown"].subject == Subject(SubjectKind.KERNEL, stage)
    assert run.children == 1


def test_an_interpreter_that_dies_before_it_speaks_is_an_import_that_failed() -> None:
    run = supervise({"hello": "exit"})
    assert run.outcomes["import-torch"]["status"] == "crashed"
    assert statuses(run) == dict.fromkeys(NAMES, "skipped")


@posix
def test_a_device_that_kills_every_child_is_given_up() -> None:
    names = ("gemm-float32", "conv1d", "stft", "attention", "lstm", "gru", "sort", "topk", "snake")
    run = supervise(dict.fromkeys(names, "abort"), names)
    assert run.children == 6
    assert "given up" in run.outcomes["snake"]["note"]
    assert run.outcomes["snake"]["unknown"].subject.kind is SubjectKind.DEVICE


def test_an_interpreter_that_is_not_there_is_an_os_error() -> None:
    with pytest.raises(OSError, match="no-such-python"):
        Supervisor(Path("/no-such-python"), script=STUB).run([Item("stft")])


def test_without_items_the_device_is_opened() -> None:
    assert supervise({}, ()).device["device"] == "cuda:0"


def test_the_cheapest_setting_that_passes_is_found() -> None:
    supervisor = Supervisor(
        Path(sys.executable),
        options={"plant": {"conv1d": "wrong@tf32-off", "gemm-float16": "wrong@cublaslt-off", "attention": "wrong"}},
        script=STUB,
    )
    outcomes = {name: {"status": "wrong-answer"} for name in ("conv1d", "gemm-float16", "attention", "sort")}
    found, children = bisect(supervisor, outcomes, base=(), own=(), backend="cuda")
    assert found == {"conv1d": "tf32-off", "gemm-float16": "cublaslt-off"}
    assert children == 2


def test_what_has_helped_one_is_tried_on_all_the_others() -> None:
    names = [entry.name for entry in kernel_catalogue.ENTRIES.values() if "cudnn-off" in entry.remedies]
    assert len(names) > MOST_KERNELS
    supervisor = Supervisor(
        Path(sys.executable), options={"plant": dict.fromkeys(names, "wrong@cudnn-off")}, script=STUB
    )
    outcomes = {name: {"status": "crashed"} for name in names}
    found, _ = bisect(supervisor, outcomes, base=(), own=(), backend="cuda")
    assert found == dict.fromkeys(names, "cudnn-off")


def _trials(tmp_path: Path, plant: dict[str, str], **options: object) -> Supervisor:
    environment = {"SMOKE_STUB_LOG": str(tmp_path / "log")}
    return Supervisor(
        Path(sys.executable),
        options={"plant": plant},
        environment=environment,
        script=STUB,
        **options,  # type: ignore[arg-type]
    )


def _tried(tmp_path: Path) -> list[list[str]]:
    return [line.split(",") for line in (tmp_path / "log").read_text("utf-8").splitlines()]


def test_what_helps_the_first_of_its_kind_is_tried_before_anything_else_on_the_others(tmp_path: Path) -> None:
    names = ("conv1d", "conv2d", "conv-transpose1d")
    supervisor = _trials(tmp_path, dict.fromkeys(names, "wrong@tf32-off"))
    found, children = bisect(
        supervisor, {name: {"status": "wrong-answer"} for name in names}, base=(), own=(), backend="cuda"
    )
    assert found == dict.fromkeys(names, "tf32-off")
    assert _tried(tmp_path) == [
        ["conv1d@cudnn-off", "conv1d@tf32-off"],
        ["conv2d@tf32-off", "conv-transpose1d@tf32-off"],
    ]
    assert children == 2


def test_kernels_that_hung_are_first_tried_under_what_has_helped_another(tmp_path: Path) -> None:
    plant = {"conv1d": "wrong@cudnn-off", "conv2d": "hang@cudnn-off", "conv-transpose1d": "hang@cudnn-off"}
    outcomes = {"conv2d": "timed-out", "conv-transpose1d": "timed-out", "conv1d": "wrong-answer"}
    found, _ = bisect(
        _trials(tmp_path, plant),
        {name: {"status": status} for name, status in outcomes.items()},
        base=(),
        own=(),
        backend="cuda",
        hasty=lambda _bounded: _trials(tmp_path, plant, longest_s=2.0),
    )
    assert found == dict.fromkeys(plant, "cudnn-off")
    assert _tried(tmp_path)[-1] == ["conv2d@cudnn-off", "conv-transpose1d@cudnn-off"]


@pytest.mark.parametrize(
    ("names", "cured"),
    [(("conv1d", "conv2d", "attention"), ("conv1d", "conv2d")), (("attention", "conv1d", "conv2d"), ())],
)
def test_the_search_for_what_helps_a_hanging_kernel_is_bounded_and_a_cure_reaches_all(
    tmp_path: Path, names: tuple[str, ...], cured: tuple[str, ...]
) -> None:
    plant = {"attention": "hang", "conv1d": "hang@cudnn-off", "conv2d": "hang@cudnn-off"}
    begin = time.monotonic()
    found, _ = bisect(
        _trials(tmp_path, plant),
        {name: {"status": "timed-out"} for name in names},
        base=(),
        own=(),
        backend="cuda",
        hasty=lambda bounded: _trials(
            tmp_path, plant, longest_s=2.0, deadline=time.monotonic() + 3 if bounded else math.inf
        ),
    )
    # Where one that nothing helps comes first, it uses up the time of all; nobody waits three times two seconds.
    assert found == dict.fromkeys(cured, "cudnn-off")
    assert time.monotonic() - begin < 30


def test_a_kernel_never_waits_longer_than_its_supervisor_allows() -> None:
    begin = time.monotonic()
    run = supervise({"stft": "hang"}, longest_s=1.0)
    assert run.outcomes["stft"]["status"] == "timed-out"
    assert time.monotonic() - begin < 30


def test_first_calls_on_cuda_tell_how_long_another_may_take() -> None:
    quick = Run(device={"backend": "cuda"}, first_calls=[0.1] * 8)
    assert quick.usual_s == 30.0
    assert Run(device={"backend": "cuda"}, first_calls=[0.1] * 7 + [4.0]).usual_s == 80.0
    assert Run(device={"backend": "cuda"}, first_calls=[0.1] * 7).usual_s == math.inf
    assert Run(device={"backend": "zluda"}, first_calls=[0.1] * 20).usual_s == math.inf
    hung = Run(device={"backend": "cuda"}, first_calls=[0.1] * 8, lost=["conv1d"])
    hung.outcomes["conv1d"] = {"status": "timed-out"}
    assert hung.usual_s == 15.0


def _with_first_remedy(remedy: str) -> list[str]:
    return [entry.name for entry in kernel_catalogue.ENTRIES.values() if entry.remedies[:1] == (remedy,)]


def test_two_that_hang_speak_for_all_with_the_same_remedy_and_its_cure_is_tried_on_these() -> None:
    alike = _with_first_remedy("cudnn-off")
    names = ("gemm-float32", *alike, "sort")
    plant = dict.fromkeys(alike, "hang@cudnn-off")
    run = supervise(plant, names, timeout_scale=0.02)
    assert run.hung == run.lost == alike[:2]
    assert (run.outcomes["gemm-float32"]["status"], run.outcomes["sort"]["status"]) == ("passed", "passed")
    assert {run.outcomes[name]["status"] for name in alike[2:]} == {"skipped"}
    assert f"hung before it ({alike[0]}, {alike[1]})" in run.outcomes[alike[2]]["note"]
    supervisor = Supervisor(Path(sys.executable), options={"plant": plant}, script=STUB)
    outcomes = {name: run.outcomes[name] for name in names}
    found, _ = bisect(supervisor, outcomes, base=(), own=(), backend="cuda")
    assert found == dict.fromkeys(alike, "cudnn-off")


@posix
def test_a_kind_is_given_up_under_the_settings_of_a_profile_too_and_other_kinds_run() -> None:
    names = (*_with_first_remedy("cudnn-off")[:5], "stft", "sort")
    supervisor = Supervisor(Path(sys.executable), options={"plant": dict.fromkeys(names[:5], "abort")}, script=STUB)
    run = supervisor.run([Item(name, ("math-only",)) for name in names])
    ended = [run.outcomes[f"{name}@math-only"]["status"] for name in names]
    assert ended == ["crashed"] * 3 + ["skipped"] * 2 + ["passed"] * 2


def test_kernels_that_were_asked_for_by_name_run_though_others_of_their_kind_hang() -> None:
    names = _with_first_remedy("cudnn-off")[:3]
    supervisor = Supervisor(
        Path(sys.executable), options={"plant": dict.fromkeys(names, "hang")}, script=STUB, timeout_scale=0.02
    )
    assert supervisor.run([Item(name, force=True) for name in names]).hung == names


def test_all_of_it_ends_at_its_time_limit_and_nobody_is_blamed() -> None:
    begin = time.monotonic()
    run = supervise({"stft": "hang"}, deadline=begin + 4)
    assert {run.outcomes[name]["status"] for name in ("gemm-float32", "conv1d")} == {"passed"}
    for name in ("stft", "attention"):
        assert (run.outcomes[name]["status"], run.outcomes[name]["note"]) == ("skipped", OUT_OF_TIME)
        assert run.outcomes[name]["unknown"].kind is UnknownKind.NOT_RUN
    assert time.monotonic() - begin < 60


def test_a_setting_in_use_is_not_tried_again(tmp_path: Path) -> None:
    log = tmp_path / "log"
    supervisor = Supervisor(
        Path(sys.executable),
        options={"plant": {"attention": "wrong"}},
        environment={"SMOKE_STUB_LOG": str(log)},
        script=STUB,
    )
    bisect(supervisor, {"attention": {"status": "crashed"}}, base=("flash-off",), own=("math-only",), backend="zluda")
    assert log.read_text("utf-8") == "attention@flash-off@efficient-off\n"


@posix
def test_what_has_helped_is_tried_on_kernels_that_were_given_up_too() -> None:
    names = tuple(entry.name for entry in kernel_catalogue.ENTRIES.values() if "cudnn-off" in entry.remedies)
    plant = dict.fromkeys(names, "abort@cudnn-off")
    run = supervise(plant, names)
    assert sum(outcome["status"] == "skipped" for outcome in run.outcomes.values()) == len(names) - 3
    assert "3 of its kind crashed before it" in run.outcomes[names[-1]]["note"]
    supervisor = Supervisor(Path(sys.executable), options={"plant": plant}, script=STUB)
    outcomes = {name: run.outcomes[name] for name in names}
    found, _ = bisect(supervisor, outcomes, base=(), own=(), backend="cuda")
    assert found == dict.fromkeys(names, "cudnn-off")
