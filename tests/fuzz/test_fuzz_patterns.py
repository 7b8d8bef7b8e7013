"""Every regular expression of the package reads long lines in a time that grows as they do."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def fuzz_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))


def test_no_expression_grows_faster_than_its_text() -> None:
    from fuzz.patterns import BOUNDED, expressions, hostile_text

    places = list(expressions())
    assert len(places) > 400
    assert set(BOUNDED) <= {place.name for place in places}
    slow = {place.name: hostile_text(place) for place in places if place.name not in BOUNDED}
    assert {name: text for name, text in slow.items() if text is not None} == {}


@pytest.mark.parametrize(
    ("pattern", "flags", "anchored", "slow"),
    [
        (r"\w+=", 0, False, True),
        (r"\w+=", 0, True, False),
        (r"(?<!\w)\w+=", 0, False, False),
        (r"^\s*x", re.MULTILINE, False, True),
        (r"^[^\S\n]*x", re.MULTILINE, False, False),
        (r"(a.*?)\s*$", 0, True, True),
        (r"\[([^\]]+)\]", 0, False, True),
        (r"\[([^\[\]]+)\]", 0, False, False),
        (r"win(?:_?\d+)*$", 0, True, True),
        (r"win\d*(?:_\d+){0,4}$", 0, True, False),
        (r"\s*(<!--.*?-->\s*)*<html", re.DOTALL, True, True),
        (r"\s*(<!--(?:[^-]|-(?!->))*-->\s*)*<html", re.DOTALL, True, False),
    ],
)
def test_what_grows_too_fast_is_seen(pattern: str, flags: int, anchored: bool, slow: bool) -> None:
    from fuzz.patterns import Place, hostile_text

    assert (hostile_text(Place("here", re.compile(pattern, flags), anchored)) is not None) is slow
