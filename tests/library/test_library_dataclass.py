"""Our dataclasses behave as the standard ones, but for one thing: nothing refuses an assignment at run time."""

from __future__ import annotations

import copy
import dataclasses
import re
from dataclasses import field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

import envdoctor
from envdoctor.model.dataclass import dataclass


def classes(decorator: Any) -> dict[str, Any]:
    """Return the same classes, each made by one of the decorators."""

    @decorator(frozen=True, slots=True)
    class Base:
        name: str
        places: tuple[int, ...] = ()
        seen: dict[str, int] = field(default_factory=dict, compare=False)
        weight: list[int] = field(default_factory=list, hash=False, repr=False)

    @decorator(frozen=True, slots=True)
    class Child(Base):
        more: object = None

    @decorator(frozen=True, slots=True)
    class Kind:
        kind: ClassVar[str] = "kind"
        name: str = "x"

    @decorator(frozen=True, slots=True)
    class Nothing:
        pass

    @decorator(frozen=True, slots=True)
    class One:
        only: str = ""

    @decorator(frozen=True, slots=True)
    class Own:
        text: str

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Own) and other.text.casefold() == self.text.casefold()

        def __hash__(self) -> int:
            return hash(self.text.casefold())

        def __repr__(self) -> str:
            return f"<{self.text}>"

    @decorator(slots=True)
    class Draft:
        name: str
        lines: list[str] = field(default_factory=list)

    return {each.__name__: each for each in (Base, Child, Kind, Nothing, One, Own, Draft)}


OURS, STANDARD = classes(dataclass), classes(dataclasses.dataclass)
ARGUMENTS = [
    ("Base", ("a",)),
    ("Base", ("a", (1,), {"x": 1}, [1])),
    ("Base", ("a", (1,), {"y": 1}, [2])),
    ("Child", ("a", (1,))),
    ("Child", ("a", (1,), {}, [], 2)),
    ("Kind", ("a",)),
    ("Nothing", ()),
    ("One", ()),
    ("One", ("x",)),
    ("Own", ("X",)),
    ("Own", ("x",)),
]


@pytest.mark.parametrize(("name", "arguments"), ARGUMENTS)
def test_each_looks_and_hashes_as_the_standard_one(name: str, arguments: tuple[Any, ...]) -> None:
    ours, standard = OURS[name](*arguments), STANDARD[name](*arguments)
    assert repr(ours).replace(classes.__name__, "") == repr(standard).replace(classes.__name__, "")
    assert [(item.name, item.default) for item in fields(ours)] == [(f.name, f.default) for f in fields(standard)]
    assert is_dataclass(ours)
    assert not hasattr(ours, "__dict__")
    assert OURS[name].__match_args__ == STANDARD[name].__match_args__
    assert replace(ours) == ours
    assert copy.deepcopy(ours) == ours


def test_what_is_equal_to_what_is_the_same() -> None:
    def table(made: dict[str, Any]) -> list[list[bool]]:
        values = [made[name](*arguments) for name, arguments in ARGUMENTS]
        return [[one == other for other in values] for one in values]

    assert table(OURS) == table(STANDARD)


def test_what_is_equal_has_the_same_hash_and_goes_by_what_is_hashed_alone() -> None:
    base = OURS["Base"]
    assert hash(base("a", (1,), {"x": 1}, [1])) == hash(base("a", (1,), {}, [2]))
    assert len({base("a"), base("a"), base("b")}) == 2
    assert len({OURS["One"]("x"), OURS["One"]("x"), OURS["Nothing"](), OURS["Nothing"]()}) == 2


def test_a_value_is_asked_for_as_the_standard_one_is() -> None:
    base = OURS["Base"]
    assert base(name="a", weight=[2]).weight == [2]
    assert base("a").seen is not base("a").seen
    for wrong in ((), ("a", (), {}, [], 5)):
        messages = []
        for made in (OURS["Base"], STANDARD["Base"]):
            with pytest.raises(TypeError) as told:
                made(*wrong)
            messages.append(str(told.value))
        assert messages[0] == messages[1]
    with pytest.raises(TypeError, match="unexpected keyword argument 'other'"):
        base("a", other=1)


def test_what_all_values_share_is_no_field() -> None:
    assert (OURS["Kind"]().kind, OURS["Kind"].kind, len(fields(OURS["Kind"]))) == ("kind", "kind", 1)


def test_what_is_checked_after_the_fields_are_set_is_checked_for_every_value() -> None:
    seen = []

    @dataclass(frozen=True, slots=True)
    class Checked:
        name: str = "x"

        def __post_init__(self) -> None:
            seen.append(self.name)

    class Below(Checked):
        pass

    assert (Below("a").name, Checked().name, Below().name) == ("a", "x", "x")
    assert seen == ["a", "x", "x"]


def test_what_is_not_frozen_has_no_hash() -> None:
    assert OURS["Draft"]("a") == OURS["Draft"]("a")
    with pytest.raises(TypeError):
        hash(OURS["Draft"]("a"))


def test_one_that_holds_itself_is_shown() -> None:
    draft = OURS["Draft"]("a")
    draft.lines = [draft]
    assert repr(draft).endswith("Draft(name='a', lines=[...])")


def test_no_module_makes_a_dataclass_in_another_way() -> None:
    """The standard decorator costs each start of the command; the one module that has it is ours."""
    package = Path(envdoctor.__file__).parent
    imported = re.compile(r"^ *from dataclasses import (?:\([^)]*|.*)\bdataclass\b", re.MULTILINE)
    found = [path for path in package.rglob("*.py") if imported.search(path.read_text(encoding="utf-8"))]
    assert [path.relative_to(package).as_posix() for path in found] == ["model/dataclass.py"]
