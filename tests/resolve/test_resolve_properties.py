"""The search against brute force on thousands of small generated universes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, combinations, product
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from packaging.requirements import Requirement as Pep508
from resolve_backtracking import Backtracking
from resolve_universe import LINUX, MemoryIndex, read

from envdoctor.model.repair import Repair
from envdoctor.model.unknown import UnknownKind
from envdoctor.resolve.dependency_graph import DependencyGraph
from envdoctor.resolve.diagnosis import diagnose
from envdoctor.resolve.manifest import Manifest
from envdoctor.resolve.pubgrub import PubGrub
from envdoctor.resolve.repairs import is_combined
from envdoctor.resolve.solver import GaveUp, Solved, Unsolvable, View, demands_of_lines, lines_of

NAMES = "abcde"
SPECIFIERS = ["", "==1", "==2", ">=2", "<2", "<3", "!=2", "==9"]

Table = dict[str, dict[str, list[str]]]
Element = tuple[str, ...]
"""``("line", text)`` or ``("edge", owner, dependency)``."""


@st.composite
def universes(draw: st.DrawFn, projects: int = 5, versions: int = 3) -> tuple[Table, list[str]]:
    names = NAMES[: draw(st.integers(1, projects))]
    table: Table = {}
    for name in names:
        others = [other for other in names if other != name]
        table[name] = {
            str(version): draw(_demands(others, 2)) for version in range(1, draw(st.integers(1, versions)) + 1)
        }
    lines = draw(_demands([*names, "z"] if draw(st.integers(0, 9)) == 0 else list(names), 5))
    return table, lines


@st.composite
def _demands(draw: st.DrawFn, names: Sequence[str], most: int) -> list[str]:
    if not names:
        return []
    pairs = draw(st.lists(st.tuples(st.sampled_from(names), st.sampled_from(SPECIFIERS)), max_size=most, unique=True))
    return [f"{name}{specifier}" for name, specifier in pairs]


@lru_cache(maxsize=1024)
def _parse(text: str) -> tuple[str, Any]:
    parsed = Pep508(text)
    return parsed.name, parsed.specifier


@lru_cache(maxsize=4096)
def _admits(text: str, version: str | None) -> bool:
    return version is not None and _parse(text)[1].contains(version)


def _worlds(table: Table) -> list[dict[str, str]]:
    names = sorted(table)
    choices = product(*([None, *table[name]] for name in names))
    return [{n: v for n, v in zip(names, choice, strict=True) if v is not None} for choice in choices]


def _sound(world: Mapping[str, str], table: Table, aside: frozenset[Element]) -> bool:
    for owner, version in world.items():
        for demand in table[owner][version]:
            name = _parse(demand)[0]
            bare = ("edge", owner, name) in aside
            if not _admits(name if bare else demand, world.get(name)):
                return False
    return True


def _holds(world: Mapping[str, str], lines: Sequence[str], aside: frozenset[Element]) -> bool:
    for line in lines:
        name = _parse(line)[0]
        bare = ("line", line) in aside
        # Nothing is left of a line on a project that no index has.
        if not (bare and name == "z") and not _admits(name if bare else line, world.get(name)):
            return False
    return True


def _possible(table: Table, lines: Sequence[str], aside: frozenset[Element] = frozenset()) -> bool:
    return any(_sound(world, table, aside) and _holds(world, lines, aside) for world in _worlds(table))


def _subsets(items: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    return chain.from_iterable(combinations(items, size) for size in range(len(items) + 1))


def _minimal_cores(table: Table, lines: Sequence[str]) -> set[frozenset[str]]:
    sound = [world for world in _worlds(table) if _sound(world, table, frozenset())]
    found: list[frozenset[str]] = []
    for subset in map(frozenset, _subsets(lines)):
        if any(core <= subset for core in found):
            continue
        if not any(_holds(world, sorted(subset), frozenset()) for world in sound):
            found.append(subset)
    return set(found)


def _elements(table: Table, lines: Sequence[str]) -> list[Element]:
    found: list[Element] = [("line", line) for line in lines if _parse(line)[1] or line == "z"]
    edges = {("edge", o, _parse(d)[0]) for o, versions in table.items() for ds in versions.values() for d in ds}
    # What a version asks of its own project nobody overrules.
    return [*found, *sorted(edge for edge in edges if edge[1] != edge[2])]


def _cheapest(table: Table, lines: Sequence[str], most: int) -> set[frozenset[Element]]:
    """Return the smallest repairs of lines alone; where there are none, those that overrule distributions, too."""
    elements = _elements(table, lines)
    written = [element for element in elements if element[0] == "line"]
    return _smallest(table, lines, written, len(written)) or _smallest(table, lines, elements, most)


def _smallest(table: Table, lines: Sequence[str], elements: Sequence[Element], most: int) -> set[frozenset[Element]]:
    for size in range(1, most + 1):
        found = {frozenset(c) for c in combinations(elements, size) if _possible(table, lines, frozenset(c))}
        if found:
            return found
    return set()


thorough = settings(max_examples=1000, deadline=None, suppress_health_check=list(HealthCheck))


@thorough
@given(universes())
def test_engines_agree_with_brute_force(given_: tuple[Table, list[str]]) -> None:
    table, texts = given_
    graph = DependencyGraph(Manifest(read(*texts), LINUX), MemoryIndex(table))
    demands = demands_of_lines(graph, lines_of(graph))
    expected = _possible(table, texts)
    for solver in (PubGrub(), Backtracking(rounds=2000)):
        outcome = solver.solve(demands, View(graph))
        if isinstance(solver, Backtracking) and not isinstance(outcome, Solved):
            continue  # resolvelib misses some answers and goes round in circles in others; see the next tests
        assert isinstance(outcome, Solved if expected else Unsolvable), solver
        if isinstance(outcome, Solved):
            world = {
                name: str(graph.candidates(name).versions[position])  # type: ignore[arg-type]
                for name, position in outcome.positions.items()
            }
            assert _sound(world, table, frozenset())
            assert _holds(world, texts, frozenset())


def test_where_the_second_engine_goes_round_in_circles_it_says_so_and_the_first_has_the_answer() -> None:
    table: Table = {"a": {"1": ["b==2"], "2": ["b==1"]}, "b": {"1": ["a==1"], "2": ["a==2"]}}
    graph = DependencyGraph(Manifest(read("a"), LINUX), MemoryIndex(table))
    demands = demands_of_lines(graph, lines_of(graph))
    assert isinstance(PubGrub().solve(demands, View(graph)), Unsolvable)
    assert isinstance(Backtracking(rounds=2000).solve(demands, View(graph)), GaveUp)


def test_where_the_second_engine_returns_what_does_not_agree_that_is_no_answer() -> None:
    # c=1 wants b=1, and is returned beside b=2.
    table: Table = {"a": {"1": ["b==2"], "2": ["b"]}, "b": {"1": ["a==1", "c==2"], "2": ["c==1"]}}
    table["c"] = {"1": ["b==1"], "2": []}
    graph = DependencyGraph(Manifest(read("a"), LINUX), MemoryIndex(table))
    demands = demands_of_lines(graph, lines_of(graph))
    assert not _possible(table, ["a"])
    assert isinstance(PubGrub().solve(demands, View(graph)), Unsolvable)
    assert isinstance(Backtracking(rounds=2000).solve(demands, View(graph)), GaveUp)


def test_where_the_second_engine_jumps_over_an_answer_the_first_finds_it() -> None:
    # It walks past the choice of b, since nothing that b=2 asks for is named by the clash behind it.
    table: Table = {"a": {"1": ["b==9"]}, "b": {"1": [], "2": ["d==2"]}, "c": {"1": ["b"]}, "d": {"1": [], "2": ["a"]}}
    graph = DependencyGraph(Manifest(read("c"), LINUX), MemoryIndex(table))
    demands = demands_of_lines(graph, lines_of(graph))
    assert isinstance(PubGrub().solve(demands, View(graph)), Solved)
    assert isinstance(Backtracking(rounds=2000).solve(demands, View(graph)), Unsolvable)


@thorough
@given(universes())
def test_conflicts_are_exactly_the_minimal_impossible_sets(given_: tuple[Table, list[str]]) -> None:
    table, texts = given_
    found = diagnose(Manifest(read(*texts), LINUX), MemoryIndex(table))
    assert not found.conflicts_truncated
    assert {frozenset(str(r) for r in c.core) for c in found.conflicts} == _minimal_cores(table, texts)
    for conflict in found.conflicts:
        assert conflict.clash.sides
        assert all(side.requirement.name == conflict.clash.package for side in conflict.clash.sides)
    assert (found.resolution is not None) or found.conflicts
    assert UnknownKind.UNSOUND not in {unknown.kind for unknown in found.unknowns}


_TWO_CONFLICTS_ONE_WITH_DEARER_WAYS_OUT: tuple[Table, list[str]] = (
    {"a": {"1": ["c==1"], "2": []}, "c": {"1": [], "2": []}, "d": {"1": ["a!=2"], "2": ["a!=2"]}},
    ["c>=2", "c<2", "d==1", "d==2"],
)


@settings(max_examples=1000, deadline=None, suppress_health_check=list(HealthCheck))
@given(universes(projects=4, versions=2))
@example(_TWO_CONFLICTS_ONE_WITH_DEARER_WAYS_OUT)
def test_repairs_work_and_none_is_cheaper(given_: tuple[Table, list[str]]) -> None:
    table, texts = given_
    found = diagnose(Manifest(read(*texts), LINUX), MemoryIndex(table))
    expected = _cheapest(table, texts, most=3) if found.conflicts else set()
    cost = min((len(elements) for elements in expected), default=None)
    kept = [repair for repair in found.repairs if not any(o.leaves_out and o.name != "z" for o in repair.overrides)]
    if cost is None:
        assert all(repair.cost > 3 for repair in kept)
        return
    assert all(repair.verified for repair in found.repairs)
    cheapest = [repair for repair in kept if repair.cost == cost]
    shown = {_aside(repair) for repair in cheapest}
    assert all(aside <= frozenset(_elements(table, texts)) for aside in shown)
    of_lines = all(element[0] == "line" for elements in expected for element in elements)
    if of_lines:
        # Where the person's least version is lost, others are shown, too.
        shown = {aside for aside in shown if all(element[0] == "line" for element in aside)}
    assert all(any(aside <= elements for elements in expected) for aside in shown)
    if of_lines:
        # Every other repair of that size puts exchanges together that are shown, each by itself, be it in a dearer one.
        left, known = expected - shown, shown | {_aside(repair) for repair in kept}
        while combined := {elements for elements in left if is_combined(elements, known)}:  # type: ignore[arg-type]
            left -= combined
            known |= combined
        assert not left or len(cheapest) == 10


def _aside(repair: Repair) -> frozenset[Element]:
    return frozenset(
        ("line", str(r)) if r.origin.kind == "file" else ("edge", r.origin.name, r.name)  # type: ignore[union-attr]
        for override in repair.overrides
        for r in override.sets_aside
    )


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(universes(), st.lists(st.sampled_from(["a<2", "b==1", "c!=2", "a==9"]), max_size=2, unique=True))
def test_constraints_bound_only_what_is_used(given_: tuple[Table, list[str]], bounds: list[str]) -> None:
    table, texts = given_
    manifest = Manifest((*read(*texts), *read(*bounds, path="constraints.txt", constraint=True)), LINUX)
    graph = DependencyGraph(manifest, MemoryIndex(table))
    demands = demands_of_lines(graph, lines_of(graph))
    expected = any(
        _sound(world, table, frozenset())
        and _holds(world, texts, frozenset())
        and all(_admits(bound, world[_parse(bound)[0]]) for bound in bounds if _parse(bound)[0] in world)
        for world in _worlds(table)
    )
    for solver in (PubGrub(), Backtracking()):
        assert isinstance(solver.solve(demands, View(graph)), Solved if expected else Unsolvable), solver
