"""Real environments, made of real wheels, that have nothing wrong with them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from envdoctor.adapters.probe.environment import read_environment
from envdoctor.model.finding import Severity

pytestmark = pytest.mark.online

SETS = {
    "numeric": ("numpy", "jupyter-client"),
    "audio": ("librosa",),
    "inference": ("onnxruntime", "tokenizers", "huggingface-hub"),
    "server": ("fastapi", "uvicorn[standard]", "httpx[http2]"),
}


@pytest.mark.parametrize("name", SETS)
def test_a_healthy_environment_gives_no_warning(name, tmp_path, diagnose, clean):
    folder = tmp_path / name
    uv = Path(sys.executable).with_name("uv")
    uv_program = str(uv) if uv.exists() else shutil.which("uv")
    if uv_program is None:
        pytest.skip("uv is not here to make the environment with")
    subprocess.run([uv_program, "venv", "-q", "--python", sys.executable, str(folder)], check=True, timeout=120)
    install = [uv_program, "pip", "install", "-q", "--python", str(folder / "bin" / "python"), *SETS[name]]
    subprocess.run(install, check=True, timeout=600, env={**os.environ, "UV_LINK_MODE": "copy"})
    environment = read_environment(folder, files=True, environ=clean)
    assert environment.source == "probe"
    assert len(environment.distributions) > 3
    assert [finding for finding in diagnose(environment) if finding.severity is not Severity.INFO] == []
