"""A process that carries out a plan, or brings a whole state back, and may be killed on the way."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from apply_world import UV, World, full_plan

from envdoctor.adapters.apply import planted_faults
from envdoctor.adapters.apply.executor import apply_plan
from envdoctor.adapters.apply.holding import hold_environment
from envdoctor.adapters.apply.installers import Uv
from envdoctor.adapters.apply.restore import recover
from envdoctor.adapters.index.download import IndexFetch
from envdoctor.ports import SilentProgress


def main() -> int:
    verb, root, url, created = sys.argv[1], Path(sys.argv[2]), sys.argv[3], sys.argv[4] == "created"
    world = World(root)
    with hold_environment(world.environment, wait_s=30, say=sys.stderr.write) as held:
        if verb == "recover":
            done = recover(world.environment, world.project)
            problems = [problem for _, restored in done for problem in restored.problems]
            sys.stdout.write(json.dumps({"points": planted_faults.passed(), "problems": problems}) + "\n")
            return 0
        plan = full_plan(world, url, created=created)
        applied = apply_plan(plan, held, Uv(UV), IndexFetch([]), SilentProgress())
    sys.stdout.write(
        json.dumps({"points": planted_faults.passed(), "failure": applied.failure, "journal": applied.journal}) + "\n"
    )
    return 1 if applied.failure else 0


if __name__ == "__main__":
    sys.exit(main())
