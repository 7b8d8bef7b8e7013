"""What conda installs is not refuted by a Python index, and not looked up where it cannot be."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from resolve_universe import LINUX, MemoryIndex, read

from envdoctor.model.project import Project
from envdoctor.model.report import Report
from envdoctor.verbs.check import check
from envdoctor.verbs.check_request import CheckRequest
from envdoctor.verbs.project_index import as_the_project_says, left_to_conda

TABLE = {
    "numpy": {"1.24": {}, "2.0": {}},
    "scipy": {"1.5": ["numpy<1.20", "pool"]},
    "pool": {"1.0": {}},
    "new": {"1.0": ["numpy>=2"]},
    "faiss": {"1.7": {}},
}


def checked(conda: tuple[str, ...], pip: tuple[str, ...] = ()) -> Report:
    lines = (*(replace(line, conda=True) for line in read(*conda)), *read(*pip))
    index = MemoryIndex(TABLE)
    project = left_to_conda(Project("", requirements=lines), index)
    said = as_the_project_says(index, project, LINUX)
    return check(CheckRequest(target=LINUX, today=date(2026, 11, 28), project=project, index=said))


def test_names_and_versions_that_only_conda_has_are_left_to_it() -> None:
    report = checked(("geo-base", "faiss==1.8", "numpy"))
    assert (report.conflicts, report.verdict.value) == ((), "healthy")
    (note,) = [item for item in report.findings if item.rule == "RES006"]
    assert note.message.startswith("2 packages of conda's channels")
    assert note.message.endswith("are left to conda: `geo-base`, `faiss==1.8`")
    assert not note.evidence


def test_a_long_list_of_conda_packages_is_one_note() -> None:
    (note,) = [item for item in checked(tuple(f"geo-{n}" for n in range(8))).findings if item.rule == "RES006"]
    assert note.message.endswith("`geo-3`, `geo-4` and 3 more")
    assert [item.what for item in note.evidence] == ["geo-5", "geo-6", "geo-7"]


def test_where_conda_installs_all_of_it_nothing_was_judged() -> None:
    assert checked(("geo-base",)).verdict.value == "unknown"


def test_how_conda_packages_hold_together_is_told_by_conda() -> None:
    report = checked(("scipy==1.5", "numpy==1.24"))
    assert not report.conflicts
    assert report.resolution
    assert [item.name for item in report.resolution.packages] == ["numpy", "pool", "scipy"]


def test_what_pip_adds_must_fit_what_conda_installs() -> None:
    report = checked(("numpy==1.24",), ("new",))
    assert [sorted(str(line) for line in conflict.core) for conflict in report.conflicts] == [["new", "numpy==1.24"]]
