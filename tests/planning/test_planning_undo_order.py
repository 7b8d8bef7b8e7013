"""Which fixes an undo takes back."""

from __future__ import annotations

import pytest
from packaging.utils import canonicalize_name

from envdoctor.model.event import FixEntry
from envdoctor.model.origin import FileOrigin
from envdoctor.model.override import Override
from envdoctor.model.requirement import Requirement
from envdoctor.model.step import PlannedFile
from envdoctor.verbs.run import variables_for
from envdoctor.verbs.treatment_result import disagreements
from envdoctor.verbs.undo import NothingToUndo, to_take_back, treated_together


def entry(name: str, state: str = "done", follows: str | None = None) -> FixEntry:
    return FixEntry(name, state, follows=follows)


def test_the_last_one_goes() -> None:
    assert to_take_back([entry("1", "undone"), entry("2"), entry("3")]) == ("3",)


def test_what_completes_a_fix_goes_with_it() -> None:
    assert to_take_back([entry("1"), entry("2"), entry("3", follows="2")]) == ("3", "2")


def test_a_chosen_one_takes_the_later_ones_along() -> None:
    assert to_take_back([entry("1"), entry("2", "undone"), entry("3")], "1") == ("3", "1")


def test_what_was_cut_short_comes_first() -> None:
    assert to_take_back([entry("1"), entry("2", "open")]) == ("2",)


def test_a_fix_whose_second_step_was_cut_short_goes_whole() -> None:
    assert to_take_back([entry("1"), entry("2"), entry("3", "open", follows="2")]) == ("3", "2")


def test_environments_that_one_fix_has_treated_are_taken_back_together() -> None:
    one = [entry("1"), FixEntry("3", "done", group="g")]
    two = [FixEntry("4", "done", group="g"), FixEntry("9", "undone", group="h")]
    assert treated_together({"a": one, "b": two, "c": [entry("2")], "d": []}) == ("a", "b")
    assert treated_together({"a": [entry("1")], "b": [entry("2")]}) == ("b",)
    assert treated_together({"a": [entry("1", "undone")]}) == ()


@pytest.mark.parametrize(("entries", "chosen"), [([], None), ([entry("1", "undone")], "1"), ([entry("1")], "9")])
def test_there_may_be_nothing(entries: list[FixEntry], chosen: str | None) -> None:
    with pytest.raises(NothingToUndo):
        to_take_back(entries, chosen)


def planned(name: str, version: str) -> PlannedFile:
    return PlannedFile(canonicalize_name(name), version, "f", "u", ())


AV_FOR_FASTER_WHISPER = Override(
    Requirement(canonicalize_name("av"), FileOrigin("pylock.toml")), replaces=("faster-whisper",)
)


def test_what_pip_does_not_see_is_an_error() -> None:
    found = disagreements([planned("a", "1.0"), planned("b", "2.0")], {"a": "1.0.0"}, [], [], source="pip 24")
    assert [(item.rule, item.subject) for item in found] == [("ENV030", "b")]


def test_an_accepted_complaint_is_explained_and_a_new_one_is_open() -> None:
    complaints = [
        ("faster-whisper", "av", "faster-whisper 1.0.1 has requirement av==11.*"),
        ("x", "y", "x 1 requires y"),
    ]
    explained, fresh = disagreements([], None, complaints, [AV_FOR_FASTER_WHISPER], source="pip")
    assert explained.waived is not None
    assert "on purpose" in explained.waived.reason
    assert fresh.waived is None


def test_an_override_for_one_consumer_does_not_excuse_another() -> None:
    (found,) = disagreements([], None, [("other", "av", "line")], [AV_FOR_FASTER_WHISPER], source="pip")
    assert found.waived is None


def test_a_command_runs_with_the_environment_first() -> None:
    current = {"PATH": "/usr/bin", "PYTHONHOME": "/x", "PYTHONPATH": "/other", "HOME": "/h"}
    found = variables_for(current, {"PYTHONUTF8": "1"}, environment="/e", scripts="/e/bin", separator=":")
    assert found == {"PATH": "/e/bin:/usr/bin", "HOME": "/h", "VIRTUAL_ENV": "/e", "PYTHONUTF8": "1"}
