"""Where three lines or more meet: the demand that is named bears the conflict, against brute force too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from itertools import pairwise
from typing import Any

from hypothesis import HealthCheck, given, settings
from packaging.requirements import Requirement as Pep508
from packaging.utils import canonicalize_name
from packaging.version import Version
from resolve_universe import LINUX, MemoryIndex, read
from test_resolve_properties import Table, _possible, universes

from envdoctor.lock.pylock_reader import LockedProject, override_of_row
from envdoctor.model.project import Project
from envdoctor.resolve.clash import ClashSearch
from envdoctor.resolve.conflicts import Oracle, minimal_cores
from envdoctor.resolve.diagnosis import diagnose
from envdoctor.resolve.edges import base_name
from envdoctor.resolve.manifest import Manifest
from envdoctor.resolve.resolver import Resolver
from envdoctor.verbs.check import check
from envdoctor.verbs.check_request import CheckRequest

CLONE: dict[str, dict[str, Any]] = {
    "torch": {"2.1.1": {}, "2.2.0": {}, "2.7.1": {}, "2.8.0": {}},
    "torchaudio": {v: [f"torch=={v}"] for v in ("2.1.1", "2.2.0", "2.7.1", "2.8.0")},
    "coqui-tts": {"0.24.2": ["transformers<4.43", "torch", "torchaudio"]},
    "transformers": {"4.42.4": ["tokenizers>=0.19"], "4.50.0": ["tokenizers>=0.19"]},
    "faster-whisper": {"1.0.0": ["tokenizers<0.16"], "1.1.0": {}, "1.2.0": {}},
    "tokenizers": {"0.15.2": {}, "0.19.1": {}},
    "speechbrain": {"1.0.0": {}, "1.1.2": ["torch>=2.2"]},
    "pyannote-audio": {"3.1.1": ["torchaudio", "speechbrain"], "3.3.2": ["torchaudio>=2.2", "speechbrain"]},
    "whisperx": {
        "3.2.0": ["faster-whisper==1.0.0", "pyannote-audio==3.1.1"],
        "3.3.1": ["faster-whisper==1.1.0", "pyannote-audio==3.3.2"],
        "3.8.6": ["torch~=2.8.0", "transformers>=4.48"],
    },
}


def _without(table: Table, owner: str, name: str) -> Table:
    """Return the table in which a project's demands on another are struck out."""
    return {
        project: {
            version: [d for d in demands if project != owner or Pep508(d).name != name]
            for version, demands in versions.items()
        }
        for project, versions in table.items()
    }


def _asks(table: Mapping[str, Mapping[str, Sequence[str]]], owner: str, name: str) -> bool:
    return any(Pep508(demand).name == name for demands in table[owner].values() for demand in demands)


@settings(max_examples=600, deadline=None, suppress_health_check=list(HealthCheck))
@given(universes())
def test_without_the_demand_that_is_named_the_lines_hold_together(given_: tuple[Table, list[str]]) -> None:
    table, texts = given_
    resolver = Resolver(Manifest(read(*texts), LINUX), MemoryIndex(table), None)
    search = ClashSearch(resolver.graph, resolver.solver)
    for core in minimal_cores(Oracle(resolver), 32, 400).cores:
        members = {number: resolver.lines[number] for number in sorted(core)}
        found = search.proof(list(members.values()))
        if found is None:
            continue
        lines = [str(line.requirement) for line in members.values()]
        line, *way, end = found
        assert line.line in members
        assert not line.owner
        assert all(demand.line is None and demand.owner_bits for demand in (*way, end))
        assert not end.bits & line.bits
        chain = [base_name(demand.owner) for demand in (*way, end)]
        assert chain[0] in {other.requirement.name for number, other in members.items() if number != line.line}
        assert [demand.package for demand in way] == chain[1:]
        for owner, name in pairwise([*chain, line.package]):
            assert _asks(table, owner, name)
            assert _possible(_without(table, owner, name), lines)


def test_three_lines_meet_where_the_versions_that_are_left_disagree() -> None:
    found = diagnose(Manifest(read("torch==2.1.1", "coqui-tts==0.24.2", "whisperx"), LINUX), MemoryIndex(CLONE))
    (conflict,) = found.conflicts
    assert len(conflict.core) == 3
    line, end = conflict.clash.sides
    assert conflict.clash.package == "torch"
    assert str(line.requirement) == "torch==2.1.1"
    assert end.via == ("whisperx", "pyannote-audio", "torchaudio")
    assert end.versions_considered
    assert set(end.versions_considered) <= {"2.2.0", "2.7.1", "2.8.0"}
    assert str(end.requirement.origin) == f"torchaudio {end.versions_considered[-1]}"


def test_asking_ends_where_it_gets_too_dear_and_the_proof_tells_the_clash() -> None:
    resolver = Resolver(
        Manifest(read("torch==2.1.1", "coqui-tts==0.24.2", "whisperx"), LINUX), MemoryIndex(CLONE), None
    )
    for solves in range(5):
        search = ClashSearch(resolver.graph, resolver.solver, solves)
        assert search.proof(resolver.lines) is None
        assert search.proof(resolver.lines) is None
    assert ClashSearch(resolver.graph, resolver.solver).proof(resolver.lines) is not None


def test_where_no_single_demand_bears_the_conflict_none_is_named() -> None:
    table = {
        "hub": {"1": {}, "2": {}, "3": {}},
        "left": {"1": ["hub<3", "bridge"], "2": ["hub<3", "bridge"]},
        "right": {"1": ["hub>2"]},
        "bridge": {"1": ["hub<3"]},
    }
    resolver = Resolver(Manifest(read("hub==3", "left", "right"), LINUX), MemoryIndex(table), None)
    assert ClashSearch(resolver.graph, resolver.solver).proof([resolver.lines[0], resolver.lines[1]]) is None


def _checked(*lines: str, locked: LockedProject | None) -> dict[str, bool]:
    """Return the conflicts of a check by their members, with whether the lock settles them."""
    project = Project("", requirements=read(*lines))
    request = CheckRequest(
        target=LINUX, today=date(2026, 11, 28), project=project, index=MemoryIndex(CLONE), locked=locked
    )
    report = check(request)
    settled = {item.conflict for item in report.findings if item.waived}
    return {" ".join(map(str, conflict.core)): conflict.id in settled for conflict in report.conflicts}


def test_a_conflict_whose_lines_the_lock_meets_is_settled_by_what_it_sets_aside_further_up() -> None:
    lines = ("torch==2.1.1", "coqui-tts==0.24.2", "whisperx")
    versions = {"torch": "2.1.1", "coqui-tts": "0.24.2", "whisperx": "3.2.0", "faster-whisper": "1.1.0"}
    row = {
        "requirement": "faster-whisper==1.1.0",
        "sets-aside": ["faster-whisper==1.0.0 (whisperx 3.2.0)"],
        "replaces": ["whisperx"],
        "because": "it goes with both",
    }
    aside = override_of_row(row, "pylock.toml")
    assert aside
    locked = LockedProject(
        "pylock.toml", {canonicalize_name(name): Version(version) for name, version in versions.items()}, (aside,)
    )
    core = " ".join(lines)
    assert _checked(*lines, locked=None) == {core: False}
    assert _checked(*lines, locked=locked) == {core: True}
    assert _checked(*lines, "torch==2.8.0", locked=locked) == {core: True, "torch==2.1.1 torch==2.8.0": False}
