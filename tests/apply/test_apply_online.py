"""The judge of a fix: a real project, the real index, with uv and with pip alone."""

from __future__ import annotations

import math
import os
import shutil
import struct
import subprocess
import sys
import wave
from pathlib import Path

import pytest
from apply_world import BASE, UV, python_in, tree_state

pytestmark = [
    pytest.mark.online,
    pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="the project is for Python 3.11"),
]

_DECODE = """
import sys, av, faster_whisper
samples = faster_whisper.decode_audio(sys.argv[1], sampling_rate=16000)
print(av.__version__.split(".")[0], len(samples), float(abs(samples).max()))
"""
_PROFILE = """
schema = 1
[profile]
name = "whisper-linux"
summary = "faster-whisper on Linux"
[target]
os = "linux"
arch = "x86_64"
python = ">=3.11,<3.12"
backend = "cpu"
[[override]]
requirement = "av>=12"
replaces = "faster-whisper"
because = "av 11 has no wheel and needs FFmpeg headers"
[environment]
PYTHONUTF8 = "1"
"""


def quiet_path(tmp_path: Path, *, uv: bool, tools: tuple[str, ...] = ("sh", "env")) -> str:
    """Return a PATH without compilers; with uv or without."""
    folder = tmp_path / ("with-uv" if uv else "without-uv")
    folder.mkdir()
    for name in (*tools, *(["uv"] if uv else [])):
        source = UV if name == "uv" else shutil.which(name)
        if source:
            (folder / name).symlink_to(source)
    return str(folder)


def envdoctor(*arguments: str, path: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PATH": path, "NO_COLOR": "1"}
    environment.pop("UV", None)
    return subprocess.run(
        [sys.executable, "-m", "envdoctor", *arguments],
        env=environment, cwd=cwd, capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip


def write_tone(path: Path) -> None:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16000)
        values = (int(12000 * math.sin(2 * math.pi * 440 * n / 16000)) for n in range(16000))
        file.writeframes(b"".join(struct.pack("<h", value) for value in values))


@pytest.mark.parametrize("profile", [True, False], ids=["profile", "no-profile"])
@pytest.mark.parametrize("uv", [True, False], ids=["uv", "pip"])
def test_faster_whisper_is_fixed_without_a_compiler_and_taken_back(tmp_path: Path, uv: bool, profile: bool) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "requirements.txt").write_text("faster-whisper==1.0.1\n", encoding="utf-8")
    (project / "profile.toml").write_text(_PROFILE, encoding="utf-8")
    write_tone(project / "tone.wav")
    environment = project / ".venv"
    subprocess.run([BASE, "-m", "venv", str(environment)], check=True)
    python = str(python_in(environment))
    subprocess.run([python, "-m", "pip", "install", "-q", "six", "tqdm==4.66.0", "numpy==1.26.0"], check=True)
    before = tree_state(environment)
    path = quiet_path(tmp_path, uv=uv)
    options = ["--profile", "profile.toml"] if profile else ["--target-python", "3.11"]
    done = envdoctor("fix", ".", *options, "--yes", "--no-smoke", path=path, cwd=project)
    assert done.returncode == 0, done.stderr
    answer = envdoctor("run", "--", "python", "-c", _DECODE, "tone.wav", path=path, cwd=project)
    assert answer.returncode == 0, answer.stderr
    major, count, peak = answer.stdout.split()
    assert int(major) >= 12
    assert abs(int(count) - 16000) < 400
    assert 0.3 < float(peak) < 0.4
    assert "faster-whisper" in done.stderr  # pip's own complaint about av is explained, not hidden.
    undone = envdoctor("undo", path=path, cwd=project)
    assert undone.returncode == 0, undone.stderr
    after = tree_state(environment)
    assert {
        name: (before.get(name), after.get(name)) for name in {*before, *after} if before.get(name) != after.get(name)
    } == {}
