"""RESULTS.md: one run's figures, with the machine, the versions and the ratios."""

from __future__ import annotations

import math
import os
import platform
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.commands import SIZES, Timed
from benchmarks.inputs import CONFLICTS, INPUTS, REQUIREMENTS, Input
from benchmarks.resolving import Row

__all__ = ["Run", "slope", "text_of"]


@dataclass(frozen=True, slots=True)
class Run:
    """Everything of one run."""

    rows: Sequence[Row]
    frozen: Mapping[str, int]
    missed: int
    starts: Timed
    hook: Timed
    environments: Timed
    rounds: int
    remarks: str
    """What a person wrote about earlier figures, kept as it is."""


def slope(points: Iterable[tuple[float, float]]) -> float:
    """Return the exponent of the power that fits best: 1 where twice as much takes twice as long."""
    logs = [(math.log(x), math.log(y)) for x, y in points]
    mean_x, mean_y = (sum(values) / len(logs) for values in zip(*logs, strict=True))
    return sum((x - mean_x) * (y - mean_y) for x, y in logs) / sum((x - mean_x) ** 2 for x, _ in logs)


def text_of(run: Run, tools: Path) -> str:
    """Return the page."""
    return "\n".join(
        [
            "# Results",
            "",
            "Written by `python -m benchmarks`; see [README.md](README.md) for what is measured and how.",
            "",
            *_machine(run, tools),
            *_resolving(run, "Stacks that hold together: `lock`", "stack"),
            *_resolving(run, "Large inputs: `lock`", "large"),
            *_resolving(
                run, "Conflicts: envdoctor's `check` finds all and repairs; the others stop at the first", "conflict"
            ),
            *_growth(run, "Requirements", REQUIREMENTS),
            *_growth(run, "Conflicts", CONFLICTS),
            *_environments(run),
            *_commands("Start, CPU beyond a bare interpreter", run.starts, bare="python -c pass"),
            *_commands("Hook on an unchanged repository", run.hook),
            run.remarks.strip(),
            "",
        ]
    )


def _machine(run: Run, tools: Path) -> Iterator[str]:
    cpu = next(
        (line.partition(":")[2].strip() for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
         if line.startswith("model name")),
        platform.machine(),
    )  # fmt: skip
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    versions = [_version(str(tools / "uv"), "--version"), _version(str(tools / "nab"), "--version")]
    versions += [_version(str(tools / "python"), "-m", "pip", "--version"), f"Python {platform.python_version()}"]
    yield f"- {cpu}, {os.cpu_count()} cores, {memory:.0f} GB; {platform.system()} {platform.release()}"
    yield f"- {', '.join(versions)}; {run.rounds} rounds in turn, medians; pip once"
    yield f"- load when written: {', '.join(f'{load:.1f}' for load in os.getloadavg())}"
    yield f"- frozen index: {', '.join(f'{count:,} {name}' for name, count in run.frozen.items())}"
    if run.missed:
        yield f"- {run.missed} files were asked for that had not been recorded: `python -m benchmarks record` again"
    yield ""


def _version(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return " ".join(done.stdout.split()[:2]) or Path(command[0]).name


def _resolving(run: Run, title: str, kind: str) -> Iterator[str]:
    names = [what.name for what in INPUTS if what.kind == kind]
    yield f"## {title}"
    yield ""
    yield "| input | tool | cold wall s | CPU s | x uv | MB | warm wall s | CPU s | x uv | MB | versions |"
    yield "|---|---|---|---|---|---|---|---|---|---|---|"
    for name in names:
        found = {(row.tool, row.mode): row for row in run.rows if row.input == name}
        for tool in dict.fromkeys(tool for tool, _ in found):
            cold, warm = found[tool, "cold"], found[tool, "warm"]
            cells = [*_cells(cold, found["uv", "cold"]), *_cells(warm, found["uv", "warm"])]
            code = warm.costs[-1].code
            pins = str(len(warm.pins)) if warm.pins else "stopped" if code is None else f"exit {code}"
            yield f"| {name} | {tool} | {' | '.join(cells)} | {pins} |"
    yield ""
    if kind != "conflict":
        yield from _differences(run, names)


def _cells(row: Row, uv: Row) -> list[str]:
    more = ">" if row.costs.stopped else ""
    ratio = row.costs.cpu / uv.costs.cpu
    return [f"{more}{row.costs.wall:.2f}", f"{row.costs.cpu:.2f}", f"{ratio:.1f}", f"{row.costs.peak:.0f}"]


def _differences(run: Run, names: Sequence[str]) -> Iterator[str]:
    for name in names:
        found = {row.tool: row.pins for row in run.rows if row.input == name and row.mode == "warm"}
        ours, uv = found.get("envdoctor"), found.get("uv")
        if not ours or not uv:
            continue
        other = sorted(package for package in ours.keys() & uv.keys() if ours[package] != uv[package])
        more, less = sorted(ours.keys() - uv.keys()), sorted(uv.keys() - ours.keys())
        if other or more or less:
            told = ", ".join(f"{package} {ours[package]} (uv {uv[package]})" for package in other[:12])
            told += f"{' and more' if len(other) > 12 else ''}"
            yield f"- {name}: other versions than uv of {len(other)}: {told or '-'};"
            yield f"  only here {', '.join(more) or '-'}; only uv {', '.join(less) or '-'}"
    yield ""


def _growth(run: Run, title: str, inputs: Sequence[Input]) -> Iterator[str]:
    tools = list(dict.fromkeys(row.tool for row in run.rows if row.input == inputs[0].name))
    yield f"## Growth: {title.lower()}, warm CPU seconds"
    yield ""
    yield f"| tool | {' | '.join(what.name for what in inputs)} | slope |"
    yield f"|---|{'---|' * (len(inputs) + 1)}"
    for tool in tools:
        costs = [
            row.costs
            for what in inputs
            for row in run.rows
            if (row.input, row.tool, row.mode) == (what.name, tool, "warm")
        ]
        points = [(what.most or 0, cost.cpu) for what, cost in zip(inputs, costs, strict=True) if not cost.stopped]
        cells = [f"{'>' if cost.stopped else ''}{cost.cpu:.2f}" for cost in costs]
        yield f"| {tool} | {' | '.join(cells)} | {slope(points):.2f} |" if len(points) > 1 else f"| {tool} | - |"
    yield ""


def _environments(run: Run) -> Iterator[str]:
    yield "## Growth: distributions of an environment, CPU seconds"
    yield ""
    yield f"| command | {' | '.join(map(str, SIZES))} | slope |"
    yield f"|---|{'---|' * (len(SIZES) + 1)}"
    for command in ("envdoctor check --env", "pip check", "uv pip check"):
        costs = [run.environments[f"{command}, {size}"].cpu for size in SIZES]
        exponent = slope(zip(SIZES, costs, strict=True))
        yield f"| {command} | {' | '.join(f'{cost:.2f}' for cost in costs)} | {exponent:.2f} |"
    yield ""


def _commands(title: str, timed: Timed, bare: str | None = None) -> Iterator[str]:
    yield f"## {title}"
    yield ""
    yield "| command | CPU ms | wall ms | MB |"
    yield "|---|---|---|---|"
    less = timed[bare].cpu if bare else 0.0
    for command, costs in timed.items():
        if command != bare:
            yield f"| `{command}` | {(costs.cpu - less) * 1000:.0f} | {costs.wall * 1000:.0f} | {costs.peak:.0f} |"
    yield ""
