"""What cannot be installed together for a tool that refuses invalid metadata, although mended it can.

pip 24.1 and later ignore such versions, and then call innocent packages conflicting; uv and older pip read them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from packaging.utils import NormalizedName

from envdoctor.model.conflict import Clash
from envdoctor.model.dataclass import dataclass
from envdoctor.model.origin import DistributionOrigin
from envdoctor.model.repair import Repair
from envdoctor.model.requirement import Requirement
from envdoctor.model.resolution import Resolution
from envdoctor.resolve.hitting_sets import MinimalHittingSets
from envdoctor.resolve.resolver import Resolver
from envdoctor.resolve.solver import (
    GaveUp,
    Outcome,
    Proof,
    Solved,
    Solver,
    Unsolvable,
    View,
    background,
    demands_of_lines,
)

__all__ = ["CoreSet", "Oracle", "minimal_cores", "other_python", "strict_core"]


def strict_core(
    resolver: Resolver, resolution: Resolution | None, repair: Repair | None, lenient: Oracle, solver: Solver | None
) -> tuple[Requirement, ...]:
    """Return a minimal set of lines that such a tool cannot meet and others can, in the order of the files.

    Empty where the resolution in use needs no mended metadata, or can do without. The lines that ``repair`` sets aside
    for it do not count. ``lenient`` is the oracle of the same manifest as we read it.
    """
    if resolution is None or not any(package.mended for package in resolution.packages):
        return ()
    aside = {requirement for override in (repair.overrides if repair else ()) for requirement in override.sets_aside}
    manifest = replace(resolver.manifest, policy=replace(resolver.manifest.policy, mended=False))
    strict = Oracle(Resolver(manifest, resolver.index, solver))
    members = frozenset(line.id for line in strict.lines if line.requirement not in aside)
    if strict.possible(members):
        return ()
    core = strict.shrink(members)
    if not lenient.possible(core):
        return ()  # The demands that the repair sets aside are in it: a conflict of its own, and told as one.
    return tuple(strict.lines[number].requirement for number in sorted(core))


_HITTING_SETS = 2_000


class Oracle:
    """Answers whether a set of lines can hold together, and remembers."""

    def __init__(self, resolver: Resolver) -> None:
        self.graph = resolver.graph
        self.lines = tuple(resolver.lines)
        self.solves = 0
        self.gave_up: list[str] = []
        self._resolver = resolver
        self._view = View(resolver.graph)
        self._background = background(resolver.graph)
        self._possible: list[frozenset[int]] = []
        self._impossible: dict[frozenset[int], Proof | None] = {}
        self._phase: dict[str, int] = {}

    def possible(self, members: frozenset[int]) -> bool:
        """Return whether these lines hold together; where the search gives up they count as possible."""
        if any(members <= known for known in self._possible):
            return True
        if any(known <= members for known in self._impossible):
            return False
        return not isinstance(self.solve(members), Unsolvable)

    def solve(self, members: frozenset[int]) -> Outcome:
        """Solve for these lines, leaning on what earlier solves chose: any answer will do here."""
        self.solves += 1
        if len(members) == len(self.lines):
            outcome = self._resolver.as_written()
        else:
            demands = demands_of_lines(self.graph, (line for line in self.lines if line.id in members))
            outcome = self._resolver.solver.solve([*demands, *self._background], self._view, self._phase)
        if isinstance(outcome, Solved):
            self._phase.update(outcome.positions)
            self._possible.append(members)
        elif isinstance(outcome, GaveUp):
            self.gave_up.append(outcome.reason)
            self._possible.append(members)
        else:
            self._impossible[members] = outcome.proof
        return outcome

    def impossible_part(self, members: frozenset[int]) -> frozenset[int]:
        """Return a part of an impossible set that is impossible already."""
        known = [found for found in self._impossible if found <= members]
        smallest = min(known, key=len, default=members)
        proof = self._impossible.get(smallest)
        if proof is None:
            return smallest
        return frozenset(proof.lines)

    def proof(self, core: frozenset[int]) -> Proof | None:
        """Return a proof that speaks of a core alone."""
        proof = self._impossible.get(core)
        if proof is None:
            self.solve(core)
            proof = self._impossible.get(core)
        return proof

    def shrink(self, members: frozenset[int]) -> frozenset[int]:
        """Return a minimal impossible part of an impossible set."""
        core = self.impossible_part(members)
        for member in sorted(core, reverse=True):
            smaller = core - {member}
            if member in core and not self.possible(smaller):
                core = self.impossible_part(smaller)
        return core


@dataclass(frozen=True, slots=True)
class CoreSet:
    """The minimal impossible sets, in the order of the files."""

    cores: tuple[frozenset[int], ...]
    truncated: bool = False


def minimal_cores(oracle: Oracle, limit: int, solves: int) -> CoreSet:
    """Find all minimal impossible sets of lines, up to ``limit``, in at most about ``solves`` solves."""
    every = frozenset(line.id for line in oracle.lines)
    cores = list(_empty_lines(oracle))
    hitting: MinimalHittingSets[int] = MinimalHittingSets(_HITTING_SETS)
    for core in cores:
        hitting.add(sorted(core))
    settled: set[frozenset[int]] = set()
    truncated = False
    while not truncated and (chosen := next((h for h in hitting.sets if h not in settled), None)) is not None:
        if oracle.solves >= solves or oracle.gave_up:
            truncated = True  # Where one search is too hard, so are most of those with a line less.
        elif oracle.possible(every - chosen):
            settled.add(chosen)
        elif len(cores) >= limit:
            truncated = True
        else:
            core = oracle.shrink(every - chosen)
            cores.append(core)
            hitting.add(sorted(core))
    return CoreSet(_ordered(cores), truncated or hitting.truncated or bool(oracle.gave_up))


def _empty_lines(oracle: Oracle) -> Iterable[frozenset[int]]:
    """Yield the lines that no version answers: conflicts of one that need no search."""
    for line in oracle.lines:
        requirement = line.requirement
        candidates = oracle.graph.candidates(requirement.name)
        bits = oracle.graph.bits(requirement.name, requirement.specifier)
        if not line.constraint and not bits & candidates.all:
            oracle.solve(frozenset({line.id}))
            yield frozenset({line.id})


def _ordered(cores: Iterable[frozenset[int]]) -> tuple[frozenset[int], ...]:
    return tuple(sorted(cores, key=lambda core: (min(core, default=-1), sorted(core))))


_PYTHONS_AWAY = 2
"""How many minor versions of Python away one is looked for."""


def other_python(resolver: Resolver, core: tuple[Requirement, ...], clash: Clash) -> str:
    """Return the nearest Python on which a core holds, an empty text where there is none or metadata says no.

    Of binaries that belong together, old pairs have wheels for old Pythons alone.
    """
    is_binary = resolver.graph.couplings.is_binary
    origins = [side.requirement.origin for side in clash.sides]
    if not any(isinstance(o, DistributionOrigin) and is_binary(NormalizedName(o.name), clash.package) for o in origins):
        return ""
    manifest = resolver.manifest
    major, minor = manifest.target.python
    for away in (step for size in range(1, _PYTHONS_AWAY + 1) for step in (-size, size)):
        target = replace(manifest.target, python=(major, minor + away))
        other = Resolver(replace(manifest, requirements=core, target=target, overrides=()), resolver.index)
        if isinstance(other.as_written(), Solved):
            return target.python_version
    return ""
