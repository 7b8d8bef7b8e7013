"""All tools on all inputs, in turn, cold and warm."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.inputs import Input
from benchmarks.measuring import Cost, Costs, run
from benchmarks.tools import call_of, environment, pins_in

__all__ = ["Bench", "Row", "rows_of"]

_FILLED = ".filled"
_REFILL = 420.0
"""Seconds after which a warm cache is filled anew, before its pages stop being fresh."""


@dataclass(frozen=True, slots=True)
class Row:
    """One tool on one input, cold or warm."""

    input: str
    tool: str
    mode: str
    costs: Costs
    pins: dict[str, str]


@dataclass(slots=True)
class Bench:
    """Where runs take place."""

    root: Path
    tools: Path
    index: str
    limit: float = 120.0
    """Seconds after which a run is stopped."""
    pip_limit: float = 120.0

    def once(self, tool: str, what: Input, cache: Path) -> tuple[Cost, dict[str, str]]:
        """Run a tool on an input once with this cache."""
        work = self.root / "work" / f"{what.name}.{tool}"
        call = call_of(tool, what, self.index, cache, self.tools, work)
        log = self.root / "logs" / f"{what.name}.{tool}.txt"
        log.parent.mkdir(parents=True, exist_ok=True)
        cost = run(call.command, environment(self.root), log, self.pip_limit if tool == "pip" else self.limit)
        return cost, pins_in(call.output)

    def cold(self, tool: str, what: Input) -> tuple[Cost, dict[str, str]]:
        """Run it with an empty cache, which is a filled one from then on."""
        cache = self.root / "cache" / tool / what.name
        shutil.rmtree(cache, ignore_errors=True)
        cache.mkdir(parents=True)
        found = self.once(tool, what, cache)
        if found[0].code is not None:
            (cache / _FILLED).touch()
        return found

    def warm(self, tool: str, what: Input) -> tuple[Cost, dict[str, str]]:
        """Run it with the cache of an earlier run of the same command, whose pages are fresh."""
        cache = self.root / "cache" / tool / what.name
        filled = cache / _FILLED
        if not filled.exists() or time.time() - filled.stat().st_mtime > _REFILL:
            first = self.cold(tool, what)
            if first[0].code is None:
                return first
        return self.once(tool, what, cache)


def rows_of(
    bench: Bench,
    inputs: Iterable[Input],
    tools: Iterable[str],
    rounds: int,
    seen: Path,
    modes: Sequence[str] = ("cold", "warm"),
) -> list[Row]:
    """Run everything, the tools in turn; pip once, for it is the slowest by far. Every run goes to ``seen`` as well."""
    found: list[Row] = []
    tools = tuple(tools)
    with seen.open("a", encoding="utf-8") as lines:
        for what in inputs:
            for mode in modes:
                rows = {tool: Row(what.name, tool, mode, Costs(), {}) for tool in tools}
                for row in found:
                    # What met the time limit cold is not waited for once more.
                    if row.input == what.name and row.costs.stopped:
                        rows[row.tool].costs.extend(row.costs)
                for turn in range(rounds):
                    for tool, row in rows.items():
                        if (turn and tool == "pip") or row.costs.stopped:
                            continue  # what met the time limit once is not waited for again
                        cost, pins = (bench.cold if mode == "cold" else bench.warm)(tool, what)
                        row.costs.append(cost)
                        row.pins.update(pins)
                        lines.write(json.dumps({"input": what.name, "tool": tool, "mode": mode, **asdict(cost)}) + "\n")
                found += rows.values()
                for row in rows.values():
                    print(
                        f"{row.input:22} {row.tool:10} {row.mode:5} {row.costs.wall:7.2f} s {row.costs.cpu:7.2f} s CPU"
                        f" {row.costs.peak:5.0f} MB  exit {row.costs[-1].code}, {len(row.pins)} versions",
                        flush=True,
                    )
    return found
