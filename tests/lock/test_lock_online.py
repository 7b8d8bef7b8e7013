"""What uv and the newest pip make of our files, on the real index: for this machine, and for three others."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name

from envdoctor.cli.main import main
from envdoctor.lock.pylock_reader import parse_lock
from envdoctor.verbs.target_choice import host_target

pytestmark = pytest.mark.online

UV = shutil.which("uv") or str(Path(sys.executable).with_name("uv.exe" if os.name == "nt" else "uv"))
PYTHON = f"{sys.version_info[0]}.{sys.version_info[1]}"
TARGETS = {
    "linux-x86_64": ("linux", "x86_64", "x86_64-manylinux_2_28"),
    "windows-x86_64": ("windows", "x86_64", "x86_64-pc-windows-msvc"),
    "macos-arm64": ("macos", "arm64", "aarch64-apple-darwin"),
    "linux-aarch64": ("linux", "aarch64", "aarch64-manylinux_2_28"),
}
# Compiled and pure packages, markers, an extra, and a dependency that Windows alone has.
PROJECT = "cffi>=1.16\npyyaml\nrequests[socks]<3\ntqdm\n"
CLASH = "requests==2.28.0\nurllib3==2.2.0\n"


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the newest pip; return its interpreter."""
    folder = tmp_path_factory.mktemp("tools") / "env"
    subprocess.run([UV, "venv", "--no-config", "-q", "--python", sys.executable, str(folder)], check=True)
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    subprocess.run([UV, "pip", "install", "--no-config", "-q", "--python", str(python), "pip>=25.1"], check=True)
    return python


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tmp_path_factory.mktemp("cache"))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "requirements.txt").write_text(PROJECT, encoding="utf-8")
    return tmp_path


def locked(project: Path, name: str, cache: str) -> dict[str, str]:
    """Lock for a target and return what was locked."""
    os_, arch, _ = TARGETS[name]
    target = ["--target-os", os_, "--target-arch", arch, "--target-python", PYTHON]
    assert main(["lock", str(project), *target, "--cache-dir", cache, "--quiet"]) == 0
    lock = parse_lock((project / "pylock.toml").read_text(encoding="utf-8"), "pylock.toml")
    return {str(key): str(version) for key, version in lock.versions.items()}


def run(*argv: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*map(str, argv)], capture_output=True, text=True, encoding="utf-8", check=False)


def planned(text: str) -> dict[str, str]:
    """Return what uv says that it would install."""
    lines = (line.strip().removeprefix("+ ") for line in text.splitlines() if line.startswith(" + "))
    return {name: version for name, _, version in (line.partition("==") for line in lines)}


def reported(report: Path) -> dict[str, str]:
    """Return what pip says that it would install."""
    found = [item["metadata"] for item in json.loads(report.read_text(encoding="utf-8"))["install"]]
    return {canonicalize_name(item["name"]): item["version"] for item in found}


@pytest.mark.parametrize("name", TARGETS)
def test_uv_installs_what_is_locked_for_every_target(project: Path, environment: Path, cache: str, name: str) -> None:
    versions = locked(project, name, cache)
    assert ("colorama" in versions) is name.startswith("windows")
    platform = ["--python-platform", TARGETS[name][2], "--python-version", PYTHON]
    options = ["--no-config", "--dry-run", "--python", environment, *platform]
    sync = run(UV, "pip", "sync", *options, project / "pylock.toml")
    assert sync.returncode == 0, sync.stderr
    assert planned(sync.stderr) == versions
    install = run(UV, "pip", "install", *options, "-r", project / "pylock.toml")
    assert install.returncode == 0, install.stderr
    assert planned(install.stderr) == versions


@pytest.mark.parametrize("name", TARGETS)
def test_pip_installs_a_lock_of_this_machine_and_refuses_those_of_others(
    project: Path, environment: Path, cache: str, tmp_path: Path, name: str
) -> None:
    versions = locked(project, name, cache)
    report = tmp_path / "report.json"
    pip = [environment, "-m", "pip", "install", "--dry-run", "--no-deps", "--report", report, "-q"]
    done = run(*pip, "-r", project / "pylock.toml")
    host = host_target()
    if name != f"{host.os.value}-{host.arch.value}":
        assert done.returncode != 0
        assert "does not satisfy any of the environments specified in the lock file" in done.stderr
        return
    assert done.returncode == 0, done.stderr
    found = {
        item["metadata"]["name"]: item["metadata"]["version"] for item in json.loads(report.read_text())["install"]
    }
    assert {key.lower().replace("_", "-"): version for key, version in found.items()} == versions


def test_pip_takes_the_constraints(project: Path, environment: Path, cache: str, tmp_path: Path) -> None:
    host = host_target()
    name = f"{host.os.value}-{host.arch.value}"
    if name not in TARGETS:
        pytest.skip("no target of the list is this machine")
    versions = locked(project, name, cache)
    report = tmp_path / "report.json"
    pip = [environment, "-m", "pip", "install", "--dry-run", "--report", report, "-q"]
    done = run(*pip, "-r", project / "requirements.txt", "-c", project / "constraints.project.txt")
    assert done.returncode == 0, done.stderr
    found = {
        item["metadata"]["name"]: item["metadata"]["version"] for item in json.loads(report.read_text())["install"]
    }
    assert {key.lower().replace("_", "-"): version for key, version in found.items()} == versions


def test_uv_takes_the_overrides_of_requirements_that_clash(project: Path, cache: str) -> None:
    (project / "requirements.txt").write_text(CLASH, encoding="utf-8")
    versions = locked(project, "linux-x86_64", cache)
    uv = [UV, "pip", "compile", "--no-config", "-q", "--no-header", "--no-annotate", "--python-version", PYTHON]
    assert run(*uv, project / "requirements.txt").returncode != 0
    overrides = ["--overrides", project / "overrides.project.txt", "-c", project / "constraints.project.txt"]
    done = run(*uv, *overrides, project / "requirements.txt")
    assert done.returncode == 0, done.stderr
    found = [line.partition("==") for line in done.stdout.splitlines() if line]
    assert {name: version for name, _, version in found} == versions
