"""TORCH_CUDA_ARCH_LIST beside the card."""

from __future__ import annotations

import pytest

from envdoctor.diagnose.engine import examine
from envdoctor.diagnose.examination import Examination
from envdoctor.model.fact import Fact, Facts, FactState
from envdoctor.model.finding import Finding, Severity
from envdoctor.profile.load import load_profile


def _found(listed: str, card: str, variable: str = "TORCH_CUDA_ARCH_LIST") -> list[Finding]:
    facts = {"gpu[0].architecture": card, f"environment.{variable}": listed}
    known = [Fact(name, FactState.KNOWN, value, "test") for name, value in facts.items()]
    return [item for item in examine(Examination(facts=Facts(known))) if item.rule == "HOST004"]


@pytest.mark.parametrize(
    ("listed", "card", "told"),
    [
        ("9.0", "sm_110", True),
        ("8.0;8.6;9.0", "sm_121", True),
        ("12.0", "sm_121", False),
        ("11.0", "sm_110", False),
        ("10.1", "sm_110", False),  # as CUDA 12 called it
        ("9.0+PTX", "sm_110", False),
        ("8.6", "sm_89", False),
        ("8.9", "sm_86", True),
        ("Ampere", "sm_86", False),
        ("Hopper", "sm_86", True),
        ("7.0 8.0, 9.0", "sm_87", False),
        ("all", "sm_110", False),
        ("", "sm_110", False),
        ("9.0", "gfx1100", False),
    ],
)
def test_a_list_that_leaves_the_card_out(listed: str, card: str, told: bool) -> None:
    assert [item.severity for item in _found(listed, card)] == ([Severity.WARNING] if told else [])


def test_the_right_value_is_told() -> None:
    (finding,) = _found("9.0", "sm_110")
    assert finding.message.startswith("TORCH_CUDA_ARCH_LIST is `9.0`, and the card is sm_110 (capability 11.0)")
    assert finding.remedy is not None
    assert finding.remedy.summary.startswith("set TORCH_CUDA_ARCH_LIST to 11.0")
    (amd,) = _found("gfx1030", "gfx1100", "PYTORCH_ROCM_ARCH")
    assert amd.subject == "PYTORCH_ROCM_ARCH"


def test_what_the_machine_sets_is_a_note_where_the_profile_sets_another() -> None:
    profile = load_profile("amphion-cuda13-aarch64")
    facts = {"gpu[0].architecture": "sm_110", "environment.TORCH_CUDA_ARCH_LIST": "9.0"}
    known = Facts([Fact(name, FactState.KNOWN, value, "test") for name, value in facts.items()])
    told = [item for item in examine(Examination(facts=known, profile=profile)) if item.rule == "HOST004"]
    (finding,) = told
    assert finding.severity is Severity.INFO
    assert finding.message.endswith(
        "built outside of `fix` and `run` has no code for it; profile `amphion-cuda13-aarch64` sets `11.0` there"
    )
