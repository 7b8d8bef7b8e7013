"""A wheel by its URL or path is read where it lies: what it asks for counts."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
from resolve_universe import LINUX, MemoryIndex, read

from envdoctor.model.candidate import DIRECT_REFERENCE
from envdoctor.model.project import Project
from envdoctor.model.report import Report
from envdoctor.verbs.check import check
from envdoctor.verbs.check_request import CheckRequest
from envdoctor.verbs.lock import LockChoice, lock

TABLE = {
    "model": {"3.8": ["numpy<2"]},
    "numpy": {"1.26": {}, "2.0": {}},
    "mute": {"1.0": {"no_metadata": True}},
}
URL = "https://files.example/releases/model-3.8-py3-none-any.whl#sha256=00"


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
    ],
)
def test_what_cannot_be_read_is_unknown(line: str, url: str) -> None:
    report = checked((line, url))
    assert (report.verdict.value, report.conflicts) == ("unknown", ())


def test_a_wheel_of_another_python_cannot_be_met() -> None:
    report = checked(("model==3.8", "https://files.example/model-3.8-cp310-cp310-linux_x86_64.whl"))
    assert [len(conflict.core) for conflict in report.conflicts] == [1]


def test_no_lock_is_made_of_it() -> None:
    outcome = lock(request(("model==3.8", URL)), LockChoice(), {})
    assert not outcome.files
    assert any("direct reference" in item.message for item in outcome.refusals)
