"""What could not be read is no reason for a conflict; what is impossible whatever it says still is one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from packaging.utils import canonicalize_name
from resolve_universe import JETSON, LINUX, MemoryIndex, read

from envdoctor.model.candidate import CoreMetadata, DistributionFile, ProjectPage
from envdoctor.model.unknown import Subject, SubjectKind, Unknown, UnknownKind
from envdoctor.ports import MetadataUnavailable
from envdoctor.render.explanation_text import newer_reason
from envdoctor.resolve.diagnosis import Diagnosis, diagnose
from envdoctor.resolve.explanation import explain
from envdoctor.resolve.manifest import Manifest

UNREAD = {"no_metadata": True}


class OnlyBuilds(MemoryIndex):
    """An index whose missing metadata only a build would tell."""

    def metadata(self, file: DistributionFile) -> CoreMetadata:
        try:
            return super().metadata(file)
        except MetadataUnavailable as error:
            raise MetadataUnavailable(replace(error.unknown, kind=UnknownKind.ONLY_A_BUILD)) from None


class HalfFilled(MemoryIndex):
    """A cache that knows the pages, and the metadata of some of the versions alone."""

    def metadata(self, file: DistributionFile) -> CoreMetadata:
        try:
            return super().metadata(file)
        except MetadataUnavailable as error:
            raise MetadataUnavailable(replace(error.unknown, kind=UnknownKind.OFFLINE)) from None


def found(table: dict[str, Any], *lines: str) -> Diagnosis:
    return diagnose(Manifest(read(*lines), LINUX), MemoryIndex(table))


def cores(diagnosis: Diagnosis) -> list[list[str]]:
    return [[str(member) for member in conflict.core] for conflict in diagnosis.conflicts]


@pytest.mark.parametrize(
    "table",
    [
        {"app": {"1": ["part>=1"]}, "part": {"1": UNREAD, "2": UNREAD}},
        {"app": {"1": ["part"]}, "part": {"1": ["leaf>=3"], "2": UNREAD}, "leaf": {"1": []}},
        {"app": {"1": ["part"]}, "part": {"1": ["deep"]}, "deep": {"1": UNREAD}},
    ],
)
def test_a_version_below_that_could_not_be_read_is_no_conflict(table: dict[str, Any]) -> None:
    diagnosis = found(table, "app==1")
    assert not diagnosis.conflicts
    assert diagnosis.resolution is not None
    assert diagnosis.unknowns


def test_what_is_impossible_whatever_the_unread_says_is_a_conflict_and_its_repair_is_not_called_verified() -> None:
    table = {
        "one": {"1": ["shared<2"]},
        "two": {"1": ["shared>=2"], "2": ["shared"]},
        "shared": {"1": [], "2": []},
        "app": {"1": ["part"]},
        "part": {"1": UNREAD},
    }
    diagnosis = found(table, "one==1", "two==1", "app==1")
    assert cores(diagnosis) == [["one==1", "two==1"]]
    assert diagnosis.repairs
    assert not any(repair.verified for repair in diagnosis.repairs)
    assert not any(override.requirement.name in ("app", "part") for r in diagnosis.repairs for override in r.overrides)
    assert "part" in {unknown.subject.name for unknown in diagnosis.unknowns}


def test_unread_versions_that_no_conflict_rests_on_change_nothing() -> None:
    table = {"one": {"1": ["shared<2"]}, "two": {"1": ["shared>=2"]}, "shared": {"1": [], "2": [], "3": UNREAD}}
    diagnosis = found(table, "one", "two", "shared!=3")
    assert cores(diagnosis) == [["one", "two"]]


def test_what_only_a_build_would_tell_is_unknown_and_no_conflict() -> None:
    table: dict[str, Any] = {"app": {"1": ["part<2"]}, "part": {"0.5": UNREAD, "1": UNREAD, "2": []}}
    for lines in (["app==1"], ["part<2"]):
        diagnosis = diagnose(Manifest(read(*lines), LINUX), OnlyBuilds(table))
        assert not diagnosis.conflicts
        assert diagnosis.resolution is not None
        assert str(getattr(diagnosis.resolution.get(canonicalize_name("part")), "version", "")) == "1"
        (unknown,) = diagnosis.unknowns
        assert (unknown.kind, unknown.subject.name, unknown.subject.version) == (UnknownKind.ONLY_A_BUILD, "part", "1")
        assert not unknown.may_be_asked_again


def test_a_version_that_can_be_read_is_taken_before_one_that_only_its_build_would_tell() -> None:
    table: dict[str, Any] = {
        "app": {"1": ["part"]},
        "part": {"1": [], "2": UNREAD},
        "one": {"1": ["shared<2"]},
        "two": {"1": ["shared>=2"]},
        "shared": {"1": [], "2": []},
    }
    diagnosis = diagnose(Manifest(read("app", "one", "two"), LINUX), OnlyBuilds(table))
    assert cores(diagnosis) == [["one", "two"]]
    assert diagnosis.resolution is not None
    assert str(getattr(diagnosis.resolution.get(canonicalize_name("part")), "version", "")) == "1"


def test_a_conflict_that_no_build_can_mend_stays_one() -> None:
    table: dict[str, Any] = {"app": {"1": ["part<1"]}, "part": {"1": UNREAD}}
    diagnosis = diagnose(Manifest(read("app==1"), LINUX), OnlyBuilds(table))
    assert cores(diagnosis) == [["app==1"]]


@pytest.mark.parametrize(
    ("table", "unread"),
    [
        ({"app": {"1": [], "2": ["part>=1"]}, "part": {"1": UNREAD, "2": UNREAD}}, ("part", "2")),
        ({"app": {"1": [], "2": UNREAD}}, ("app", "2")),
        ({"app": {"1": [], "2": ["part"]}, "part": {"1": ["deep"]}, "deep": {"3": UNREAD}}, ("deep", "3")),
    ],
)
def test_no_older_version_is_taken_for_want_of_what_only_the_cache_does_not_know(
    table: dict[str, Any], unread: tuple[str, str]
) -> None:
    diagnosis = diagnose(Manifest(read("app"), LINUX), HalfFilled(table))
    assert not diagnosis.conflicts
    assert diagnosis.resolution is not None
    assert str(getattr(diagnosis.resolution.get("app"), "version", "")) == "2"
    assert unread in {(item.subject.name, item.subject.version) for item in diagnosis.unknowns}


def test_an_explanation_says_what_could_not_be_read_and_not_that_nothing_needed_it() -> None:
    table: dict[str, Any] = {"app": {"1": [], "2": ["part>=1"]}, "part": {"1": UNREAD, "2": UNREAD}}
    diagnosis = diagnose(Manifest(read("app"), LINUX), MemoryIndex(table))
    assert diagnosis.resolution is not None
    assert diagnosis.graph is not None
    (newer,) = explain(diagnosis.resolution, diagnosis.graph, "app").newer
    said = newer_reason(newer)
    assert said.startswith("needs part>=1, of which no version could be read (")


class StandingIn(MemoryIndex):
    """The default index's files in the place of those of an index that could not be reached."""

    def page(self, name: str) -> ProjectPage:
        page = super().page(name)
        why = Unknown(UnknownKind.UNREACHABLE, Subject(SubjectKind.PACKAGE, name), index="pytorch-cu128")
        return replace(page, files=tuple(replace(file, stand_in=True) for file in page.files), unread=why)


