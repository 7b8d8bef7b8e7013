"""Locks that pip, uv, PDM and nab make of the real index, read and judged for two systems."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from envdoctor.cli.main import main

pytestmark = [
    pytest.mark.online,
    # Each of the tools, and pip's `lock` above all, was tried on one of these.
    pytest.mark.skipif(sys.platform != "linux", reason="the locks are judged as made on Linux"),
]

UV = shutil.which("uv") or str(Path(sys.executable).with_name("uv"))
# Compiled and pure packages, an extra, and a dependency that Windows alone has.
REQUIREMENTS = ["cffi>=1.16", "requests[socks]<3", "tqdm"]
# In two environments, since nab and PDM want different releases of `installer`; the newest PDM, and the newest release
# of what it fetches with, do not work together.
TOOLS = {"pip": ("pip>=25.1", "nab==0.0.23"), "pdm": ("pdm==2.26.2", "unearth==0.17.5")}


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the tools; return the folder of their environments."""
    folder = tmp_path_factory.mktemp("tools")
    for name, tools in TOOLS.items():
        subprocess.run([UV, "venv", "--no-config", "-q", "--python", sys.executable, str(folder / name)], check=True)
        python = str(folder / name / "bin" / "python")
        subprocess.run([UV, "pip", "install", "--no-config", "-q", "--python", python, *tools], check=True)
    return folder


def lock_of_pip(tools: Path, project: Path) -> str:
    run(project, tools / "pip" / "bin" / "pip", "lock", "-q", *REQUIREMENTS, "-o", "pylock.toml")
    return "pylock.toml"


def lock_of_uv(_tools: Path, project: Path) -> str:
    run(project, UV, "lock", "-q", "--no-config")
    return "uv.lock"


def export_of_uv(tools: Path, project: Path) -> str:
    lock_of_uv(tools, project)
    run(project, UV, "export", "-q", "--no-config", "--format", "pylock.toml", "-o", "pylock.toml")
    return "pylock.toml"


def lock_of_pdm(tools: Path, project: Path) -> str:
    run(project, tools / "pdm" / "bin" / "pdm", "lock", "-q")
    return "pdm.lock"


def lock_of_nab(tools: Path, project: Path) -> str:
    run(project, tools / "pip" / "bin" / "nab", "lock", "-q", "pyproject.toml")
    return "pylock.toml"


def run(project: Path, *command: str | Path) -> None:
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PDM_", "UV_"))}
    done = subprocess.run(
        [*map(str, command)], cwd=project, env=environment, capture_output=True, text=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("make", "elsewhere"),
    [
        (lock_of_pip, ["RES019", "RES019"]),
        (lock_of_uv, []),
        (export_of_uv, []),
        (lock_of_pdm, []),
        (lock_of_nab, ["RES019"]),
    ],
)
def test_a_lock_of_another_tool_is_read_and_judged(
    make: Callable[[Path, Path], str],
    elsewhere: list[str],
    tools: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    text = f'[project]\nname = "demo"\nversion = "1"\nrequires-python = ">=3.10"\ndependencies = {REQUIREMENTS}\n'
    (project / "pyproject.toml").write_text(text, encoding="utf-8")
    lock = (tmp_path / make(tools, project)).name
    alone = tmp_path / "alone"
    alone.mkdir()
    (project / lock).rename(alone / lock)
    for system, rules in (("linux", []), ("windows", elsewhere)):
        python = f"{sys.version_info[0]}.{sys.version_info[1]}"
        target = ["--target-os", system, "--target-arch", "x86_64", "--target-python", python]
        code = main(["check", str(alone), *target, "--format", "json"])
        document = json.loads(capsys.readouterr().out)
        assert [each["rule"] for each in document["findings"]] == rules, system
        assert code == (1 if rules else 0)
        names = {each["name"] for each in document["resolution"]["packages"]}
        assert {"cffi", "pysocks", "requests", "tqdm"} <= names
        assert ("colorama" in names) is (system == "windows")
