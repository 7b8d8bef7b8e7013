"""``envdoctor smoke`` as it is typed: which interpreter and kernels it takes, and what it says of mistakes."""

from __future__ import annotations

import json
import os
import sys
import venv
from pathlib import Path

import pytest

from envdoctor.adapters.smoke import kernel_catalogue
from envdoctor.adapters.smoke.runner import ChildRunner
from envdoctor.cli.main import main
from envdoctor.model.fact import Fact, FactState
from envdoctor.model.kernel import KernelResult, KernelStatus, SmokeOutcome, SmokeRequest


class Asked:
    """What the runner was given, in place of a real child."""

    interpreter: Path
    request: SmokeRequest


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Asked:
    seen = Asked()

    def run(runner: ChildRunner, request: SmokeRequest) -> SmokeOutcome:
        seen.interpreter, seen.request = runner._interpreter, request
        for name in request.kernels:
            runner._finished(name, "passed")
        results = tuple(KernelResult(name, "cuda:0", KernelStatus.PASSED) for name in request.kernels)
        return SmokeOutcome(results, (Fact("smoke.backend", FactState.KNOWN, "cuda", source="smoke child"),))

    monkeypatch.setattr(ChildRunner, "run", run)
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    monkeypatch.delenv("CONDA_PREFIX", raising=False)
    monkeypatch.chdir(tmp_path)
    return seen


def made(folder: Path) -> Path:
    venv.create(folder, with_pip=False, symlinks=os.name == "posix")
    return folder


def test_everything_runs_on_what_torch_offers_unless_said_otherwise(asked: Asked) -> None:
    assert main(["smoke", "--quiet"]) == 0
    assert asked.request.kernels == kernel_catalogue.names()
    assert asked.request.backend == "auto"
    assert asked.request.bisect


