"""What cannot hold together for a tool that refuses invalid metadata, although mended it can.

pip 24.1 and later ignore such versions, and then call innocent packages conflicting; uv and older pip read them.
"""

from __future__ import annotations

from dataclasses import replace

from envdoctor.model.repair import Repair
from envdoctor.model.requirement import Requirement
from envdoctor.model.resolution import Resolution
from envdoctor.resolve.conflicts import Oracle
from envdoctor.resolve.engine import Solver
from envdoctor.resolve.ground import Ground

__all__ = ["strict_core"]


def strict_core(
    ground: Ground, resolution: Resolution | None, repair: Repair | None, lenient: Oracle, solver: Solver | None
) -> tuple[Requirement, ...]:
    """Return a minimal set of lines that such a tool cannot meet and others can, in the order of the files.

    Empty where the resolution in use needs no mended metadata, or can do without. The lines that ``repair`` sets aside
    for it do not count. ``lenient`` is the oracle of the same problem as we read it.
    """
    if resolution is None or not any(package.mended for package in resolution.packages):
        return ()
    aside = {requirement for override in (repair.overrides if repair else ()) for requirement in override.sets_aside}
    problem = replace(ground.problem, policy=replace(ground.problem.policy, mended=False))
    strict = Oracle(Ground(problem, ground.index, solver))
    members = frozenset(line.id for line in strict.lines if line.requirement not in aside)
    if strict.possible(members):
        return ()
    core = strict.shrink(members)
    if not lenient.possible(core):
        return ()  # The demands that the repair sets aside are in it: a conflict of its own, and told as one.
    return tuple(strict.lines[number].requirement for number in sorted(core))
