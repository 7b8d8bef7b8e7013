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

    def once(self, tool: str, what: Input, cache: Path) -> tuple[Cost, dict[str, str]]:
        """Run a tool on an input once with this cache."""
        work = self.root / "work" / f"{what.name}.{tool}"
        call = call_of(tool, what, self.index, cache, self.tools, work)
        log = self.root / "logs" / f"{what.name}.{tool}.txt"
        log.parent.mkdir(parents=True, exist_ok=True)
        cost = run(call.command, environment(self.root), log, self.limit)
        return cost, pins_in(call.output)

    def cold(self, tool: str, what: Input) -> tuple[Cost, dict[str, str]]:
        """Run it with an empty cache."""
        cache = self.root / "cache" / "cold"
        shutil.rmtree(cache, ignore_errors=True)
        cache.mkdir(parents=True)
        return self.once(tool, what, cache)

    def warm(self, tool: str, what: Input) -> tuple[Cost, dict[str, str]]:
        """Run it with the cache of an earlier run of the same command, whose pages are fresh."""
        cache = self.root / "cache" / tool / what.name
        filled = cache / ".filled"
        if not filled.exists() or time.time() - filled.stat().st_mtime > _REFILL:
            shutil.rmtree(cache, ignore_errors=True)
            cache.mkdir(parents=True)
            first = self.once(tool, what, cache)
            if first[0].code is None:
                return first
            filled.touch()
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
