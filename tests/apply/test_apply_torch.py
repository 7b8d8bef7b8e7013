"""`fix` ends with kernels in a real torch: what fails sends a component elsewhere, a later run brings it back."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from apply_archives import as_index, make_wheel, serve
from apply_commands import ARCH, SYSTEM
from apply_world import tree_state

from envdoctor.adapters.smoke.runner import ChildRunner
from envdoctor.cli.main import main
from envdoctor.model.kernel import SmokeOutcome, SmokeRequest

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("quiet_machine")]

_PROFILE = """
schema = 1
[profile]
name = "voice"
summary = "A voice on a card"
[target]
os = "{system}"
arch = "{arch}"
python = "=={python}.*"
backend = "cuda"
[smoke]
kernels = ["gemm-float32", "stft", "conv1d"]
[[placement]]
component = "voice"
needs = ["gemm-float32"]
otherwise = "cpu"
set = {{ file = "serve.py", function = "Voice.__init__", attribute = "self.device" }}
because = "no library for this card"
[[placement]]
component = "spectrum"
needs = ["stft"]
otherwise = "cpu"
set = {{ environment = "SPECTRUM_DEVICE" }}
because = "no FFT for this card"
[[placement]]
component = "decoder"
needs = ["conv1d"]
otherwise = "cpu"
set = {{ file = "serve.py", attribute = "DECODER" }}
"""
_SOURCE = "DECODER = 'cuda'\n\n\nclass Voice:\n    def __init__(self):\n        self.device = 'cuda'  # fast\n"


def ask(python: str, code: str) -> str:
    return subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture(scope="module")
def torch_python() -> str:
    named = os.environ.get("ENVDOCTOR_TORCH_PYTHON")
    if named is None and importlib.util.find_spec("torch") is None:
        pytest.skip("no torch here; name an interpreter that has it in ENVDOCTOR_TORCH_PYTHON")
    return named or sys.executable


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as it:
        yield it


@pytest.fixture
def plant(monkeypatch: pytest.MonkeyPatch) -> Callable[[dict[str, str]], None]:
    """Let a CPU play a card in which the given kernels have the given faults."""
    faults: dict[str, str] = {}
    real = ChildRunner.run

    def run(self: ChildRunner, request: SmokeRequest) -> SmokeOutcome:
        variables = {**request.environment, "ENVDOCTOR_PLANT": "1"}
        return real(self, replace(request, backend="cpu-as:cuda", plant=dict(faults), environment=variables))

    def set_faults(wanted: dict[str, str]) -> None:
        faults.clear()
        faults.update(wanted)

    monkeypatch.setattr(ChildRunner, "run", run)
    return set_faults


def test_a_kernel_that_fails_moves_its_component_and_a_later_run_brings_it_back(
    torch_python: str,
    plant: Callable[[dict[str, str]], None],
    project: Path,
    stack: ExitStack,
    capfd: pytest.CaptureFixture[str],
) -> None:
    version, site = ask(
        torch_python, "import sys, sysconfig; print('%d.%d' % sys.version_info[:2], sysconfig.get_paths()['purelib'])"
    ).split(" ", 1)
    base = ask(torch_python, "import sys; print(sys._base_executable)")
    # A wheel that leads to the torch that is there already: a real torch is half a gigabyte.
    torch = make_wheel("torch", "2.0", {"torch_elsewhere.pth": f"{site}\n"})
    environment = project / ".venv"
    (project / "requirements.txt").write_text("torch\n")
    (project / "serve.py").write_text(_SOURCE)
    (project / "voice.toml").write_text(_PROFILE.format(system=SYSTEM, arch=ARCH, python=version))
    before = tree_state(project)

    index = stack.enter_context(serve(as_index(torch)))

    def fix(*more: str) -> tuple[int, dict[str, object], str]:
        arguments = ["--profile", str(project / "voice.toml"), "--index-url", f"{index.url}simple/"]
        code = main(["fix", str(project), *arguments, "--python", base, "--format", "json", *more])
        out, err = capfd.readouterr()
        return code, json.loads(out), err

    plant({"gemm-float32": "abort", "stft": "wrong"})
    code, report, said = fix("--yes")
    assert (code, report["verdict"]) == (1, "degraded"), said
    kernels = {item["kernel"]: item["status"] for item in report["kernels"]}  # type: ignore[attr-defined]
    assert kernels["gemm-float32"] == "crashed"
    assert kernels["stft"] == "wrong-answer"
    assert kernels["conv1d"] == "passed"
    places = {item["component"]: item for item in report["placement"]}  # type: ignore[attr-defined]
    assert places["voice"]["device"] == "cpu"
    assert "gemm-float32 crashed" in places["voice"]["because"][0]
    assert "`voice` runs on cpu: gemm-float32 crashed" in said
    assert "placed `voice`, `spectrum` by" in said
    assert (project / "serve.py").read_text() == _SOURCE.replace("self.device = 'cuda'", 'self.device = "cpu"')
    record = json.loads((environment / ".envdoctor/environment.json").read_text())
    assert record["moved"] == {name: places[name]["because"] for name in ("voice", "spectrum")}
    assert record["variables"] == {"SPECTRUM_DEVICE": "cpu"}

    # The same again: what was found stands, and nothing is done twice.
    placed = tree_state(project)
    code, report, said = fix("--yes")
    assert (code, report["verdict"]) == (1, "degraded")
    assert "nothing to do" in said
    assert "placed" not in said
    assert tree_state(project) == placed

    # The card has a new driver, in which all but one is well. Nobody agreed to a change yet.
    plant({"stft": "wrong"})
    code, report, said = fix()
    assert code == 1
    assert "`envdoctor fix --yes` sets it anew" in said
    assert tree_state(project) == placed
    smoked = ["smoke", "--env", str(environment), "--profile", str(project / "voice.toml"), "--no-bisect"]
    assert main(smoked) == 1
    assert "note: `voice` was placed elsewhere by a fix, and its kernels pass now" in capfd.readouterr().err
    code, report, said = fix("--yes")
    assert (code, report["verdict"]) == (1, "degraded")
    assert "lifted the placement of `voice` by" in said
    assert (project / "serve.py").read_text() == _SOURCE
    assert json.loads((environment / ".envdoctor/environment.json").read_text())["moved"].keys() == {"spectrum"}
    plant({})
    code, report, said = fix("--yes")
    assert (code, report["verdict"]) == (0, "healthy"), said
    assert json.loads((environment / ".envdoctor/environment.json").read_text())["variables"] == {}

    first = sorted((environment / ".envdoctor/journal").iterdir())[0].name
    assert main(["undo", first, "--env", str(environment)]) == 0
    assert tree_state(project) == before


def test_settings_under_which_alone_kernels_pass_are_set_for_every_program_and_proved_there(
    torch_python: str,
    plant: Callable[[dict[str, str]], None],
    project: Path,
    stack: ExitStack,
    capfd: pytest.CaptureFixture[str],
) -> None:
    version, site = ask(
        torch_python, "import sys, sysconfig; print('%d.%d' % sys.version_info[:2], sysconfig.get_paths()['purelib'])"
    ).split(" ", 1)
    torch = make_wheel("torch", "2.0", {"torch_elsewhere.pth": f"{site}\n"})
    environment = project / ".venv"
    (project / "requirements.txt").write_text("torch\n")
    (project / "serve.py").write_text(_SOURCE)
    profile = _PROFILE.format(system=SYSTEM, arch=ARCH, python=version)
    profile = profile.replace("[smoke]\n", '[environment]\nOMP_NUM_THREADS = "2"\n[smoke]\nsettings = ["math-only"]\n')
    (project / "voice.toml").write_text(profile)
    before = tree_state(project)
    index = stack.enter_context(serve(as_index(torch)))
    named = ["--profile", str(project / "voice.toml")]
    base = ask(torch_python, "import sys; print(sys._base_executable)")
    arguments = [str(project), *named, "--index-url", f"{index.url}simple/", "--python", base]
    assert main(["fix", *arguments, "--dry-run"]) == 0
    plan = capfd.readouterr().out
    assert "set at each start of this environment's Python, once torch is imported: math-only, OMP_NUM_THREADS" in plan
    assert tree_state(project) == before

    plant({"conv1d": "abort@cudnn-off"})
    assert main(["fix", *arguments, "--yes", "--format", "json"]) == 0
    out, said = capfd.readouterr()
    assert "`cudnn-off` set at each start by" in said
    report = json.loads(out)
    assert {item["kernel"]: item["status"] for item in report["kernels"]}["conv1d"] == "passed"
    facts = {fact["name"]: fact["value"] for fact in report["facts"]}
    assert facts["smoke.settings"] == ["math-only", "cudnn-off"]
    code = "import torch, os; print(torch.backends.cudnn.enabled, torch.backends.cuda.flash_sdp_enabled(), os.environ"
    python = str(environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))
    assert ask(python, f"{code}['OMP_NUM_THREADS'])") == "False False 2"
    record = json.loads((environment / ".envdoctor/environment.json").read_text())
    assert (record["settings"], record["found_settings"]) == (["math-only", "cudnn-off"], ["cudnn-off"])

    assert main(["fix", *arguments, "--yes"]) == 0
    assert "nothing to do" in capfd.readouterr().err
    hook = next(environment.rglob("_envdoctor_settings.pth"))
    main(["check", "--env", str(environment)])  # Of the rest of that torch nothing is known here.
    assert "ENV016" not in capfd.readouterr().out
    hook.unlink()
    main(["check", "--env", str(environment)])
    assert "kernels pass with `math-only`, `cudnn-off`, which nothing in" in " ".join(capfd.readouterr().out.split())
    assert main(["fix", *arguments, "--yes", "--no-smoke"]) == 0
    assert hook.is_file()
    first = sorted((environment / ".envdoctor/journal").iterdir())[0].name
    assert main(["undo", first, "--env", str(environment)]) == 0
    assert tree_state(project) == before
