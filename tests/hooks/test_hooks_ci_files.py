"""The manifest, the action and the CI examples: against the published schemas, and against the command line."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from envdoctor.cli.main import main
from envdoctor.profile.catalogue import catalogue

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "ci"
HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
ON_COMMIT = [hook for hook in HOOKS if "stages" not in hook]


def tool(module: str, *arguments: str) -> None:
    pytest.importorskip(module, reason=f"needs {module} (the test group brings it)")
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def steps_of_examples() -> list[tuple[str, dict[str, Any]]]:
    found = []
    for name in ("github.yml", "matrix.yml"):
        jobs = yaml.safe_load((EXAMPLES / name).read_text(encoding="utf-8"))["jobs"]
        found += [(name, step) for job in jobs.values() for step in job["steps"]]
    return found


@pytest.mark.parametrize(
    ("schema", "file", "options"),
    [
        ("github-actions", "action.yml", ()),
        ("github-workflows", "examples/ci/github.yml", ()),
        ("github-workflows", "examples/ci/matrix.yml", ()),
        ("github-workflows", ".github/workflows/systems.yml", ()),
        ("gitlab-ci", "examples/ci/gitlab-ci.yml", ("--data-transform", "gitlab-ci")),
    ],
)
def test_hooks_ci_files_are_valid(schema: str, file: str, options: tuple[str, ...]) -> None:
    tool("check_jsonschema", "--builtin-schema", f"vendor.{schema}", *options, str(ROOT / file))


def test_hooks_manifest_and_example_are_valid_for_pre_commit() -> None:
    tool("pre_commit", "validate-manifest", str(ROOT / ".pre-commit-hooks.yaml"))
    tool("pre_commit", "validate-config", str(EXAMPLES / "pre-commit-config.yaml"))


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook["id"])
def test_hooks_entries_are_commands_that_exist(hook: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    program, verb, *options = shlex.split(hook["entry"])
    assert program == "envdoctor"
    assert main([verb, "--help"]) == 0
    said = capsys.readouterr().out
    assert all(option in said for option in options if option.startswith("--"))


@pytest.mark.parametrize("hook", ON_COMMIT, ids=lambda hook: hook["id"])
def test_hooks_on_a_commit_ask_no_index(hook: dict[str, Any]) -> None:
    assert "--offline" in hook["entry"]


@pytest.mark.parametrize(
    "path",
    [
        "requirements.txt",
        "requirements-dev.in",
        "requirements/base.txt",
        "server/requirements.txt",
        "constraints.xtts-zluda.txt",
        "overrides.xtts-zluda.txt",
        "pyproject.toml",
        "setup.cfg",
        "setup.py",
        "environment.yml",
        "environment-gpu.yaml",
        "pylock.toml",
        "pylock.xtts-zluda.toml",
        "mine.envdoctor.toml",
    ],
)
def test_hooks_run_for(path: str) -> None:
    assert all(re.search(hook["files"], path) for hook in ON_COMMIT)


@pytest.mark.parametrize(
    "path", ["README.md", "src/main.py", "docs/requirements.md", "notpyproject.toml", "requirements/notes.md"]
)
def test_hooks_do_not_run_for(path: str) -> None:
    assert not any(re.search(hook["files"], path) for hook in ON_COMMIT)


def test_hooks_examples_name_hooks_inputs_and_profiles_that_exist() -> None:
    profiles = {profile.name for profile in catalogue()}
    inputs = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["inputs"]
    (repository,) = yaml.safe_load((EXAMPLES / "pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    assert {hook["id"] for hook in repository["hooks"]} == {hook["id"] for hook in HOOKS}
    for _, step in steps_of_examples():
        if "envdoctor" in step["uses"]:
            assert set(step["with"]) <= set(inputs)
    matrix = yaml.safe_load((EXAMPLES / "matrix.yml").read_text(encoding="utf-8"))["jobs"]["envdoctor"]["strategy"]
    gitlab = yaml.safe_load((EXAMPLES / "gitlab-ci.yml").read_text(encoding="utf-8"))["envdoctor"]["parallel"]
    named = {row["profile"] for row in matrix["matrix"]["include"] if "profile" in row}
    named |= {name for row in gitlab["matrix"] for name in row["PROFILE"]}
    assert named <= profiles
