"""Real environments, made of real wheels, that have nothing wrong with them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from envdoctor.cli.main import main

pytestmark = pytest.mark.online

SETS = {
    "numeric": ("numpy", "jupyter-client"),
    "audio": ("librosa",),
    "inference": ("onnxruntime", "tokenizers", "huggingface-hub"),
    "models": ("transformers", "datasets"),
    "tables": ("pandas", "pyarrow", "scikit-learn"),
    "pictures": ("opencv-python-headless", "pillow", "matplotlib"),
    "speech": ("faster-whisper", "soundfile"),
    "interface": ("gradio",),
    "language": ("spacy",),
    "server": ("fastapi", "uvicorn[standard]", "httpx[http2]"),
}


@pytest.mark.parametrize("name", SETS)
def test_a_healthy_environment_gives_no_warning(name, tmp_path, capsys, monkeypatch):
    folder = tmp_path / name
    uv = Path(sys.executable).with_name("uv")
    uv_program = str(uv) if uv.exists() else shutil.which("uv")
    if uv_program is None:
        pytest.skip("uv is not here to make the environment with")
    subprocess.run([uv_program, "venv", "-q", "--python", sys.executable, str(folder)], check=True, timeout=120)
    install = [uv_program, "pip", "install", "-q", "--python", str(folder / "bin" / "python"), *SETS[name]]
    subprocess.run(install, check=True, timeout=600, env={**os.environ, "UV_LINK_MODE": "copy"})
    for variable in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"):
        monkeypatch.delenv(variable, raising=False)
    code = main(["check", "--env", str(folder), "--format", "json"])
    report = json.loads(capsys.readouterr().out)
    assert [(item["rule"], item["message"]) for item in report["findings"] if item["severity"] != "info"] == []
    assert (code, report["verdict"], report["complete"]) == (0, "healthy", True)
