"""An override in a lock: what is written is read back as the same value, and written again as the same text."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from packaging.markers import Marker
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from envdoctor.lock.pylock_reader import demand_of_text, override_of_row
from envdoctor.lock.pylock_writer import override_row
from envdoctor.model.origin import CommandLineOrigin, DistributionOrigin, FileOrigin, Origin, ProfileOrigin
from envdoctor.model.override import Override, OverrideSource, nothing_instead
from envdoctor.model.requirement import Requirement

TORCH = canonicalize_name("torch")
LINES: dict[str, Origin] = {
    "torch==2.7": FileOrigin("requirements.txt", 1),
    "torch (>=2.0)": FileOrigin("requirements (1).txt", 12),
    "torch>=2; (sys_platform == 'linux' or os_name == 'nt') and python_version > '3.8'": FileOrigin("a b/setup.py"),
    'torch = "^2.1"': FileOrigin("pyproject.toml", 7),
    "torch[opt]": ProfileOrigin("demo", "requires[0]"),
    "torch": CommandLineOrigin("--requirement"),
    "torch<2.5,>=2.4": DistributionOrigin("torchaudio", "2.4.1+cu121"),
    "torch @ https://host.example/torch-2.whl": FileOrigin("C:/x/requirements.txt", 3),
}


def _line(text: str, origin: Origin) -> Requirement:
    return demand_of_text(f"{text} ({origin})", TORCH)


@pytest.mark.parametrize(("text", "origin"), LINES.items())
def test_a_demand_is_told_apart_from_where_it_stands(text: str, origin: Origin) -> None:
    demand = _line(text, origin)
    assert (str(demand), demand.origin) == (text, origin)


@pytest.mark.parametrize("left_out", [False, True])
@pytest.mark.parametrize("source", [OverrideSource.PROFILE, OverrideSource.PROJECT, OverrideSource.LOCK])
def test_an_override_comes_back_as_it_was(source: OverrideSource, left_out: bool) -> None:
    marker = Marker('platform_machine == "x86_64"')
    asked = Requirement(TORCH, FileOrigin("pylock.toml"), SpecifierSet("==2.4.1"), frozenset({"opt"}), marker)
    instead = nothing_instead(asked) if left_out else asked
    aside = sorted((_line(text, origin) for text, origin in LINES.items()), key=lambda item: f"{item} ({item.origin})")
    written = Override(instead, because='it "goes"\nwith torch', source=source).resolved(instead, aside)
    row = override_row(written)
    read = override_of_row(row, "pylock.toml")
    assert read is not None
    assert read.replaces == ("project", "torchaudio")
    assert read.leaves_out is left_out
    assert replace(read, requirement=replace(read.requirement, text="")) == written
    assert override_row(read) == row


_WORDS = st.text(st.characters(codec="utf-8"), max_size=20)
_SOME = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(demand=_SOME, origin=_WORDS, because=_WORDS)
def test_whatever_a_lock_says_is_written_again_as_it_stands(demand: str, origin: str, because: str) -> None:
    row = {"requirement": "torch==2.4.1", "sets-aside": [f"{demand} ({origin})"], "replaces": ["project"]}
    row |= {"because": because} if because else {}
    read = override_of_row(row, "pylock.toml")
    assert read is not None
    assert override_row(read) == row


@pytest.mark.parametrize(
    "row", [None, "torch", {}, {"requirement": 1}, {"requirement": "torch = 2"}, {"sets-aside": ["torch (x)"]}]
)
def test_a_row_that_cannot_be_read_is_no_override(row: object) -> None:
    assert override_of_row(row, "pylock.toml") is None
