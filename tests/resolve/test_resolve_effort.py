"""Effort, without a clock: versions that must not be looked at, and bounds that end a search."""

from __future__ import annotations

from resolve_universe import LINUX, MemoryIndex, read

from envdoctor.model.unknown import UnknownKind
from envdoctor.resolve.conflicts import Oracle, minimal_cores
from envdoctor.resolve.diagnosis import diagnose
from envdoctor.resolve.manifest import Limits, Manifest
from envdoctor.resolve.resolver import Resolver


def test_only_the_newest_versions_are_looked_at_without_a_conflict() -> None:
    table = {
        "app": {str(v): ["library"] for v in range(1, 30)},
        "library": {str(v): {} for v in range(1, 30)},
        "stranger": {"1": {}},
    }
    index = MemoryIndex(table)
    diagnose(Manifest(read("app"), LINUX), index)
    assert index.asked == {"app 29", "library 29"}


def test_a_pin_keeps_the_search_away_from_other_versions() -> None:
    table = {
        "app": {str(v): [f"library=={v}"] for v in range(1, 30)},
        "library": {str(v): {} for v in range(1, 30)},
    }
    index = MemoryIndex(table)
    diagnose(Manifest(read("app==7", "library"), LINUX), index)
    assert index.asked == {"app 7", "library 7"}


def test_a_conflict_of_two_lines_leaves_the_rest_alone() -> None:
    table = {
        "app": {"1": ["library<2"]},
        "library": {"1": {}, "2": {}},
        "other": {str(v): ["far"] for v in range(1, 30)},
        "far": {str(v): {} for v in range(1, 30)},
    }
    index = MemoryIndex(table)
    found = diagnose(Manifest(read("app", "library==2", "other"), LINUX), index)
    assert len(found.conflicts) == 1
    assert not {"other 28", "far 28"} & index.asked


def test_many_conflicts_are_cut_off_and_said() -> None:
    table = {f"p{n}": {"1": {}} for n in range(6)}
    lines = read(*(f"p{n}==2" for n in range(6)))
    found = diagnose(Manifest(lines, LINUX, limits=Limits(conflicts=32)), MemoryIndex(table))
    assert len(found.conflicts) == 6
    assert not found.conflicts_truncated
    table = {"hub": {str(v): {} for v in range(1, 9)}}
    lines = read(*(f"hub=={v}" for v in range(1, 9)))
    found = diagnose(Manifest(lines, LINUX, limits=Limits(conflicts=5)), MemoryIndex(table))
    assert len(found.conflicts) == 5
    assert found.conflicts_truncated


def test_a_search_that_gives_up_is_incomplete() -> None:
    table = {"app": {str(v): [f"library=={v}"] for v in range(1, 30)}, "library": {str(v): {} for v in range(1, 30)}}
    found = diagnose(Manifest(read("app", "library"), LINUX, limits=Limits(rounds=2)), MemoryIndex(table))
    assert found.conflicts_truncated
    assert {unknown.kind for unknown in found.unknowns} == {UnknownKind.SEARCH_GIVEN_UP}


def test_hundreds_of_versions_that_ask_for_the_same_are_left_together() -> None:
    # The extra is asked for when all else is decided, and each of its versions wants an older lib.
    chain = {f"f{n}": {key: {"requires": [f"f{n + 1}"]} for key in "12"} for n in range(40)}
    chain["f40"] = {"1": {"requires": ["app[x]>=5"]}, "2": {"requires": ["app[x]>=3"]}}
    table = {
        **chain,
        "lib": {"1": {}, "2": {}},
        "app": {str(number): {"requires": ["lib<2 ; extra == 'x'"]} for number in range(1, 301)},
    }
    found = diagnose(Manifest(read("lib", "app", "f0"), LINUX, limits=Limits(rounds=3_000)), MemoryIndex(table))
    assert not found.unknowns
    assert found.resolution is not None
    chosen = {p.name: str(p.version) for p in found.resolution.packages}
    assert (chosen["app"], chosen["lib"]) == ("300", "1")


def test_conflicts_that_have_nothing_to_do_with_each_other_are_not_tried_in_every_combination() -> None:
    table = {
        name: versions
        for n in range(12)
        for name, versions in ((f"app{n}", {"1": [f"lib{n}<2", "base"]}), (f"lib{n}", {"1": {}, "2": ["base"]}))
    }
    table["base"] = {"1": {}, "2": {}}
    lines = read(*(line for n in range(12) for line in (f"app{n}", f"lib{n}==2")))
    resolver = Resolver(Manifest(lines, LINUX), MemoryIndex(table))
    oracle = Oracle(resolver)
    found = minimal_cores(oracle, 32, 400)
    assert len(found.cores) == 12
    assert not found.truncated
    assert oracle.solves < 70


def test_ways_out_that_stand_in_each_others_way_are_tried_together() -> None:
    # Without the pins of the libraries the apps want bases that do not go together: a third conflict, across the two.
    table = {
        "app": {"1": ["lib<2", "base<2"]},
        "lib": {"1": {}, "2": {}},
        "web": {"1": ["net<2", "base>=2"]},
        "net": {"1": {}, "2": {}},
        "base": {"1": {}, "2": {}},
    }
    resolver = Resolver(Manifest(read("lib==2", "app", "net==2", "web"), LINUX), MemoryIndex(table))
    found = minimal_cores(Oracle(resolver), 32, 400)
    assert [sorted(core) for core in found.cores] == [[0, 1], [1, 3], [2, 3]]


def test_versions_that_need_what_nobody_has_are_passed_over_without_a_conflict() -> None:
    # Each is decided when all else is: a conflict about it would throw away every decision.
    chain = {f"f{n}": {"1": [f"f{n + 1}"]} for n in range(40)}
    table = {
        **chain,
        "f40": {"1": ["app"]},
        "app": {"1": {}, **{str(v): ["middle==1"] for v in range(2, 40)}},
        "middle": {"1": ["nothing>=3"]},
        "nothing": {"1": {}},
    }
    found = diagnose(Manifest(read("f0"), LINUX, limits=Limits(rounds=200)), MemoryIndex(table))
    assert not found.unknowns
    assert found.resolution is not None
    assert str(found.resolution.get("app").version) == "1"  # type: ignore[union-attr]
