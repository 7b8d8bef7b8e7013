"""What a plain resolution and a diagnosis of the same problem share, so that the second goes on from the first.

Choosing an interpreter resolves a problem, and the diagnosis that follows asks the same questions of the same index.
"""

from __future__ import annotations

from envdoctor.ports import Index
from envdoctor.resolve.engine import Outcome, Solver
from envdoctor.resolve.lines import lines_of
from envdoctor.resolve.problem import Problem
from envdoctor.resolve.relax import Relaxation, from_profile
from envdoctor.resolve.universe import Universe
from envdoctor.resolve.warm import warm

__all__ = ["Ground", "go_on_from", "leave"]


class Ground:
    """A problem as it looks on an index: its lines, what the profile sets aside, and the engine that has learned it."""

    def __init__(self, problem: Problem, index: Index, solver: Solver | None) -> None:
        self.problem = problem
        self.index = index
        self.solver = solver or _first_engine(problem)
        self.universe = Universe(problem, index)
        self.lines = lines_of(self.universe)
        self.preferred = _preferred(self.universe)
        """Positions of locked versions that may be kept."""
        self.relaxation = from_profile(self.universe, self.lines, problem.overrides)
        """What the profile's overrides do."""
        warm(self.universe, self.lines)
        self._as_overridden: Outcome | None = None
        self._as_written: Outcome | None = None

    def as_written(self) -> Outcome:
        """Solve for all lines with nothing set aside, once."""
        if self._as_written is None:
            nothing = Relaxation()
            roots = nothing.roots(self.universe, self.lines)
            self._as_written = self.solver.solve(roots, nothing.view(self.universe), self.preferred)
        return self._as_written

    def as_overridden(self) -> Outcome:
        """Solve with the profile's overrides, once."""
        if not self.relaxation.overrides:
            return self.as_written()
        if self._as_overridden is None:
            roots = self.relaxation.roots(self.universe, self.lines)
            self._as_overridden = self.solver.solve(roots, self.relaxation.view(self.universe), self.preferred)
        return self._as_overridden


_left: list[Ground] = []
"""The ground of the latest plain resolution, until a diagnosis goes on from it."""


def leave(ground: Ground) -> None:
    """Leave the ground of a plain resolution for a diagnosis of the same problem."""
    _left[:] = [ground]


def go_on_from(problem: Problem, index: Index, solver: Solver | None) -> Ground:
    """Return the ground that a resolution of this very problem left, or a new one."""
    found = _left.pop() if _left else None
    if found is not None and found.problem is problem and found.index is index and solver is None:
        return found
    return Ground(problem, index, solver)


def _first_engine(problem: Problem) -> Solver:
    from envdoctor.resolve.pubgrub import PubGrub  # imports the engine, which help and most verbs do without

    return PubGrub(problem.limits.rounds)


def _preferred(universe: Universe) -> dict[str, int]:
    problem = universe.problem
    if ":all:" in problem.upgrade:
        return {}
    found: dict[str, int] = {}
    for name, version in problem.preferences.items():
        if name not in problem.upgrade:
            bits = universe.candidates(name).bits(version)
            if bits:
                found[name] = bits.bit_length() - 1
    return found
