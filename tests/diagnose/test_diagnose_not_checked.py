"""What could not be looked at, and what would tell it."""

from __future__ import annotations

import pytest

from envdoctor.diagnose.engine import examine
from envdoctor.diagnose.examination import Examination
from envdoctor.model.unknown import Subject, SubjectKind, Unknown, UnknownKind

ALPHA = Subject(SubjectKind.PACKAGE, "alpha", "2.0")


@pytest.mark.parametrize(
    ("unknown", "way"),
    [
        (Unknown(UnknownKind.ONLY_A_BUILD, ALPHA), "build it once, `pip wheel --no-deps alpha==2.0`"),
        (
            Unknown(UnknownKind.DIRECT_REFERENCE, ALPHA, cause="cannot connect"),
            "correct it where it is wrong; else install",
        ),
        (Unknown(UnknownKind.DIRECT_REFERENCE, ALPHA), "a direct reference is not fetched here: install it"),
        (Unknown(UnknownKind.SEARCH_GIVEN_UP, Subject(SubjectKind.PROJECT)), "pin what you know"),
        (Unknown(UnknownKind.OFFLINE, ALPHA, "main"), "run the same again where the index can be reached"),
    ],
)
def test_each_reason_has_its_own_way_on(unknown: Unknown, way: str) -> None:
    (finding,) = (item for item in examine(Examination(unknowns=(unknown,))) if item.rule == "RES107")
    assert finding.remedy is not None
    assert finding.remedy.summary.startswith(way)
