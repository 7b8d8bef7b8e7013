"""The start-up hook: what kernels passed with is set once a program of the environment imports torch."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path

import pytest

from envdoctor.adapters.smoke.startup_hook import carried, hook_files, settings_in_force, variables_of

_TORCH = """
import os
SEEN = os.environ.get("DISABLE_ADDMM_CUDA_LT")
float32 = float16 = bfloat16 = None
class _Cuda:
    flash = math = mem_efficient = True
    class matmul: allow_tf32 = True
class backends:
    class cudnn: enabled = True
    cuda = _Cuda
for _kind in ("flash", "math", "mem_efficient"):
    setattr(_Cuda, "enable_" + _kind + "_sdp", staticmethod(lambda value, kind=_kind: setattr(_Cuda, kind, value)))
    setattr(_Cuda, _kind + "_sdp_enabled", staticmethod(lambda kind=_kind: getattr(_Cuda, kind)))
"""
_ASK = """
import torch
cuda = torch.backends.cuda
print([torch.backends.cudnn.enabled, cuda.flash, cuda.mem_efficient, cuda.math, torch.SEEN])
"""
_SETTINGS = ("cudnn-off", "math-only", "cublaslt-off")


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A site folder with a torch that remembers its switches."""
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "torch.py").write_text(_TORCH, "utf-8")
    return folder


def write(site: Path, settings: Sequence[str], **variables: str) -> None:
    for path, text in hook_files(settings, {**variables_of(settings), **variables}).items():
        (site / path).parent.mkdir(exist_ok=True)
        (site / path).write_text(text, "utf-8")


def start(site: Path, code: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Start a Python that takes the folder for a site-packages folder, .pth files included."""
    begin = f"import site; site.addsitedir({str(site)!r})\n"
    environment = {**os.environ, **variables}
    environment.pop("PYTHONPATH", None)
    return subprocess.run(
        [sys.executable, "-c", begin + textwrap.dedent(code)],
        capture_output=True, text=True, check=False, env=environment,
    )  # fmt: skip


def test_a_program_finds_the_switches_as_the_kernels_had_them(site: Path) -> None:
    assert start(site, _ASK).stdout == "[True, True, True, True, None]\n"
    write(site, _SETTINGS)
    done = start(site, _ASK)
    assert (done.stdout, done.stderr) == ("[False, False, False, True, '1']\n", "")
    assert settings_in_force([str(site)]) == _SETTINGS


def test_what_the_program_sets_itself_counts_for_more(site: Path) -> None:
    write(site, _SETTINGS)
    assert start(site, _ASK, DISABLE_ADDMM_CUDA_LT="0").stdout.endswith("'0']\n")
    assert start(site, "import torch; torch.backends.cudnn.enabled = True" + _ASK).stdout.startswith("[True, False")


def test_to_look_for_torch_imports_nothing(site: Path) -> None:
    write(site, _SETTINGS)
    code = """
        import sys, os, importlib.util
        assert importlib.util.find_spec("torch").origin.endswith("torch.py")
        print("torch" in sys.modules, "_envdoctor_settings.backend_settings" in sys.modules, "json" in sys.modules)
        print("DISABLE_ADDMM_CUDA_LT" in os.environ)
        import importlib, torch
        importlib.reload(torch)
        print(torch.backends.cudnn.enabled, sys.modules["_envdoctor_settings"].APPLIED)
    """
    seen = start(site, code).stdout.splitlines()
    assert seen[0].startswith("False False")
    assert seen[1] == "False"
    assert seen[2].startswith("False ['cudnn-off', 'math-only', 'cublaslt-off'")


def test_a_torch_that_is_not_there_or_breaks_says_so_itself(site: Path) -> None:
    write(site, _SETTINGS)
    (site / "torch.py").write_text("raise OSError('libcudart')\n", "utf-8")
    assert start(site, "import torch").stderr.endswith("OSError: libcudart\n")
    (site / "torch.py").unlink()
    assert "ModuleNotFoundError: No module named 'torch'" in start(site, "import torch").stderr


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"settings": 7}'])
def test_a_damaged_hook_keeps_no_program_from_starting(site: Path, text: str) -> None:
    write(site, _SETTINGS)
    (site / "_envdoctor_settings" / "chosen.json").write_text(text, "utf-8")
    done = start(site, _ASK)
    assert (done.returncode, done.stdout[:6]) == (0, "[True,")
    assert settings_in_force([str(site)]) == ()


def test_the_files_are_told_as_they_are_written() -> None:
    files = hook_files(("cudnn-off",), {"B": "2", "A": "1"})
    assert json.loads(files["_envdoctor_settings/chosen.json"]) == {
        "settings": ["cudnn-off"],
        "variables": {"A": "1", "B": "2"},
    }
    assert carried(("math-only", "dtype-float32", "autocast-off", "math-only")) == ("math-only",)