@pytest.mark.parametrize(
    ("tag", "conflict"),
    [
        # PyTorch's index has triton 3.3.1 for aarch64, the default one has not.
        ("cp312-cp312-manylinux_2_28_x86_64", False),
        # What no processor has for this Python, no index has.
        ("cp310-cp310-manylinux_2_28_x86_64", True),
    ],
)
def test_what_stands_in_tells_nothing_of_another_processor(tag: str, conflict: bool) -> None:
    table = {"triton": {"3.3.1": {"tags": [tag]}, "3.8.0": {"tags": ["cp312-cp312-manylinux_2_28_aarch64"]}}}
    diagnosis = diagnose(Manifest(read("triton==3.3.1"), JETSON), StandingIn(table))
    assert bool(diagnosis.conflicts) is conflict
    assert ("triton" in {unknown.subject.name for unknown in diagnosis.unknowns}) is not conflict


class HalfReached(MemoryIndex):
    """The default index's own files, beside an index that could not be reached."""

    def page(self, name: str) -> ProjectPage:
        why = Unknown(UnknownKind.UNREACHABLE, Subject(SubjectKind.PACKAGE, name), index="further")
        return replace(super().page(name), unread=why)


@pytest.mark.parametrize(
    ("jaxlib", "conflict"),
    [
        ({"0.4.20": []}, False),
        ({"0.4.20": [], "0.4.20+cuda11.cudnn86": []}, True),
        ({"0.4.20": [], "0.4.20+cuda12.cudnn89": []}, False),
    ],
)
def test_a_release_without_a_label_tells_nothing_of_builds_that_another_index_may_have(
    jaxlib: dict[str, Any], conflict: bool
) -> None:
    table = {"jax": {"0.4.20": ["jaxlib==0.4.20+cuda12.cudnn89"]}, "jaxlib": jaxlib}
    diagnosis = diagnose(Manifest(read("jax==0.4.20"), LINUX), HalfReached(table))
    assert bool(diagnosis.conflicts) is conflict
    asked = {unknown.subject.name for unknown in diagnosis.unknowns}
    assert ("jaxlib" in asked) is (len(jaxlib) == 1)
