"""A pasted list of versions, with the requirements that an index has for them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest
from packaging.utils import canonicalize_name
from packaging.version import Version

from envdoctor.adapters.probe.listing import read_listing
from envdoctor.model.candidate import CoreMetadata, DistributionFile, FileKind, ProjectPage
from envdoctor.model.environment import Interpreter
from envdoctor.model.unknown import Subject, SubjectKind, Unknown, UnknownKind
from envdoctor.ports import IndexUnavailable, ProjectNotFound
from envdoctor.verbs.check_environment import with_requirements

RELEASES = {
    ("faster-whisper", "1.1.0"): ("av<12,>=11", "tokenizers<1,>=0.13"),
    ("av", "12.3.0"): (),
    ("tensorflow", "2.20.0"): ("numpy", "absl-py", "gast", "h5py", "keras>=3.10", "wrapt; extra == 'x'"),
    ("torch", "2.6.0"): ("setuptools; python_version >= '3.12'", "filelock"),
}


class SmallIndex:
    """An index of three releases; it can be out of reach."""

    def __init__(self, *, reachable: bool = True) -> None:
        self.reachable = reachable

    def page(self, name: str) -> ProjectPage:
        if not self.reachable:
            raise IndexUnavailable(Unknown(UnknownKind.UNREACHABLE, Subject(SubjectKind.INDEX, "default"), "default"))
        files = [
            DistributionFile(
                canonicalize_name(project), Version(version), f"{project}-{version}.whl", FileKind.WHEEL, "https://x"
            )
            for project, version in RELEASES
            if project == name
        ]
        if not files:
            raise ProjectNotFound(name, "default")
        return ProjectPage(canonicalize_name(name), tuple(files))

    def prefetch_pages(self, names: Iterable[str]) -> None:
        list(names)

    def metadata(self, file: DistributionFile) -> CoreMetadata:
        return CoreMetadata(file.project, file.version, RELEASES[file.project, str(file.version)])

    def prefetch_metadata(self, files: Iterable[DistributionFile]) -> None:
        list(files)


def test_a_freeze_is_checked_with_the_requirements_of_the_index(diagnose):
    text = "faster-whisper==1.1.0\nav==12.3.0\nlocal-thing==1.0\n"
    environment = with_requirements(read_listing(text, "freeze.txt"), SmallIndex())
    findings = diagnose(environment, "ENV001")
    assert [finding.message for finding in findings] == [
        "`faster-whisper` 1.1.0 requires `av<12,>=11`, but 12.3.0 is installed",
        "`faster-whisper` 1.1.0 requires `tokenizers<1,>=0.13`, but it is not installed",
    ]
    (finding,) = diagnose(environment, "ENV011")
    assert "does not tell what these require: local-thing, which files they own" in finding.message


def test_what_a_freeze_leaves_out_is_not_missing(diagnose):
    environment = with_requirements(read_listing("torch==2.6.0\nfilelock==3.1\n", "freeze.txt"), SmallIndex())
    markers = {"python_version": "3.12", "python_full_version": "3.12.1"}
    environment = replace(environment, told=Interpreter(markers=markers))
    assert diagnose(environment, "ENV001") == []


def test_a_listing_of_a_choice_does_not_say_that_others_are_missing(diagnose):
    text = "PyTorch version: 2.6.0\n[pip3] torch==2.6.0\n[pip3] av==12.3.0\n[pip3] faster-whisper==1.1.0\n"
    environment = with_requirements(read_listing(text, "env.txt"), SmallIndex())
    assert [finding.subject for finding in diagnose(environment, "ENV001")] == ["faster-whisper"]


def test_builds_from_elsewhere_are_not_given_the_requirements_of_the_indexs_own():
    environment = read_listing("torch==2.6.0+cu124\n", "freeze.txt")
    assert with_requirements(environment, SmallIndex()) is environment


def test_an_index_out_of_reach_leaves_the_listing_as_it_was():
    environment = read_listing("torch==2.6.0\n", "freeze.txt")
    assert with_requirements(environment, SmallIndex(reachable=False)) is environment


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("tensorflow==2.20.0\nnumpy==2.1.0\n", 0),  # `pip list | grep`, without the command
        ("tensorflow==2.20.0\nnumpy==2.1.0\npip==26.3\n", 4),
        ("tensorflow==2.20.0\nnumpy==2.1.0\nkeras==3.10\nh5py==3\n", 2),
    ],
)
def test_rows_of_which_more_is_missing_than_listed_are_a_choice(diagnose, text, missing):
    environment = with_requirements(read_listing(text, "list.txt"), SmallIndex())
    assert len(diagnose(environment, "ENV001")) == missing
    (note,) = diagnose(environment, "ENV011")
    assert ("distributions that it leaves out" in note.message) is (missing == 0)
