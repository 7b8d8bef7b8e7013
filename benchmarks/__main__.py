"""Measure envdoctor beside uv, pip and nab on one frozen index, and write RESULTS.md.

    python -m benchmarks [record|run|all] [--scratch DIR] [--rounds N] [--only INPUT ...] [--tools uv,nab,envdoctor,pip]

``record`` asks the index that pip is configured for, once, for the pages and metadata that the tools want, and keeps
them; never a wheel. ``run`` serves these bytes with nginx on loopback and measures; without ``--only`` it writes
benchmarks/RESULTS.md.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.commands import environments, hook, starts
from benchmarks.inputs import CONFLICTS, INPUTS, REQUIREMENTS, Input
from benchmarks.recorder import recording
from benchmarks.resolving import Bench, rows_of
from benchmarks.results import Run, text_of
from benchmarks.site import NoServer, freeze, missed, serve
from benchmarks.tools import TOOLS, install_tools

RESULTS = Path(__file__).with_name("RESULTS.md")
REMARKS = "## What is not met, and why"


def record(root: Path, chosen: Sequence[Input], tools: Sequence[str], scripts: Path) -> None:
    """Let every tool resolve everything through the recorder, so that what it asks for is there later."""
    with recording(root) as index:
        bench = Bench(root, scripts, index, 600, 600)
        for what in chosen:
            for tool in tools:
                cost, pins = bench.cold(tool, what)
                print(f"recorded for {tool} on {what.name}: exit {cost.code}, {len(pins)} versions", flush=True)


def measure(root: Path, scripts: Path, index: str, options: argparse.Namespace) -> None:
    """Run everything and write the results; only some inputs are shown and not written."""
    bench = Bench(root, scripts, index, options.limit, options.pip_limit)
    tools = options.tools.split(",")
    seen = root / "runs.jsonl"
    seen.unlink(missing_ok=True)
    rows = rows_of(bench, _chosen(INPUTS, options.only), tools, options.rounds, seen)
    quick = [tool for tool in tools if tool in ("uv", "envdoctor")]
    growing = _chosen((*REQUIREMENTS, *CONFLICTS), options.only)
    rows += rows_of(bench, growing, quick, options.rounds, seen, ("warm",))
    if options.only:
        return
    written = RESULTS.read_text(encoding="utf-8") if RESULTS.exists() else ""
    run = Run(
        rows=rows,
        frozen=json.loads((root / "frozen.json").read_text(encoding="utf-8")),
        missed=len(missed(root)),
        starts=starts(root, options.rounds),
        hook=hook(bench, _chosen((*INPUTS, *REQUIREMENTS), ("kokoro", "requirements-8")), options.rounds),
        environments=environments(root, options.rounds, scripts),
        rounds=options.rounds,
        remarks=written[written.find(REMARKS) :] if REMARKS in written else "",
    )
    RESULTS.write_text(text_of(run, scripts), encoding="utf-8")
    print(f"wrote {RESULTS}")


def _chosen(inputs: Sequence[Input], names: Sequence[str]) -> list[Input]:
    return [what for what in inputs if not names or what.name in names]


def main() -> int:
    """Record, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", default="all", choices=("record", "run", "all"))
    parser.add_argument("--scratch", type=Path, default=Path(tempfile.gettempdir()) / "envdoctor-benchmarks")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="*", default=[], metavar="INPUT")
    parser.add_argument("--tools", default=",".join(TOOLS))
    parser.add_argument("--limit", type=float, default=60.0, help="seconds after which a run is stopped")
    parser.add_argument("--pip-limit", type=float, default=30.0, help="the same for pip, which runs once")
    parser.add_argument("--port", type=int, default=8900)
    parser.add_argument("--nginx", default="nginx", help="the server, where it is not on the path")
    options = parser.parse_args()
    root = options.scratch.resolve()
    root.mkdir(parents=True, exist_ok=True)
    scripts = install_tools(root)
    if options.what != "run":
        tools = [tool for tool in options.tools.split(",") if tool != "pip"]
        record(root, _chosen((*INPUTS, *REQUIREMENTS, *CONFLICTS), options.only), tools, scripts)
        told = freeze(root, options.port)
        (root / "frozen.json").write_text(json.dumps(told), encoding="utf-8")
        print(told)
    if options.what == "record":
        return 0
    try:
        with serve(root, options.port, options.nginx) as index:
            measure(root, scripts, index, options)
            for place in missed(root):
                print("not recorded:", place)
    except NoServer as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
