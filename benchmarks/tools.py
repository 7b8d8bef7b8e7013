"""The command of each tool for each input, and the tools themselves in an environment of their own."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

from benchmarks.inputs import Input, requirements_of

__all__ = ["TOOLS", "Call", "call_of", "environment", "install_tools", "pins_in"]

TOOLS = ("uv", "nab", "envdoctor", "pip")
_FOR_TARGET = Path(__file__).with_name("pip_for_target.py")


@dataclass(frozen=True, slots=True)
class Call:
    """A command and the file that it writes its versions to."""

    command: list[str]
    output: Path


def install_tools(root: Path) -> Path:
    """Return the folder with uv, nab, pip and a Python; make it where it is not there."""
    folder = root / "tools"
    scripts = folder / "bin"
    if not (scripts / "nab").exists():
        venv.create(folder, with_pip=True)
        install = [str(scripts / "python"), "-m", "pip", "install", "-q", "--upgrade"]
        subprocess.run([*install, "pip", "uv", "nab"], check=True)
    return scripts


def environment(root: Path) -> dict[str, str]:
    """Return the variables of every run: nothing of this machine's configuration."""
    home = root / "home"
    home.mkdir(parents=True, exist_ok=True)
    return {
        "PATH": "/usr/bin:/bin", "HOME": str(home), "LANG": "C.UTF-8", "NO_COLOR": "1",
        "PIP_CONFIG_FILE": "/dev/null", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1",
        "PYTHONPATH": str(Path(__file__).resolve().parents[1] / "src"),
    }  # fmt: skip


def call_of(tool: str, what: Input, index: str, cache: Path, tools: Path, work: Path) -> Call:
    """Write the tool's files of an input and return its command; what an earlier run wrote is removed."""
    work.mkdir(parents=True, exist_ok=True)
    for old in work.glob("out.*"):
        old.unlink()
    lines = requirements_of(what)
    (work / "requirements.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return {"uv": _uv, "nab": _nab, "pip": _pip, "envdoctor": _envdoctor}[tool](what, index, cache, tools, work)


def _uv(what: Input, index: str, cache: Path, tools: Path, work: Path) -> Call:
    out = work / "out.uv"
    return Call(
        [
            str(tools / "uv"), "pip", "compile", str(work / "requirements.txt"), "--no-config", "--no-progress", "-q",
            "--no-header", "--no-annotate", "--only-binary", ":all:", "--index-url", index, "--cache-dir", str(cache),
            "--python", str(tools / "python"), "--python-platform", what.machine.uv,
            "--python-version", what.machine.python, "-o", str(out),
        ],
        out,
    )  # fmt: skip


def _nab(what: Input, index: str, cache: Path, tools: Path, work: Path) -> Call:
    folder, out = work / "nab", work / "out.nab"
    folder.mkdir(exist_ok=True)
    python = what.machine.python
    after = f"3.{int(python.partition('.')[2]) + 1}"
    text = f"""[project]
name = "benchmark"
version = "0"
requires-python = ">={python},<{after}"
dependencies = {json.dumps(requirements_of(what))}
[tool.nab]
dist-policy = "wheel-only"
[tool.nab.environment]
python = "{python}"
platform = {what.machine.nab}
[[tool.nab.indexes]]
name = "frozen"
url = "{index}"
"""
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")
    form = ["--format", "requirements-without-hashes", "--cache-dir", str(cache), "--output", str(out)]
    return Call([str(tools / "nab"), "-q", "--no-progress", "lock", *form, str(folder / "pyproject.toml")], out)


def _pip(what: Input, index: str, cache: Path, tools: Path, work: Path) -> Call:
    out = work / "out.pip"
    machine = what.machine
    marks = work / "markers.json"
    marks.write_text(json.dumps(dict(machine.markers)), encoding="utf-8")
    command = [
        str(tools / "python"), str(_FOR_TARGET), str(marks), machine.python, "install", "-q", "--dry-run",
        "--ignore-installed", "--report", str(out), "-r", str(work / "requirements.txt"), "--index-url", index,
        "--cache-dir", str(cache), "--only-binary", ":all:", "--python-version", machine.python,
        "--target", str(work / "nowhere"),
    ]  # fmt: skip
    return Call([*command, *(word for platform in machine.pip for word in ("--platform", platform))], out)


def _envdoctor(what: Input, index: str, cache: Path, _tools: Path, work: Path) -> Call:
    folder = work / "envdoctor"
    folder.mkdir(exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    lines = (work / "requirements.txt").read_text(encoding="utf-8")
    (folder / "requirements.txt").write_text(f"--only-binary :all:\n{lines}", encoding="utf-8")
    machine = what.machine
    profile = folder / "bench.toml"
    profile.write_text(
        'schema = 1\n[profile]\nname = "bench"\nsummary = "a target and nothing else"\n'
        f'[target]\nos = "{machine.os}"\narch = "{machine.arch}"\npython = "=={machine.python}.*"\nbackend = "cpu"\n',
        encoding="utf-8",
    )
    verb = "check" if what.kind == "conflict" else "lock"
    command = [
        sys.executable, "-m", "envdoctor", verb, str(folder), "--profile", str(profile), "--index-url", index,
        "--cache-dir", str(cache), "--format", "json", "-o", str(work / "out.envdoctor.json"), "-q",
    ]  # fmt: skip
    out = folder / "constraints.bench.txt" if verb == "lock" else work / "out.envdoctor.json"
    return Call(command, out)


def pins_in(output: Path) -> dict[str, str]:
    """Return the versions that a tool wrote down; nothing where it wrote none."""
    try:
        text = output.read_text(encoding="utf-8")
    except OSError:
        return {}
    if output.name == "out.pip":
        found = [entry["metadata"] for entry in json.loads(text)["install"]]
        return {_plain(entry["name"]): entry["version"] for entry in found}
    if output.suffix == ".json":
        return {}
    pairs = re.findall(r"^([A-Za-z0-9][\w.-]*)(?:\[[^\]]*\])?==(\S+)", text, re.MULTILINE)
    return {_plain(name): version for name, version in pairs}


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
