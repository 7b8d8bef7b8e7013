"""Why a package has its version, or is not there: every reason has its words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from packaging.utils import NormalizedName, canonicalize_name
from packaging.version import Version
from resolve_universe import LINUX, WINDOWS, MemoryIndex, read

from envdoctor.model.candidate import ProjectPage, Rejection, RejectionKind
from envdoctor.model.profile import Exclusion, Profile, ProfileTarget
from envdoctor.model.project import Project
from envdoctor.model.report import Explained
from envdoctor.model.target import Arch, Backend, OperatingSystem, Target
from envdoctor.render.explanation_text import explanation_lines
from envdoctor.verbs.check_request import CheckRequest
from envdoctor.verbs.explain import explain_topic

TODAY = date(2026, 11, 28)


class DatedIndex(MemoryIndex):
    """An index some of whose files a date has taken out."""

    def too_new(self, name: NormalizedName) -> tuple[Rejection, ...]:
        if name != "app":
            return ()
        uploaded = "uploaded 2026-11-20T00:00:00Z"
        return (Rejection(RejectionKind.TOO_NEW, name, Version("9"), "app-9-py3-none-any.whl", uploaded),)


class StandInIndex(MemoryIndex):
    """An index whose files stand in for those of another."""

    def page(self, name: NormalizedName) -> ProjectPage:
        page = super().page(name)
        return replace(page, files=tuple(replace(file, stand_in=True, index="builds") for file in page.files))


def _explained(
    index: MemoryIndex, topic: str, *lines: str, target: Target = LINUX, excludes: Mapping[str, str] | None = None
) -> Explained:
    python = read("python>=3.8")[0].specifier
    kind = ProfileTarget(OperatingSystem.LINUX, Arch.X86_64, python, Backend.CPU)
    exclusions = tuple(Exclusion(canonicalize_name(name), why) for name, why in (excludes or {}).items())
    request = CheckRequest(
        target=target,
        today=TODAY,
        project=Project("", requirements=read(*lines)),
        profile=Profile("p", "", kind, excludes=exclusions) if excludes else None,
        index=index,
    )
    return explain_topic(request, topic)


def _text(explained: Explained) -> str:
    assert explained.explanation is not None
    return "\n".join(explanation_lines(explained, explained.explanation, verbose=True))


NEWER: list[tuple[dict[str, Any], str]] = [
    ({"yanked": True}, "2: yanked, and nobody pins it"),
    ({"tags": ["cp311-cp311-win_amd64"]}, "2: it has no file for this target"),
    ({"requires_python": ">=3.13"}, "2: not for this Python (needs Python >=3.13)"),
    ({"requires_python": "<3.11"}, "2: not for this Python (needs Python <3.11)"),
    ({"no_metadata": True}, "2: its metadata could not be read (app-2-py3-none-any.whl: no metadata)"),
    ({"requires": ["gone"]}, "2: needs gone, which cannot be had"),
    ({"requires": ["left>=2"]}, "2: needs left>=2, and 1 is here, for requirements.txt:2: left<2"),
    ({"requires": ["left>=2"], "yanked": True}, "2: yanked, and nobody pins it"),
]


@pytest.mark.parametrize(("entry", "line"), NEWER)
def test_a_newer_version_is_passed_over_for_a_reason_that_is_said(entry: dict[str, Any], line: str) -> None:
    index = MemoryIndex({"app": {"1": {}, "2": entry}, "left": {"1": {}, "2": {}}})
    assert f"  {line}" in _text(_explained(index, "app", "app", "left<2")).splitlines()


def test_a_pre_release_that_nobody_asks_for_is_called_one() -> None:
    index = MemoryIndex({"app": {"1": {}, "2rc1": {}}})
    assert "  2rc1: a pre-release, and nobody asks for one" in _text(_explained(index, "app", "app"))
    assert "it is the newest" in _text(_explained(index, "app", "app==2rc1"))


def test_a_version_that_is_too_new_for_the_date_is_named() -> None:
    text = _text(_explained(DatedIndex({"app": {"1": {}}}), "app", "app"))
    assert "  9: newer than the date allowed (uploaded 2026-11-20T00:00:00Z)" in text
    assert "newest version there is" not in text


def test_a_newer_version_needs_nothing_of_what_the_older_one_alone_holds() -> None:
    table = {"app": {"1": ["left==1"], "2": ["left==2", "right>=2"]}, "left": {"1": {}, "2": {}}, "right": {"1": {}}}
    lines = _text(_explained(MemoryIndex(table), "app", "app")).splitlines()
    assert "  2: needs right>=2, which cannot be had" in lines


def test_a_file_that_stands_in_says_so_and_what_is_not_known() -> None:
    index = StandInIndex({"torch": {"2.7.1": {}}})
    request = CheckRequest(
        target=WINDOWS,
        today=TODAY,
        project=Project("", requirements=read("torch")),
        index=index,
        plain_index=MemoryIndex({"torch": {"2.7.1": {}, "2.8.0": {}, "2.9.0": {}, "2.10rc1": {}}}),
    )
    text = _text(explain_topic(request, "torch"))
    assert "index builds could not be reached" in text
    assert "2.8.0 to 2.9.0: on the default index; which versions index builds has is not known" in text


def test_what_the_profile_leaves_out_is_explained_with_who_asks_for_it() -> None:
    index = MemoryIndex({"app": {"1": ["codec>=2"]}, "codec": {"2": {}}})
    explained = _explained(index, "codec", "app", "codec", excludes={"codec": "nothing imports it"})
    assert not explained.unknown_topic
    assert _text(explained).splitlines() == [
        "codec is left out by the profile, because nothing imports it",
        "",
        "who asks for it",
        "  requirements.txt:2: codec",
        "  app 1: codec>=2",
    ]


ABSENT = [
    (("app",), "gone", "gone is left out by the repair in use: no index has it"),
    (("triton==1",), "triton", "triton is left out by the repair in use: no version of it has a file for this target"),
    (("left", 'right ; sys_platform == "win32"'), "right", "right is asked for on other targets alone"),
    (("left", "right @ https://index.example/right.zip"), "right", "right is asked for, and nothing is known of it"),
]


@pytest.mark.parametrize(("lines", "topic", "first"), ABSENT)
def test_what_is_asked_for_and_not_there_is_explained(lines: tuple[str, ...], topic: str, first: str) -> None:
    table = {
        "app": {"1": ["gone"]},
        "triton": {"1": {"tags": ["cp311-cp311-win_amd64"]}},
        "left": {"1": {}},
        "right": {"1": {}},
    }
    explained = _explained(MemoryIndex(table), topic, *lines)
    assert not explained.unknown_topic
    said = _text(explained).splitlines()
    assert said[:3] == [first, "", "who asks for it"]
    assert topic in said[3]


def test_a_name_that_nobody_speaks_of_is_unknown() -> None:
    assert _explained(MemoryIndex({"left": {"1": {}}}), "right", "left").unknown_topic