def test_options_reach_the_runner(asked: Asked, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--backend", "cuda", "-k", "stft", "--kernel", "sort", "--all-devices", "--no-bisect"]
    assert main(["smoke", "--python", sys.executable, *words, "--timeout-scale", "2", "--format", "json"]) == 0
    assert asked.request.kernels == ("stft", "sort")
    assert asked.request.forced == {"stft", "sort"}
    assert (asked.request.backend, asked.request.all_devices, asked.request.bisect) == ("cuda", True, False)
    assert asked.request.timeout_scale == 2.0
    document = json.loads(capsys.readouterr().out)
    assert document["command"] == "smoke"
    assert document["target"]["backend"] == "cuda"
    assert [item["kernel"] for item in document["kernels"]] == ["stft", "sort"]


def test_a_profile_names_kernels_backend_and_settings(asked: Asked) -> None:
    assert main(["smoke", "--profile", "xtts-zluda", "--quiet"]) == 0
    assert asked.request.backend == "zluda"
    assert set(asked.request.kernels) < set(kernel_catalogue.names())


def test_the_interpreter_is_the_one_typed_then_the_active_then_the_one_on_the_path(
    asked: Asked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    typed, active = made(tmp_path / "typed"), made(tmp_path / "active")
    monkeypatch.setenv("VIRTUAL_ENV", str(active))
    main(["smoke", "--env", str(typed), "-k", "sort", "--quiet"])
    assert asked.interpreter.is_relative_to(typed)
    main(["smoke", "-k", "sort", "--quiet"])
    assert asked.interpreter.is_relative_to(active)
    monkeypatch.delenv("VIRTUAL_ENV")
    scripts = asked.interpreter.parent
    monkeypatch.setenv("PATH", str(scripts))
    main(["smoke", "-k", "sort", "--quiet"])
    assert asked.interpreter.parent == scripts
    monkeypatch.setenv("PATH", str(tmp_path))
    main(["smoke", "-k", "sort", "--quiet"])
    assert asked.interpreter == Path(sys.executable)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--kernel", "gem-float32"], "no kernel `gem-float32`; did you mean `gemm-float32`"),
        (["--kernel", "qqqq"], "`envdoctor smoke --list` names them"),
        (["--backend", "cuada"], "no backend `cuada`; did you mean `cuda`?"),
        (["--backend", "qqqq"], "there are auto, "),
        (["--env", "nowhere"], "`nowhere` does not exist"),
        (["--env", ".", "--python", sys.executable], "exclude each other"),
        (["--profile", "xtts-zluba"], "xtts-zluda"),
    ],
)
def test_a_mistake_is_one_message_and_exit_code_2(
    asked: Asked, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    assert main(["smoke", *words]) == 2
    assert said in capsys.readouterr().err


def test_a_folder_of_packages_has_nothing_to_start(
    asked: Asked, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "six-1.16.0.dist-info").mkdir()
    assert main(["smoke", "--env", str(tmp_path)]) == 2
    assert "has no Python that can be started here" in capsys.readouterr().err


def test_the_list_has_every_kernel_and_runs_nothing(asked: Asked, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["smoke", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(kernel_catalogue.names())
    assert not hasattr(asked, "request")


def test_an_environment_without_torch_is_a_clear_finding(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    environment = made(tmp_path / "empty")
    assert main(["smoke", "--env", str(environment), "-k", "sort", "-k", "stft", "--format", "json"]) == 1
    document = json.loads(capsys.readouterr().out)
    (finding,) = document["findings"]
    assert (finding["rule"], document["verdict"]) == ("GPU006", "broken")
    assert finding["message"] == "torch is not in the environment: ModuleNotFoundError: No module named 'torch'"
    assert {item["status"] for item in document["kernels"]} == {"unsupported", "skipped"}


@pytest.mark.skipif(os.name != "posix", reason="a file without an interpreter in it is another error on Windows")
def test_an_interpreter_that_does_not_start_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = tmp_path / "python"
    broken.write_bytes(b"\x7fELF nothing")
    broken.chmod(0o755)
    assert main(["smoke", "--python", str(broken), "-k", "sort"]) == 2
    assert "does not start" in capsys.readouterr().err


def test_a_profile_that_names_a_kernel_workload_or_setting_that_is_none_is_not_valid(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["profiles", "new", "my-stack"]) == 0
    text = capsys.readouterr().out
    good, bad = tmp_path / "my-stack.toml", tmp_path / "bad.toml"
    good.write_text(text, encoding="utf-8")
    assert main(["profiles", "validate", str(good)]) == 0
    lines = text.partition("[smoke]")[0].splitlines()
    lines += ["[smoke]", 'kernels = ["stft", "gem-float32"]', 'workloads = ["xtts-gtp"]', 'settings = ["cudnn-of"]']
    lines += ["[[placement]]", 'component = "a"', 'needs = ["stfft"]', 'because = "b"']
    bad.write_text("\n".join(lines).replace('"my-stack"', '"bad"'), encoding="utf-8")
    capsys.readouterr()
    assert main(["profiles", "validate", str(bad)]) == 2
    said = capsys.readouterr().err
    line = lines.index("[smoke]") + 2
    assert f"{bad}:{line}: `smoke.kernels[1]`: there is no kernel `gem-float32`; did you mean `gemm-float32`?" in said
    assert f"{bad}:{line + 1}: `smoke.workloads[0]`: there is no workload `xtts-gtp`; did you mean `xtts-gpt`?" in said
    assert f"{bad}:{line + 2}: `smoke.settings[0]`: there is no setting `cudnn-of`; did you mean `cudnn-off`?" in said
    assert "`placement[0].needs[0]`: there is no kernel `stfft`; did you mean `stft`?" in said


def test_the_shipped_profiles_are_valid(capsys: pytest.CaptureFixture[str]) -> None:
    files = sorted((Path(__file__).parents[2] / "profiles").glob("*.toml"))
    assert main(["profiles", "validate", *map(str, files)]) == 0


@pytest.mark.parametrize("factor", ["nan", "inf", "1e400", "0", "-1"])
def test_a_time_factor_that_is_no_number_is_a_mistake(
    factor: str, asked: Asked, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["smoke", "--kernel", "stft", "--timeout-scale", factor]) == 2
    assert "--timeout-scale" in capsys.readouterr().err
    assert not hasattr(asked, "request")


def test_unknown_is_no_backend_to_ask_for(asked: Asked, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["smoke", "--backend", "unknown"]) == 2
    assert "no backend `unknown`" in capsys.readouterr().err
