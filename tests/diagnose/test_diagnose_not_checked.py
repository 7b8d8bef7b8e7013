"""What could not be looked at, and what would tell it."""

from __future__ import annotations

import pytest

from envdoctor.diagnose.engine import examine
from envdoctor.diagnose.examination import Examination
from envdoctor.model.origin import FileOrigin
from envdoctor.model.unknown import Subject, SubjectKind, Unknown, UnknownKind

LINE = 'alpha ; os_name ~= "posix"'
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
        (Unknown(UnknownKind.MARKER, ALPHA, demand=LINE, origin=FileOrigin("reqs.txt", 1)), "correct the marker"),
        (Unknown(UnknownKind.MARKER, ALPHA, demand=LINE), "take another version of the package that asks for it"),
        (
            Unknown(UnknownKind.NO_REQUIREMENT, Subject(SubjectKind.PACKAGE), demand="beta =="),
            "the line is in a package's",
        ),
        (Unknown(UnknownKind.MAIN_LIST, Subject(SubjectKind.PROJECT)), "name the list by `--extra`"),
        (Unknown(UnknownKind.NEWER_LEVEL, ALPHA, cause="glibc 2.31"), "say which glibc the target has: `--glibc 2.31`"),
        (Unknown(UnknownKind.PYTHON_NOT_JUDGED, ALPHA, cause="Python 3.8"), "ask the installer on that Python"),
        (Unknown(UnknownKind.UNSOUND, ALPHA), "do not install this resolution"),
        (Unknown(UnknownKind.NO_METADATA, ALPHA, "main"), "ask for another version (`alpha!=2.0` leaves this one out)"),
        (Unknown(UnknownKind.BAD_METADATA, ALPHA, "main", cause="no zip file"), "ask for another version"),
        (Unknown(UnknownKind.OFFLINE, ALPHA, "main"), "run the same again where the index can be reached"),
    ],
)
def test_each_reason_has_its_own_way_on(unknown: Unknown, way: str) -> None:
    assert way_on(unknown).startswith(way)


@pytest.mark.parametrize("kind", UnknownKind)
def test_to_ask_again_is_the_way_on_only_where_it_may_tell(kind: UnknownKind) -> None:
    unknown = Unknown(kind, ALPHA, "main")
    assert way_on(unknown).startswith("run the same again") == unknown.is_of_an_index
    assert way_on(unknown)


def way_on(unknown: Unknown) -> str:
    (finding,) = (item for item in examine(Examination(unknowns=(unknown,))) if item.rule == "RES107")
    assert finding.remedy is not None
    return finding.remedy.summary
