"""All minimal sets of lines that cannot be installed together, found by asking which sets can hold.

Where invalid metadata was mended, there may be one more set, for tools that refuse it: pip 24.1 and later ignore such
versions, and then call innocent packages conflicting; uv and older pip read them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from envdoctor.model.conflict import Clash, Conflict
from envdoctor.model.dataclass import dataclass
from envdoctor.model.repair import Repair
from envdoctor.model.requirement import Requirement
from envdoctor.model.resolution import Resolution
from envdoctor.resolve.clash import ClashSearch, find_clash
from envdoctor.resolve.core_groups import CoreGroups, Exchange
from envdoctor.resolve.resolver import Resolver
from envdoctor.resolve.solver import (
    Demand,
    GaveUp,
    Outcome,
    Solved,
    Solver,
    Unsolvable,
    View,
    background,
    demands_of_lines,
)

__all__ = ["CoreSet", "Oracle", "conflicts_of", "minimal_cores", "strict_core"]


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
        self._possible: dict[frozenset[int], Mapping[str, int]] = {}
        self._impossible: dict[frozenset[int], Unsolvable] = {}
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
            self._possible[members] = outcome.positions
        elif isinstance(outcome, GaveUp):
            self.gave_up.append(outcome.reason)
            self._possible[members] = {}
        else:
            self._impossible[members] = outcome
        return outcome

    def known(self, members: frozenset[int]) -> Mapping[str, int]:
        """Return what was chosen for lines that are known to hold together: for these, or for more."""
        return next(positions for known, positions in self._possible.items() if members <= known)

    def impossible_part(self, members: frozenset[int]) -> frozenset[int]:
        """Return a part of an impossible set that is impossible already."""
        known = [found for found in self._impossible if found <= members]
        smallest = min(known, key=len, default=members)
        found = self._impossible.get(smallest)
        return smallest if found is None or found.proof is None else frozenset(found.lines)

    def proof(self, core: frozenset[int]) -> tuple[Demand, ...] | None:
        """Return a proof that speaks of a core alone."""
        if core not in self._impossible:
            self.solve(core)
        found = self._impossible.get(core)
        return found.proof if found is not None else None

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
    groups = CoreGroups()
    for core in _empty_lines(oracle):
        groups.add(core)
    settled: set[frozenset[int]] = set()
    truncated = False
    while not truncated and (chosen := _next_way_out(oracle, groups, every, settled)) is not None:
        if oracle.solves >= solves or oracle.gave_up:
            truncated = True  # Where one search is too hard, so are most of those with a line less.
        elif oracle.possible(every - chosen):
            settled.add(chosen)
        elif len(groups.cores) >= limit:
            truncated = True
        else:
            groups.add(oracle.shrink(every - chosen))
    return CoreSet(_ordered(groups.cores), truncated or groups.truncated or bool(oracle.gave_up))


def _next_way_out(
    oracle: Oracle, groups: CoreGroups, every: frozenset[int], settled: Collection[frozenset[int]]
) -> frozenset[int] | None:
    """Return lines to take away and to look at what is left, None once every way out is known to be one."""
    while True:
        ways = list(groups.ways_out())
        chosen = next((way for _, way in ways if way not in settled), None)
        if chosen is not None or oracle.gave_up:
            return chosen
        first = ways[0][1]
        exchanges = [
            (number, Exchange([line for line in oracle.lines if line.id in first - way], oracle.known(every - way)))
            for number, way in ways[1:]
        ]
        tangled = groups.entangled(oracle.graph, oracle.known(every - first), exchanges)
        if tangled is None:
            return None
        groups.join(*tangled)


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


def conflicts_of(resolver: Resolver, oracle: Oracle, cores: CoreSet) -> tuple[Conflict, ...]:
    """Return each minimal impossible set as a conflict, with where its members meet."""
    found: list[Conflict] = []
    search = ClashSearch(resolver.graph, resolver.solver)
    for number, core in enumerate(cores.cores, 1):
        members = [resolver.lines[member] for member in sorted(core)]
        # Two members meet where a proof that speaks of them alone says it.
        proof = (search.proof(members) if len(members) > 2 else None) or oracle.proof(core) or ()
        clash = find_clash(resolver.graph, members, proof)
        asked = tuple(line.requirement for line in members)
        found.append(Conflict(f"C{number}", asked, clash, _other_python(resolver, asked, clash)))
    return tuple(found)


_PYTHONS_AWAY = 2
"""How many minor versions of Python away one is looked for."""


def _other_python(resolver: Resolver, core: tuple[Requirement, ...], clash: Clash) -> str:
    """Return the nearest Python on which a core holds, an empty text where there is none or metadata says no.

    Of binaries that belong together, old pairs have wheels for old Pythons alone.
    """
    is_binary = resolver.graph.couplings.is_binary
    owners = [side.requirement.asked_by for side in clash.sides]
    if not any(owner is not None and is_binary(owner, clash.package) for owner in owners):
        return ""
    manifest = resolver.manifest
    major, minor = manifest.target.python
    for away in (step for size in range(1, _PYTHONS_AWAY + 1) for step in (-size, size)):
        target = manifest.target.for_python((major, minor + away))
        other = Resolver(replace(manifest, requirements=core, target=target, overrides=()), resolver.index)
        if isinstance(other.as_written(), Solved):
            return target.python_version
    return ""
