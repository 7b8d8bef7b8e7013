"""A wheel by its URL or path is read where it lies: what it asks for counts."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from packaging.utils import canonicalize_name
from resolve_universe import LINUX, MemoryIndex, read

from envdoctor.model.candidate import DIRECT_REFERENCE
from envdoctor.model.project import Project
from envdoctor.model.report import Report
from envdoctor.render.reasons import reason
from envdoctor.verbs.check import check
from envdoctor.verbs.check_request import CheckRequest
from envdoctor.verbs.lock import LockChoice, lock

TABLE = {
    "model": {"3.8": ["numpy<2"]},
    "numpy": {"1.26": {}, "2.0": {}},
    "mute": {"1.0": {"no_metadata": True}},
}
URL = "https://files.example/releases/model-3.8-py3-none-any.whl#sha256=" + "0" * 64


def request(*lines: tuple[str, str | None]) -> CheckRequest:
    asked = tuple(
        replace(line, url=url) for line, (_, url) in zip(read(*(text for text, _ in lines)), lines, strict=True)
    )
    return CheckRequest(
        target=LINUX, today=date(2026, 11, 28), project=Project("", requirements=asked), index=MemoryIndex(TABLE)
    )


def checked(*lines: tuple[str, str | None]) -> Report:
    return check(request(*lines))


def test_what_a_wheel_by_url_asks_for_counts() -> None:
    report = checked(("model==3.8", URL))
    assert report.verdict.value == "healthy"
    assert report.resolution
    assert [(item.name, str(item.version), item.file.index) for item in report.resolution.packages] == [
        ("model", "3.8", DIRECT_REFERENCE),
        ("numpy", "1.26", "default"),
    ]
    report = checked(("model==3.8", URL), ("numpy>=2", None))
    assert [sorted(item.name for item in conflict.core) for conflict in report.conflicts] == [["model", "numpy"]]


@pytest.mark.parametrize(
    ("line", "url"),
    [
        ("mute==1.0", "https://files.example/mute-1.0-py3-none-any.whl"),
        ("model", "git+https://git.example/model"),
        ("model", "https://files.example/model-3.8.tar.gz"),
        ("model", "https://files.example/model-3.8.whl"),
    ],
)
def test_what_cannot_be_read_is_unknown(line: str, url: str) -> None:
    report = checked((line, url))
    assert (report.verdict.value, report.conflicts) == ("unknown", ())
    said = "a direct reference: no metadata" if line == "mute==1.0" else "a direct reference, which is not fetched"
    if url.endswith("/model-3.8.whl"):
        named = "named as a wheel must be (`name-version-python-abi-platform.whl`)"
        said = f"a direct reference: `model-3.8.whl` is not {named}"
    assert [reason(unknown) for unknown in report.unknowns] == [said]


def test_a_wheel_of_another_python_cannot_be_met() -> None:
    report = checked(("model==3.8", "https://files.example/model-3.8-cp310-cp310-linux_x86_64.whl"))
    assert [len(conflict.core) for conflict in report.conflicts] == [1]


def test_no_lock_is_made_of_it() -> None:
    outcome = lock(request(("model==3.8", URL)), LockChoice(), {})
    assert not outcome.files
    assert any("direct reference" in item.message for item in outcome.refusals)


WHEELS = "https://files.example/releases"
BETA = f"beta @ {WHEELS}/beta-9.0-py3-none-any.whl"
AT_URLS = {
    **TABLE,
    "alpha": {"1.0": ["six"], "2.0": [BETA]},
    "six": {"1.0": {}},
    "other": {"1.0": ["beta<9"]},
    "gamma": {"1.0": [f"beta @ {WHEELS}/beta-8.0-py3-none-any.whl"]},
    "lost": {"1.0": [f"mute @ {WHEELS}/mute-1.0-py3-none-any.whl"]},
    "foreign": {"1.0": [f"beta @ {WHEELS}/numpy-2.0-py3-none-any.whl"]},
    "old": {"1.0": [f"beta @ {WHEELS}/beta-9.0-cp310-cp310-linux_x86_64.whl"]},
}
OF_INDEX = {"beta": {"1.0": {}, "8.5": {}}}


class UrlIndex(MemoryIndex):
    """An index beside which wheels of beta lie that it does not list."""

    def __init__(self, table: Any) -> None:
        super().__init__(table)
        for version in ("8.0", "9.0"):
            tuple(self._files(canonicalize_name("beta"), version, ["numpy<2"]))


def at_urls(*texts: str, more: Any = None) -> Report:
    index = UrlIndex({**AT_URLS, **(more or {})})
    project = Project("", requirements=read(*texts))
    return check(CheckRequest(target=LINUX, today=date(2026, 11, 28), project=project, index=index))


def versions(report: Report) -> dict[str, str]:
    return {item.name: str(item.version) for item in report.resolution.packages} if report.resolution else {}


@pytest.mark.parametrize("more", [None, OF_INDEX])
def test_a_wheel_at_a_url_that_metadata_asks_for_is_read_and_what_it_asks_for_counts(more: Any) -> None:
    report = at_urls("alpha==2.0", more=more)
    assert (report.verdict.value, report.unknowns) == ("healthy", ())
    assert versions(report) == {"alpha": "2.0", "beta": "9.0", "numpy": "1.26"}
    assert report.resolution
    assert next(item.file.index for item in report.resolution.packages if item.name == "beta") == DIRECT_REFERENCE


def test_other_demands_are_held_against_the_wheel_that_lies_there() -> None:
    report = at_urls("alpha==2.0", "beta>=9", more=OF_INDEX)
    assert (report.conflicts, versions(report)["beta"]) == ((), "9.0")
    report = at_urls("alpha==2.0", "other")
    assert [sorted(item.name for item in conflict.core) for conflict in report.conflicts] == [["other"]]
    report = at_urls("alpha==2.0", "numpy>=2")
    assert [sorted(item.name for item in conflict.core) for conflict in report.conflicts] == [["alpha", "numpy"]]


def test_a_conflict_is_one_whatever_an_index_has_where_nobody_asks_for_the_project_by_its_name_alone() -> None:
    report = at_urls("alpha==2.0", "numpy>=2", more=OF_INDEX)
    assert [sorted(item.name for item in conflict.core) for conflict in report.conflicts] == [["alpha", "numpy"]]


def test_a_version_that_asks_for_no_url_is_taken_where_what_lies_there_does_not_go_with_the_rest() -> None:
    assert versions(at_urls("alpha", "numpy>=2")) == {"alpha": "1.0", "six": "1.0", "numpy": "2.0"}


@pytest.mark.parametrize(
    ("lines", "more", "said"),
    [
        (("lost",), None, "mute-1.0-py3-none-any.whl: no metadata"),
        (("foreign",), None, "a direct reference: the wheel there is one of `numpy`"),
        (("alpha==2.0", "gamma"), None, "a direct reference: another version asks for another file"),
        (
            ("alpha==2.0", "other"),
            OF_INDEX,
            "a direct reference: no version goes with what lies there",
        ),
    ],
)
def test_what_cannot_be_told_of_a_url_of_metadata_is_unknown_with_the_reason(
    lines: tuple[str, ...], more: Any, said: str
) -> None:
    report = at_urls(*lines, more=more)
    assert (report.verdict.value, report.conflicts) == ("unknown", ())
    assert said in {reason(unknown) for unknown in report.unknowns}


def test_a_wheel_of_another_python_at_a_url_of_metadata_cannot_be_met() -> None:
    assert [len(conflict.core) for conflict in at_urls("old").conflicts] == [1]


@pytest.mark.parametrize(
    ("tag", "said"),
    [
        ("cp310-cp310-manylinux_2_17_x86_64", "Python 3.10 has `x` 1 on linux x86_64"),
        ("cp310-cp310-win_amd64", "no Python helps: `x` 1 has wheels for Windows x86_64"),
    ],
)
def test_a_wheel_for_another_target_hides_no_repair_and_its_name_says_what_it_is_for(tag: str, said: str) -> None:
    report = checked(("numpy<2", None), ("numpy>=2", None), ("x", f"https://files.example/x-1-{tag}.whl"))
    assert [len(conflict.core) for conflict in report.conflicts] == [2, 1]
    assert {repair.resolves for repair in report.repairs} == {("C1", "C2")}
    assert [(one.name, one.leaves_out) for one in report.repairs[0].overrides] == [("numpy", False), ("x", True)]
    (finding,) = (finding for finding in report.findings if finding.rule == "RES101")
    assert finding.remedy
    assert finding.remedy.summary.startswith(said)


def test_no_lock_is_made_of_a_wheel_that_metadata_asks_for_by_url() -> None:
    index = UrlIndex(AT_URLS)
    project = Project("", requirements=read("alpha==2.0"))
    outcome = lock(CheckRequest(target=LINUX, today=date(2026, 11, 28), project=project, index=index), LockChoice(), {})
    assert not outcome.files
    assert any(item.message.startswith(f"alpha 2.0 asks for `{BETA}`, a direct") for item in outcome.refusals)
