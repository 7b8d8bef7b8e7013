"""Measure envdoctor beside uv, pip and nab on one frozen index.

    python -m benchmarks [record|run|all] [--scratch DIR] [--rounds N] [--only INPUT ...] [--tools uv,nab,envdoctor,pip]

``record`` asks the index that pip is configured for, once, for the pages and metadata that the tools want, and keeps
them; never a wheel. ``run`` serves these bytes with nginx on loopback and measures.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from benchmarks.inputs import INPUTS
from benchmarks.recorder import recording
from benchmarks.resolving import Bench, rows_of
from benchmarks.site import NoServer, freeze, missed, serve
from benchmarks.tools import TOOLS, install_tools


def record(root: Path, chosen: list, tools: list[str], scripts: Path) -> None:
    """Let every tool resolve everything through the recorder, so that what it asks for is there later."""
    with recording(root) as index:
        bench = Bench(root, scripts, index, limit=600)
        for what in chosen:
            for tool in tools:
                cost, pins = bench.cold(tool, what)
                print(f"recorded for {tool} on {what.name}: exit {cost.code}, {len(pins)} versions", flush=True)


def main() -> int:
    """Record, run, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", default="all", choices=("record", "run", "all"))
    parser.add_argument("--scratch", type=Path, default=Path(tempfile.gettempdir()) / "envdoctor-benchmarks")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--tools", default=",".join(TOOLS))
    parser.add_argument("--port", type=int, default=8900)
    parser.add_argument("--nginx", default="nginx")
    options = parser.parse_args()
    root = options.scratch.resolve()
    root.mkdir(parents=True, exist_ok=True)
    scripts = install_tools(root)
    tools = options.tools.split(",")
    chosen = [what for what in INPUTS if not options.only or what.name in options.only]
    if options.what in ("record", "all"):
        record(root, chosen, [tool for tool in tools if tool != "pip"], scripts)
        print(freeze(root, options.port))
    if options.what == "record":
        return 0
    try:
        with serve(root, options.port, options.nginx) as index:
            rows_of(Bench(root, scripts, index), chosen, tools, options.rounds, root / "runs.jsonl")
            for place in missed(root):
                print("not recorded:", place)
    except NoServer as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
