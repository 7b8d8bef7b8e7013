"""Extras, groups and files that nobody asked for are judged, and decide nothing."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from resolve_universe import LINUX, MemoryIndex, read

from envdoctor.model.finding import Finding, Severity
from envdoctor.model.origin import FileOrigin
from envdoctor.model.project import Group, GroupChoice, Project
from envdoctor.model.report import Report
from envdoctor.model.requirement import GroupKind, GroupName, Requirement
from envdoctor.render.wording import holds, why
from envdoctor.verbs.check import check
from envdoctor.verbs.check_request import CheckRequest

TABLE = {
    "click": {"7.1": {}, "8.1": {}},
    "typer": {"0.1": ["click>=8"], "0.0.9": ["click<8"]},
    "pytest": {"6.2": {}, "8.0": {}},
    "pytest-asyncio": {"0.23": ["pytest>=7"]},
    "cupy": {"1.0": {"tags": ["cp311-cp311-win_amd64"]}},
    "torch": {"2.0": {}, "2.1": {}},
}


def group(kind: GroupKind, name: str, *lines: str, alone: bool = False) -> Group:
    called = GroupName(kind, name)
    return Group(called, tuple(replace(line, group=called) for line in read(*lines)), alone=alone)


def checked(*lines: str, groups: tuple[Group, ...]) -> Report:
    project = Project("", requirements=read(*lines), groups=groups)
    return check(CheckRequest(target=LINUX, today=date(2026, 11, 28), project=project, index=MemoryIndex(TABLE)))


def said(report: Report) -> list[Finding]:
    return [item for item in report.findings if item.rule == "RES016"]


def test_each_is_judged_with_the_main_list_and_decides_nothing() -> None:
    report = checked(
        "click>=8",
        groups=(
            group(GroupKind.EXTRA, "fine", "typer"),
            group(GroupKind.EXTRA, "cli", "typer", "click<8"),
            group(GroupKind.GROUP, "test", "pytest<7", "pytest-asyncio"),
        ),
    )
    assert (report.verdict.value, report.conflicts) == ("degraded", ())
    found = {item.subject: item for item in said(report)}
    assert {name: item.severity for name, item in found.items()} == {
        "cli": Severity.WARNING,
        "test": Severity.WARNING,
    }
    assert found["cli"].message == (
        "the extra `cli` cannot be installed here: `click>=8` (requirements.txt:1) and `click<8` (requirements.txt:2) "
        "need different versions of `click`"
    )


def test_groups_that_only_exclude_each_other_are_no_fault() -> None:
    report = checked("click", groups=(group(GroupKind.EXTRA, "a", "torch<2.1"), group(GroupKind.EXTRA, "b", "torch>2")))
    assert (report.verdict.value, said(report)) == ("healthy", [])


def test_many_of_one_cause_are_told_in_one_finding() -> None:
    gone = [group(GroupKind.EXTRA, f"old{number}", f"torch=={number}.9") for number in range(3, 7)]
    clash = [group(GroupKind.EXTRA, f"cli{number}", "click<8") for number in range(4)]
    report = checked("click>=8", groups=(*gone, *clash, group(GroupKind.GROUP, "test", "click<8")))
    assert [(item.subject, len(item.evidence)) for item in said(report)] == [("cli0", 4), ("old3", 4), ("test", 2)]
    cli, old, _ = said(report)
    assert old.message.startswith(
        "the extras `old3`, `old4`, `old5` and `old6` cannot be installed here: each names something that cannot be "
        "installed on linux x86_64, Python 3.11"
    )
    assert "each needs versions of `click` that do not go with `click>=8` (requirements.txt:1)" in cli.message
    assert old.remedy
    assert old.remedy.summary.startswith("`--extra NAME` judges it")


def test_an_extra_holds_where_it_holds_with_what_its_own_file_requires() -> None:
    extra = GroupName(GroupKind.EXTRA, "cli")
    published, own = (
        replace(line, origin=FileOrigin("setup.cfg", at)) for at, line in enumerate(read("click>=7", "click<8"), 1)
    )
    for_developers = read("click>=8")
    groups = (Group(extra, (replace(own, group=extra),)),)
    project = Project("", requirements=(published, *for_developers), groups=groups)
    request = CheckRequest(target=LINUX, today=date(2026, 11, 28), project=project, index=MemoryIndex(TABLE))
    assert not said(check(request))
    alone = replace(project, requirements=for_developers)
    assert [item.subject for item in said(check(replace(request, project=alone)))] == ["cli"]


def test_what_is_meant_for_another_machine_is_a_note() -> None:
    report = checked("click", groups=(group(GroupKind.EXTRA, "cuda", "cupy"),))
    (finding,) = said(report)
    assert (report.verdict.value, finding.severity) == ("healthy", Severity.INFO)
    assert finding.message.endswith("; it holds on windows x86_64, Python 3.11")


def test_a_list_of_another_tool_is_judged_alone() -> None:
    other = group(GroupKind.FILE, "environment.yml", "click<8", alone=True)
    assert not said(checked("click>=8", groups=(other,)))
    (finding,) = said(checked("click>=8", groups=(replace(other, requirements=read("click<7")),)))
    assert finding.remedy
    assert finding.remedy.summary.startswith("`envdoctor check environment.yml`")


def test_a_conflict_of_the_main_list_is_not_told_again_for_each_group() -> None:
    report = checked("click>=8", "click<8", groups=(group(GroupKind.EXTRA, "fine", "pytest"),))
    assert (report.verdict.value, said(report)) == ("broken", [])


def test_a_name_that_no_index_has_is_no_matter_of_the_target() -> None:
    report = checked(
        "click>=8",
        groups=(group(GroupKind.EXTRA, "odd", "clik"), group(GroupKind.EXTRA, "win", "cupy")),
    )
    odd, win = said(report)
    assert odd.message == "the extra `odd` cannot be installed here: no index has `clik` (requirements.txt:1)"
    assert odd.remedy is not None
    assert odd.remedy.summary.startswith("mend the name")
    assert "cannot be installed on linux" in win.message


def test_an_extra_of_a_member_of_a_workspace_is_judged_with_that_member_s_own_list() -> None:
    def placed(path: str, *texts: str) -> tuple[Requirement, ...]:
        root = FileOrigin("pyproject.toml", 9)
        return tuple(replace(line, origin=FileOrigin(path, 3, included_from=root)) for line in read(*texts))

    def extra(name: str, *texts: str) -> Group:
        called = GroupName(GroupKind.EXTRA, name, "part/core")
        return Group(called, tuple(replace(one, group=called) for one in placed("part/core/pyproject.toml", *texts)))

    lines = (*placed("part/web/pyproject.toml", "click>=8"), *placed("part/core/pyproject.toml", "torch"))
    groups = (extra("old", "click<8"), extra("cu", "torch<2.0"))
    project = Project("", requirements=lines, groups=groups)
    report = check(CheckRequest(target=LINUX, today=date(2026, 11, 28), project=project, index=MemoryIndex(TABLE)))
    assert [item.subject for item in said(report)] == ["part/core[cu]"]
    (cu,) = said(report)
    assert cu.message.startswith("the extra `cu` of `part/core` cannot be installed here: ")
    assert cu.remedy is not None
    assert cu.remedy.summary == "`envdoctor check part/core --extra cu` judges it, with repairs"


def test_of_an_extra_nothing_is_said_where_its_main_list_was_not_asked_for() -> None:
    groups = (group(GroupKind.EXTRA, "old", "click<8"), group(GroupKind.GROUP, "docs", "torch"))
    project = Project("", requirements=read("click>=8"), groups=groups)
    request = CheckRequest(target=LINUX, today=date(2026, 11, 28), project=project, index=MemoryIndex(TABLE))
    with_main = check(request)
    assert [item.subject for item in said(with_main)] == ["old"]
    alone = check(replace(request, groups=GroupChoice(only=("dev",))))
    assert said(alone) == []
    extra, docs = alone.scope.beside
    assert holds(extra) is None
    assert why(extra) == "an extra is judged with the main list, which was not asked for"
    assert holds(docs)
