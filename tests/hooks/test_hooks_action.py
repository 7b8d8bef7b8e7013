"""The shell of action.yml, run as a runner would, on the example project with its recorded index."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS = {step["id"]: step for step in ACTION["runs"]["steps"] if "id" in step}
EXPRESSION = re.compile(r"\$\{\{\s*([\w.-]+)\s*\}\}")
SHELL = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c"]

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")


@dataclass
class Ran:
    code: int
    log: str
    outputs: dict[str, str]
    summary: str


@dataclass
class Runner:
    """What a step sees: a workspace, files for outputs and the summary, and variables in place of expressions."""

    workspace: Path
    temporary: Path

    def step(self, identifier: str, python: str = sys.executable, **values: str) -> Ran:
        """Run a step; ``values`` are inputs (with ``_`` for ``-``), the rest have their defaults."""
        known = {f"inputs.{name}": entry.get("default", "") for name, entry in ACTION["inputs"].items()}
        known |= {f"inputs.{name.replace('_', '-')}": value for name, value in values.items()}
        known["github.action_path"] = str(ROOT)
        known["steps.install.outputs.program"] = str(Path(sys.executable).with_name("envdoctor"))
        known["steps.python.outputs.python-path"] = python
        outputs, summary = self.temporary / "outputs", self.temporary / "summary"
        for file in (outputs, summary):
            file.write_text("", encoding="utf-8")
        step = STEPS[identifier]
        given = {name: EXPRESSION.sub(lambda found: known[found[1]], text) for name, text in step["env"].items()}
        environment = {
            **os.environ,
            **given,
            "GITHUB_WORKSPACE": str(self.workspace),
            "GITHUB_OUTPUT": str(outputs),
            "GITHUB_STEP_SUMMARY": str(summary),
            "RUNNER_TEMP": str(self.temporary),
            "ENVDOCTOR_INDEX_RECORDED": str(ROOT / "examples" / "song-maker" / "recorded-index"),
        }
        done = subprocess.run(
            [*SHELL, step["run"]],
            cwd=self.workspace,
            env=environment,
            capture_output=True,
            encoding="utf-8",
            timeout=300,
            check=False,
        )
        rows = (line.partition("=") for line in outputs.read_text(encoding="utf-8").splitlines())
        written = {name: value for name, _, value in rows}
        return Ran(done.returncode, done.stdout + done.stderr, written, summary.read_text(encoding="utf-8"))


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    workspace, temporary = tmp_path / "workspace", tmp_path / "temporary"
    (workspace / "songs").mkdir(parents=True)
    temporary.mkdir()
    for name in ("requirements.txt", "generate.py"):
        shutil.copyfile(ROOT / "examples" / "song-maker" / name, workspace / "songs" / name)
    return Runner(workspace, temporary)


def test_hooks_action_passes_inputs_as_variables_only() -> None:
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step.get("run", "")
        for text in step.get("env", {}).values():
            assert EXPRESSION.fullmatch(text)


def test_hooks_action_annotates_summarises_and_writes_sarif(runner: Runner) -> None:
    ran = runner.step("check", project="songs", profile="diffrhythm2-directml")
    assert ran.code == 1
    assert ran.outputs == {"exit-code": "1", "sarif-file": "envdoctor.sarif"}
    assert "::error file=songs/requirements.txt,line=2,title=RES001" in ran.log
    assert "### Conflicts" in ran.summary
    (result, *_) = json.loads((runner.workspace / "envdoctor.sarif").read_text(encoding="utf-8"))["runs"][0]["results"]
    assert result["fixes"][0]["artifactChanges"][0]["artifactLocation"]["uri"] == "songs/requirements.txt"
    location = result["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"] == "songs/requirements.txt"
    assert location["region"]["startLine"] == 2


def test_hooks_action_fails_on_what_it_is_told_to(runner: Runner) -> None:
    ran = runner.step(
        "check", project="songs", profile="diffrhythm2-directml", fail_on="never", annotations="false", summary="false"
    )
    assert (ran.code, ran.summary) == (0, "")
    assert "::error" not in ran.log


def test_hooks_action_writes_one_more_format(runner: Runner) -> None:
    runner.step("check", project="songs", profile="diffrhythm2-directml", format="json", output="report.json")
    report = json.loads((runner.workspace / "report.json").read_text(encoding="utf-8"))
    assert report["schema"] == "envdoctor.report/1"
    assert [conflict["id"] for conflict in report["conflicts"]] == ["C1", "C2"]


def test_hooks_action_ends_with_the_message_of_a_usage_fault(runner: Runner) -> None:
    (runner.workspace / "envdoctor.sarif").write_text("left by an earlier run", encoding="utf-8")
    ran = runner.step("check", project="songs", profile="xtts-zulda")
    assert ran.code == 2
    assert ran.outputs == {"exit-code": "2"}
    assert "xtts-zluda" in ran.log
    assert ran.summary == ""


@pytest.mark.parametrize(
    "value", ["$(touch pwned)", "`touch pwned`", "x; touch pwned", '" && touch pwned && "', "-o=x"]
)
def test_hooks_action_does_not_run_what_stands_in_an_input(runner: Runner, value: str) -> None:
    names = ("project", "profile", "target_os", "target_arch", "target_python", "fail_on")
    assert runner.step("check", **dict.fromkeys(names, value)).code == 2
    assert not (runner.workspace / "pwned").exists()
    assert not (runner.workspace / "x").exists()


@pytest.mark.skipif(os.name == "nt", reason="CreateProcess starts no shell script")
@pytest.mark.parametrize("version", ["", "0.1.0"])
def test_hooks_action_takes_a_release_by_the_name_of_the_distribution(runner: Runner, version: str) -> None:
    """An interpreter that makes environments of a recording pip stands in for the runner's."""
    python = runner.temporary / "python"
    lines = ["#!/bin/sh", 'if [ "$2" = venv ]; then mkdir -p "$3/bin" && cp "$0" "$3/bin/python"; else echo "$@"; fi']
    python.write_text("\n".join(lines), encoding="utf-8")
    python.chmod(0o755)
    ran = runner.step("install", python=str(python), version=version)
    assert ran.code == 0, ran.log
    name = re.search('^name = "(.+)"', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    assert name is not None
    assert ran.log.split()[-1] == (f"{name[1]}=={version}" if version else str(ROOT))


@pytest.mark.online
def test_hooks_action_installs_envdoctor_apart_from_the_job(runner: Runner) -> None:
    ran = runner.step("install")
    assert ran.code == 0, ran.log
    done = subprocess.run([ran.outputs["program"], "--version"], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("envdoctor ")
