"""pip's options mean what they say: builds, wheels, pre-releases, hashes."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
from resolve_universe import LINUX, MemoryIndex, read

from envdoctor.model.origin import FileOrigin
from envdoctor.model.project import FileOption, Project
from envdoctor.model.report import Report
from envdoctor.verbs.check import check
from envdoctor.verbs.check_request import CheckRequest

ORIGIN = FileOrigin("requirements.txt", 9)
TABLE = {
    "both": {"1.0": {"sdist": True}, "2.0": {"wheel": False}},
    "early": {"1.0": {}, "2.0rc1": {}},
    "other": {"1.0": {"sdist": True}},
}


def checked(*lines: str, options: tuple[tuple[str, str], ...] = (), steps: dict[str, int] | None = None) -> Report:
    asked = tuple(replace(line, step=(steps or {}).get(line.name)) for line in read(*lines))
    said = tuple(FileOption(name, value, ORIGIN, 2 if steps else None) for name, value in options)
    project = Project("", requirements=asked, options=said)
    return check(CheckRequest(target=LINUX, today=date(2026, 11, 28), project=project, index=MemoryIndex(TABLE)))


def taken(report: Report) -> dict[str, str]:
    return {item.name: item.file.filename for item in report.resolution.packages} if report.resolution else {}


@pytest.mark.parametrize(
    ("options", "file"),
    [
        ((), "both-2.0.tar.gz"),
        ((("only-binary", ":all:"),), "both-1.0-py3-none-any.whl"),
        ((("only-binary", "other,both"),), "both-1.0-py3-none-any.whl"),
        ((("only-binary", ":all:"), ("no-binary", "both")), "both-2.0.tar.gz"),
        ((("only-binary", ":all:"), ("only-binary", ":none:")), "both-2.0.tar.gz"),
        ((("only-binary", "both"), ("no-binary", ":all:")), "both-2.0.tar.gz"),
        ((("prefer-binary", ""),), "both-1.0-py3-none-any.whl"),
    ],
)
def test_builds(options, file):
    assert taken(checked("both", options=options))["both"] == file


def test_wheels_that_are_not_allowed_are_no_candidates():
    assert taken(checked("other", options=(("no-binary", ":all:"),)))["other"] == "other-1.0.tar.gz"
    report = checked("early", options=(("no-binary", "early"),))
    (conflict,) = report.conflicts
    assert {item.kind.value for item in conflict.clash.rejections} == {"no-binary"}


def test_pre_releases_of_a_file_and_of_a_step():
    assert taken(checked("early", options=(("pre", ""),)))["early"] == "early-2.0rc1-py3-none-any.whl"
    assert taken(checked("early"))["early"] == "early-1.0-py3-none-any.whl"
    steps = {"early": 1, "other": 2}
    assert taken(checked("early", "other", options=(("pre", ""),), steps=steps))["early"].startswith("early-1.0")
    steps = {"early": 2, "other": 1}
    assert taken(checked("early", "other", options=(("pre", ""),), steps=steps))["early"].startswith("early-2.0rc1")


def hashed(*lines: tuple[str, bool], options: tuple[FileOption, ...] = ()) -> list[str]:
    read_lines = read(*(text for text, _ in lines))
    asked = tuple(
        replace(line, hashes=("sha256:" + "0" * 64,) if has else ())
        for line, (_, has) in zip(read_lines, lines, strict=True)
    )
    project = Project("", requirements=asked, options=options)
    report = check(CheckRequest(target=LINUX, today=date(2026, 11, 28), project=project, index=MemoryIndex(TABLE)))
    return [item.message for item in report.findings if item.rule == "RES018"]


def test_one_hash_makes_pip_ask_for_all():
    (message,) = hashed(("other==1.0", True), ("both==1.0", False), ("early>=1", True))
    assert message.endswith("pip then refuses what has none to check: `both`, `early` have none")
    assert not hashed(("other==1.0", True))
    assert not hashed(("other", False))
    (message,) = hashed(("other==1.0", False), options=(FileOption("require-hashes", "", ORIGIN),))
    assert "`other` has none" in message


def test_an_older_wheel_goes_first_where_it_may_and_only_for_its_own_command():
    prefer = (("prefer-binary", ""),)
    assert taken(checked("both>=2", options=prefer))["both"] == "both-2.0.tar.gz"
    assert taken(checked("both", "other", options=prefer, steps={"both": 1, "other": 2}))["both"] == "both-2.0.tar.gz"
    assert taken(checked("both", "other", options=prefer, steps={"both": 2, "other": 1}))["both"].endswith(".whl")
