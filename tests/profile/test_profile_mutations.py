"""Whatever is wrong with a profile, the answer is a ProfileError with faults and never another exception."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from envdoctor.profile.load import parse_profile
from envdoctor.profile.validation import ProfileError
from envdoctor.shipped import shipped_folder, shipped_names

TEXTS = [(shipped_folder() / f"{name}.toml").read_text(encoding="utf-8") for name in shipped_names()]
VALUES = ["1", "true", "[]", "{}", '""', '"../x"', "[1]", '["a", "a"]', "1979-05-27", "-1", "[[]]", '{ a = "b" }']


@st.composite
def mutated(draw: st.DrawFn) -> str:
    lines = draw(st.sampled_from(TEXTS)).splitlines()
    for _ in range(draw(st.integers(1, 4))):
        number = draw(st.integers(0, len(lines) - 1))
        kind = draw(st.sampled_from(["delete", "repeat", "value", "cut", "key"]))
        line = lines[number]
        if kind == "delete":
            lines[number] = ""
        elif kind == "repeat":
            lines.insert(number, line)
        elif kind == "value" and "=" in line:
            lines[number] = line.split("=")[0] + "= " + draw(st.sampled_from(VALUES))
        elif kind == "cut" and line:
            lines[number] = line[: draw(st.integers(0, len(line)))]
        elif kind == "key" and "=" in line:
            lines[number] = "x" + line
    return "\n".join(lines)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(mutated())
def test_a_mutated_profile_is_read_or_refused(text: str) -> None:
    try:
        profile = parse_profile(text, "mutated.toml")
    except ProfileError as error:
        assert error.faults
        assert all(fault.message and not fault.message.endswith(".") for fault in error.faults)
    else:
        assert profile.name
