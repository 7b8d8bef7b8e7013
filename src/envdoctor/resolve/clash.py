"""Where the chains of a conflict meet: the package on which its members cannot agree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import TypeAlias

from packaging.specifiers import SpecifierSet
from packaging.utils import NormalizedName

from envdoctor.model.candidate import Rejection, RejectionKind
from envdoctor.model.conflict import Clash, ClashSide
from envdoctor.model.requirement import Requirement
from envdoctor.resolve.dependency_graph import DependencyGraph
from envdoctor.resolve.edges import base_name, highest, positions_of
from envdoctor.resolve.solver import Demand, Line, demands_of_lines

__all__ = ["find_clash"]

_Chains: TypeAlias = Mapping[NormalizedName, Mapping[int, tuple[str, ...]]]
"""Project -> member of the core -> the shortest chain of names from the one to the other."""


def find_clash(graph: DependencyGraph, core: Sequence[Line], proof: Iterable[Demand]) -> Clash:
    """Return where the members of a minimal core meet, by a proof that speaks of them alone."""
    written = {line.id: line.requirement for line in core}
    of_lines = [demand for demand in demands_of_lines(graph, core) if demand.node == demand.package]
    demands = [*of_lines, *_of_metadata(graph, proof)]
    chains = _chains(core, demands)
    sides = _meeting(graph, core, demands, chains)
    package = sides[0].package
    lacking = [side for side in sides if not side.bits & graph.candidates(package).all]
    candidates = graph.candidates(package)
    # What only a pin would take, yanked or not known to exist, is no way out.
    free = candidates.all & ~candidates.yanked
    available = tuple(str(candidates.versions[p]) for p in positions_of(free)) if lacking else ()
    if candidates.opaque:
        available = ()
    told = [_side(graph, side, demands, chains, written) for side in sides]
    return Clash(package, tuple(told), available, _rejections(graph, package, sides, told))


def _of_metadata(graph: DependencyGraph, proof: Iterable[Demand]) -> Iterable[Demand]:
    """Yield one demand per pair of projects: whatever version of the owner is taken, it asks for one of these."""
    merged: dict[tuple[str, NormalizedName], tuple[int, int]] = {}
    for demand in proof:
        structural = base_name(demand.owner) == demand.package and demand.owner != demand.node
        if demand.owner and not structural:
            owner_bits, bits = merged.get((demand.owner, demand.package), (0, 0))
            merged[demand.owner, demand.package] = (owner_bits | demand.owner_bits, bits | demand.bits)
    for (owner, package), (owner_bits, bits) in merged.items():
        known = owner_bits & graph.candidates(base_name(owner)).all
        if known:
            yield Demand(package, bits, owner=owner, owner_bits=known)


def _chains(core: Sequence[Line], demands: Sequence[Demand]) -> _Chains:
    """Return, per project, the shortest chain of names that leads there from each member of the core."""
    chains: dict[NormalizedName, dict[int, tuple[str, ...]]] = {}
    edges: dict[NormalizedName, list[NormalizedName]] = {}
    for demand in demands:
        if demand.line is None:
            edges.setdefault(base_name(demand.owner), []).append(demand.package)
    for line in core:
        if line.constraint:
            continue
        frontier: list[tuple[NormalizedName, tuple[str, ...]]] = [
            (line.requirement.name, (str(line.requirement.name),))
        ]
        for name, chain in frontier:
            if line.id in chains.setdefault(name, {}):
                continue
            chains[name][line.id] = chain
            frontier.extend((found, (*chain, str(found))) for found in edges.get(name, ()))
    return chains


def _members(demand: Demand, chains: _Chains) -> frozenset[int]:
    if demand.line is not None:
        return frozenset({demand.line})
    return frozenset(chains.get(base_name(demand.owner), {}))


def _depth(demand: Demand, chains: _Chains) -> int:
    if demand.line is not None:
        return 0
    return min((len(chain) for chain in chains.get(base_name(demand.owner), {}).values()), default=99)


def _meeting(
    graph: DependencyGraph,
    core: Sequence[Line],
    demands: Sequence[Demand],
    chains: _Chains,
) -> list[Demand]:
    """Return the demands on one package that exclude each other, or the one that nothing can meet."""
    lacking = [d for d in demands if not d.bits & graph.candidates(d.package).all]
    if len(core) == 1 and lacking:
        return [min(lacking, key=lambda d: _depth(d, chains))]
    pairs = [
        (left, right)
        for left, right in combinations(demands, 2)
        if left.package == right.package and not left.bits & right.bits
    ]
    if pairs:
        left, right = min(pairs, key=lambda pair: _pair_rank(pair, chains))
        sides = [left, right, *_others(demands, chains, (left, right))]
        return sorted(sides, key=lambda side: min(_members(side, chains), default=len(core)))
    if lacking:
        return [min(lacking, key=lambda d: _depth(d, chains))]
    return _most_contested(demands, chains)


def _pair_rank(pair: tuple[Demand, Demand], chains: _Chains) -> tuple[int, int, int, str]:
    first, second = (_members(demand, chains) for demand in pair)
    alone = -len(first ^ second)
    return (len(first & second), _depth(pair[0], chains) + _depth(pair[1], chains), alone, pair[0].package)


def _others(
    demands: Sequence[Demand],
    chains: _Chains,
    chosen: tuple[Demand, Demand],
) -> Iterable[Demand]:
    """Yield further demands on the same package by members whose side is not shown yet."""
    shown = _members(chosen[0], chains) | _members(chosen[1], chains)
    for demand in demands:
        members = _members(demand, chains)
        if demand.package == chosen[0].package and demand not in chosen and not members <= shown:
            shown |= members
            yield demand


def _most_contested(demands: Sequence[Demand], chains: _Chains) -> list[Demand]:
    groups: dict[NormalizedName, list[Demand]] = {}
    for demand in demands:
        groups.setdefault(demand.package, []).append(demand)
    return max(
        groups.values(), key=lambda group: (len(frozenset().union(*(_members(d, chains) for d in group))), len(group))
    )


def _owner_positions(graph: DependencyGraph, demand: Demand, demands: Sequence[Demand]) -> int:
    """Return the owner's versions that the other demands leave open, of those that make this demand."""
    bits = demand.owner_bits
    for other in demands:
        if other.package == base_name(demand.owner):
            bits = bits & other.bits or bits
    return bits & graph.candidates(base_name(demand.owner)).all


