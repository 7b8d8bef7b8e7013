"""Which advisories are read for which environment."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from diagnose_fixtures import examination_of

from envdoctor.diagnose.advisories.advising import advise
from envdoctor.diagnose.advisories.advisory import Advisory
from envdoctor.diagnose.advisories.book import read_some, shipped_advisories
from envdoctor.diagnose.advisories.selection import advisories_for, index_row, written_index
from envdoctor.diagnose.examination import Examination

BOOK = shipped_advisories().advisories


def test_the_index_of_the_advisories_is_current() -> None:
    assert json.dumps(list(map(index_row, BOOK))) == json.dumps(written_index()), (
        "run `python scripts/advisory_index.py`"
    )


def test_reading_some_finds_what_reading_all_finds() -> None:
    some = read_some(item.code for item in BOOK)
    assert [(item.code, item.source, item.message) for item in some] == [
        (item.code, item.source, item.message) for item in BOOK
    ]


def test_reading_some_leaves_the_others_out() -> None:
    assert [item.code for item in read_some({"ADV016"})] == ["ADV016"]


EXAMPLES = [
    pytest.param(example, id=f"{advisory.code}-{at}")
    for advisory in BOOK
    for at, example in enumerate(advisory.examples)
    if example.data.keys() & {"installed", "plan", "asked"} and "log" not in example.data
]


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_plan_or_an_environment_is_told_the_same_by_the_selection_as_by_all(example) -> None:
    examination = examination_of(example.data)
    told = list(advise(examination, advisories=advisories_for(examination)))
    assert told == list(advise(examination))


def codes(advisories: tuple[Advisory, ...]) -> set[str]:
    return {item.code for item in advisories}


def test_an_environment_of_other_packages_needs_no_advisory_at_all() -> None:
    assert advisories_for(examination_of({"installed": ["rich==13.0.0"]})) == ()


def test_an_environment_is_told_of_its_own_packages() -> None:
    chosen = codes(advisories_for(examination_of({"installed": ["numpy==2.1.0", "librosa==0.9.2"]})))
    assert "ADV016" in chosen
    assert "ADV018" not in chosen


def test_what_is_planned_beside_it_is_told_of_too() -> None:
    both = examination_of({"installed": ["rich==13.0.0"], "plan": ["numpy==2.1.0", "librosa==0.9.2"]})
    assert "ADV016" in codes(advisories_for(both))
    assert "ADV018" not in codes(advisories_for(both))
    assert "ADV016" not in codes(advisories_for(examination_of({"installed": [], "plan": ["rich==13.0.0"]})))


def test_without_packages_or_with_a_log_all_are_looked_at() -> None:
    assert advisories_for(Examination()) == BOOK
    assert advisories_for(replace(examination_of({"plan": ["rich==13.0.0"]}), log="Killed")) == BOOK
