"""What a project overrides itself is said as it is: by rules, in locks, and of an environment made from one."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from resolve_universe import LINUX, MemoryIndex, read

from envdoctor.diagnose.demand import InstalledDemand
from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.installed_demands import waiver_for
from envdoctor.lock.pylock_reader import LockedProject, override_of_row
from envdoctor.lock.pylock_writer import override_row
from envdoctor.model.environment import InstalledDistribution, InstalledEnvironment
from envdoctor.model.origin import FileOrigin
from envdoctor.model.override import Override, OverrideSource
from envdoctor.model.project import Project
from envdoctor.model.report import Report
from envdoctor.verbs.check import check
from envdoctor.verbs.check_request import CheckRequest
from envdoctor.verbs.project_index import as_the_project_says, overrides_of_project
from envdoctor.verbs.resolver_input import manifest_of

TABLE = {
    "torch": {"2.3.1": {}, "2.4.1": {}},
    "torchaudio": {"2.4.1": ["torch==2.4.1"]},
    "app": {"1": ["torch>=2"]},
}
SAID = tuple(replace(item, origin=FileOrigin("pyproject.toml", 7)) for item in read("torch==2.3.1"))


def _project(*lines: str) -> Project:
    return Project("", requirements=read(*lines), overrides=SAID)


def _checked(*lines: str) -> Report:
    project = _project(*lines)
    index = as_the_project_says(MemoryIndex(TABLE), project, LINUX)
    return check(CheckRequest(target=LINUX, today=date(2026, 11, 28), project=project, index=index))


def _overrides(report: Report) -> list[Override]:
    assert report.resolution
    return list(overrides_of_project(_project(), report.resolution, ()))


def test_a_pair_that_the_projects_own_override_tears_apart_is_told() -> None:
    report = _checked("torchaudio", "app")
    assert not report.conflicts
    (finding,) = [item for item in report.findings if item.rule == "RES201"]
    assert finding.subject == "torchaudio"
    assert "an override of torch alone has torn the pair apart" in finding.message


def test_who_asks_for_what_is_said_of_those_who_do() -> None:
    report = _checked("torchaudio", "app")
    torch = report.resolution.get("torch") if report.resolution else None
    assert torch
    assert [f"{item} ({item.origin})" for item in torch.wanted_by] == ["torch==2.3.1 (pyproject.toml:7)"]
    assert sorted(f"{item} ({item.origin})" for item in torch.set_aside) == [
        "torch==2.4.1 (torchaudio 2.4.1)",
        "torch>=2 (app 1)",
    ]
    (override,) = _overrides(report)
    assert override.requirement.pep508 == "torch==2.3.1"
    assert override.replaces == ("torchaudio",), "what app asks for is met"


def test_an_override_that_everybody_agrees_with_sets_nothing_aside() -> None:
    assert _overrides(_checked("app")) == []


def test_what_the_projects_own_override_holds_back_is_not_told_of_others() -> None:
    table: dict[str, dict[str, object]] = {"torch": {"1.13.1": {}, "2.4.1": {}}, "app": {"1": ["torch>=1"]}}
    project = Project("", requirements=read("app"), overrides=read("torch<2"))
    report = check(CheckRequest(target=LINUX, today=date(2026, 11, 28), project=project, index=MemoryIndex(table)))
    assert report.resolution
    assert str(report.resolution.packages[1].version) == "1.13.1"
    assert not report.resolution.walked_back


def test_an_override_that_nothing_meets_is_what_a_repair_replaces() -> None:
    project = Project("", requirements=read("app"), overrides=read("torch==9"))
    report = check(CheckRequest(target=LINUX, today=date(2026, 11, 28), project=project, index=MemoryIndex(TABLE)))
    assert [conflict.clash.package for conflict in report.conflicts] == ["torch"]
    replaced = [(str(o.requirement), [str(a) for a in o.sets_aside]) for r in report.repairs for o in r.overrides]
    assert ("torch==2.4.1", ["torch==9"]) in replaced


def test_the_lock_knows_it_as_the_projects_and_does_not_hold_to_it() -> None:
    (override,) = _overrides(_checked("torchaudio"))
    row = override_row(override)
    assert row["from-project"] is True
    read_back = override_of_row(row, "pylock.toml")
    assert read_back is not None
    assert read_back.source is OverrideSource.PROJECT
    for chosen in (False, True):
        locked = LockedProject("pylock.toml", {}, (read_back,), chosen=chosen)
        assert manifest_of(Project("", requirements=read("torchaudio")), LINUX, locked=locked).overrides == ()


def test_an_installed_package_that_the_project_overrides_is_no_open_fault() -> None:
    torchaudio = InstalledDistribution(canonicalize_name("torchaudio"), "2.4.1", ("torch==2.4.1",))
    torch = InstalledDistribution(canonicalize_name("torch"), "2.3.1")
    examination = Examination(
        target=LINUX, project=_project("torchaudio"), environment=InstalledEnvironment((torchaudio, torch))
    )
    demand = InstalledDemand(torchaudio, Requirement("torch==2.4.1"), "torch")
    waiver = waiver_for(examination, demand, torch)
    assert waiver is not None
    assert (waiver.reason, waiver.source) == ("the project overrides it", "pyproject.toml:7")
    assert waiver_for(examination, demand, replace(torch, version="2.4.0")) is None
