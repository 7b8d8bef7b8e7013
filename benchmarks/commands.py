"""What takes no index: the start of each verb, a hook on an unchanged repository, environments."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from benchmarks.environments import make_environment
from benchmarks.inputs import Input
from benchmarks.measuring import Cost, Costs, run
from benchmarks.resolving import Bench
from benchmarks.tools import environment

__all__ = ["SIZES", "Timed", "environments", "hook", "starts"]

Timed = dict[str, Costs]
"""Runs by what was run."""
SIZES = (50, 250, 1000)
"""Distributions in an environment."""
_OURS = (sys.executable, "-m", "envdoctor")
_VERBS = ("check", "explain", "lock", "repair", "fix", "undo", "run", "smoke", "host", "compare", "profiles", "rule")


def starts(root: Path, rounds: int) -> Timed:
    """Return what it takes to begin: an interpreter, help and versions, the help of each verb."""
    commands = {"python -c pass": [sys.executable, "-c", "pass"]}
    words = (["--version"], ["--help"], ["profiles", "list"], *([verb, "--help"] for verb in _VERBS))
    commands |= {f"envdoctor {' '.join(word)}": [*_OURS, *word] for word in words}
    return _in_turn(root, commands, rounds)


def hook(bench: Bench, inputs: Iterable[Input], rounds: int) -> Timed:
    """Return what the check of locked, unchanged projects takes, offline, as a hook runs it."""
    commands: dict[str, list[str]] = {}
    for what in inputs:
        cache = bench.root / "cache" / "hook" / what.name
        bench.once("envdoctor", what, cache)
        folder = bench.root / "work" / f"{what.name}.envdoctor" / "envdoctor"
        command = [*_OURS, "check", str(folder), "--profile", str(folder / "bench.toml"), "--index-url", bench.index]
        command += ["--cache-dir", str(cache), "--offline", "-q"]
        commands[f"check --offline of {what.name}, locked"] = command
    return _in_turn(bench.root, commands, rounds)


def environments(root: Path, rounds: int, tools: Path) -> Timed:
    """Return what the check of environments of growing size takes, beside pip's and uv's."""
    commands: dict[str, list[str]] = {}
    for size in SIZES:
        python = make_environment(root / "environments" / str(size), size)
        commands[f"envdoctor check --env, {size}"] = [*_OURS, "check", "--env", str(python.parent.parent), "-q"]
        commands[f"pip check, {size}"] = [str(python), "-m", "pip", "check"]
        commands[f"uv pip check, {size}"] = [str(tools / "uv"), "pip", "check", "-q", "--python", str(python)]
    return _in_turn(root, commands, rounds)


def _in_turn(root: Path, commands: dict[str, list[str]], rounds: int) -> Timed:
    """Run each once unseen, then all of them in turn."""
    found: Timed = {name: Costs() for name in commands}
    for turn in range(rounds + 1):
        for name, command in commands.items():
            cost = _once(root, command)
            if turn:
                found[name].append(cost)
    return found


def _once(root: Path, command: list[str]) -> Cost:
    return run(command, environment(root), root / "logs" / "command.txt", 60.0)
