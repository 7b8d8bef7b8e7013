"""What was looked at is part of a report in every format."""

from __future__ import annotations

import json

import pytest

from envdoctor.model.conflict import GroupOutcome
from envdoctor.model.project import FileLeftOut, LeftOut
from envdoctor.model.report import FileRead, Report, Scope, Setting
from envdoctor.model.requirement import GroupKind, GroupName
from envdoctor.model.unknown import Subject, SubjectKind, Unknown, UnknownKind
from envdoctor.render import RenderOptions, render

URL = "https://other.example/simple"
OTHER = Unknown(UnknownKind.OTHER_INDEX, Subject(SubjectKind.INDEX, URL), url=URL)

REPORT = Report(
    "check",
    scope=Scope(
        read=(FileRead("requirements.txt", "requirements"),),
        not_read=(FileLeftOut("Dockerfile", LeftOut.IMAGE),),
        asked=(GroupName(GroupKind.GROUP, "test"),),
        beside=(
            GroupOutcome(GroupName(GroupKind.EXTRA, "cli")),
            GroupOutcome(GroupName(GroupKind.EXTRA, "cu"), unknown=OTHER),
        ),
        environments=(".venv",),
        index_settings=(Setting("default", "https://index.example/simple", "--index-url"),),
        upload_settings=(
            Setting("", "2026-01-31T00:00:00Z", "pip.conf"),
            Setting("package demo", "", "pyproject.toml:7"),
        ),
        target_facts=(Setting("python", "3.11", "--target-python"),),
    ),
)


@pytest.mark.parametrize("format_", ["human", "json", "sarif", "junit", "github", "markdown", "html"])
def test_every_format_says_what_was_looked_at(format_):
    text = " ".join(render(REPORT, format_, options=RenderOptions(verbose=True)).split())
    for word in ("requirements.txt", "Dockerfile", "cli", "test", "another index", ".venv", "--index-url", "target"):
        assert word in text, word


def test_until_when_files_may_have_been_uploaded_is_said_with_who_says_so():
    text = " ".join(render(REPORT, "human", options=RenderOptions(verbose=True)).split())
    assert "uploaded before 2026-01-31T00:00:00Z (pip.conf), any time (package demo, pyproject.toml:7)" in text
    assert json.loads(render(REPORT, "json"))["scope"]["uploaded_before"] == [
        {"for": None, "time": "2026-01-31T00:00:00Z", "from": "pip.conf"},
        {"for": "package demo", "time": None, "from": "pyproject.toml:7"},
    ]


def test_a_report_without_a_scope_says_nothing_of_it():
    for format_ in ("human", "markdown", "github"):
        assert "looked at" not in render(Report("host"), format_)


def test_the_document_tells_what_decides():
    scope = json.loads(render(REPORT, "json"))["scope"]
    assert scope["read"] == [{"path": "requirements.txt", "as": "requirements"}]
    assert scope["not_read"] == [{"path": "Dockerfile", "reason": "says how an image is built"}]
    assert scope["groups"] == [{"name": "test", "decides": True, "holds": None, "reason": ""}]
    assert [(one["name"], one["decides"], one["holds"]) for one in scope["extras"]] == [
        ("cli", False, True),
        ("cu", False, None),
    ]
    assert scope["index"] == [{"url": "https://index.example/simple", "from": "--index-url"}]
    assert scope["target_from"] == {"python": "--target-python"}