def _side(
    graph: DependencyGraph,
    demand: Demand,
    demands: Sequence[Demand],
    chains: _Chains,
    written: Mapping[int, Requirement],
) -> ClashSide:
    if demand.line is not None:
        return ClashSide(written[demand.line])
    positions = _owner_positions(graph, demand, demands)
    owner = graph.candidates(base_name(demand.owner))
    requirement = _demand_of(graph, demand, highest(positions))
    chain = min(chains.get(base_name(demand.owner), {}).values(), key=len, default=(base_name(demand.owner),))
    versions = tuple(str(owner.versions[p]) for p in sorted(positions_of(positions)))
    return ClashSide(requirement, via=chain, versions_considered=versions)


def _demand_of(graph: DependencyGraph, demand: Demand, position: int) -> Requirement:
    """Return the demand as one version of its owner makes it, several lines on one project taken together."""
    edges = [e for e in graph.edges(demand.owner, position) if base_name(e.dependency) == demand.package]
    version = graph.candidates(base_name(demand.owner)).versions[position]
    first = edges[0].requirement(version)
    specifier = SpecifierSet()
    for edge in edges:
        specifier &= edge.specifier
    return Requirement(first.name, first.origin, specifier, extras=first.extras)


def _rejections(
    graph: DependencyGraph, package: NormalizedName, sides: Sequence[Demand], told: Sequence[ClashSide]
) -> tuple[Rejection, ...]:
    if package in graph.missing:
        return (Rejection(RejectionKind.NOT_FOUND, package),)
    found = [rejection for (name, _), rejection in graph.unreadable.items() if name == package]
    candidates = graph.candidates(package)
    if candidates.page is None:
        return tuple(found)
    for side, words in zip(sides, told, strict=True):
        usable = {candidates.versions[p] for p in positions_of(side.bits & candidates.all)}
        wanted = {
            version
            for version in candidates.page.versions
            if version not in usable and words.requirement.specifier.contains(version, prereleases=True)
        }
        # A side that has versions to choose from is told only of what was shut out for it alone.
        if not usable:
            found.extend(graph.selector.rejections(candidates.page, wanted))
    return tuple(dict.fromkeys(found))
