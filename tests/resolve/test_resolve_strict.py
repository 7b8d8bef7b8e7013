"""Invalid metadata that is mended here and refused by pip 24.1: what such a tool cannot install is named."""

from __future__ import annotations

from datetime import date
from typing import Any

from resolve_backtracking import Backtracking
from resolve_universe import LINUX, MemoryIndex, read

from envdoctor.model.project import Project
from envdoctor.resolve.diagnosis import Diagnosis, diagnose
from envdoctor.resolve.manifest import Manifest, Policy
from envdoctor.verbs.check import check
from envdoctor.verbs.check_request import CheckRequest

INVALID = {"mended": ["PyYAML (>=5.1.*)"]}
TABLE: dict[str, dict[str, Any]] = {
    "fairseq": {"0.10.2": {}, "0.12.2": ["omegaconf<2.1", "hydra-core>=1.0.7,<1.1"]},
    "hydra-core": {"1.0.7": ["omegaconf>=2.0.5,<2.1"], "1.3.2": ["omegaconf>=2.2"]},
    "omegaconf": {"2.0.0": {}, "2.0.5": INVALID, "2.0.6": INVALID, "2.3.0": {}},
    "torch": {"2.1.0": {}},
    "left": {"1": ["omegaconf"], "2": ["omegaconf<2.1"]},
}


def _diagnose(*lines: str, **more: Any) -> Diagnosis:
    return diagnose(Manifest(read(*lines), LINUX, **more), MemoryIndex(TABLE))


def _core(found: Diagnosis) -> list[str]:
    return [str(line) for line in found.strict_core]


def test_the_line_that_pip_cannot_install_is_named_and_the_diagnosis_goes_on() -> None:
    found = _diagnose("torch==2.1.0", "fairseq==0.12.2")
    assert not found.conflicts
    assert found.mended == (("omegaconf 2.0.6", ("PyYAML (>=5.1.*)",)),)
    assert _core(found) == ["fairseq==0.12.2"]


def test_the_policy_refuses_such_versions_even_where_a_person_pins_them() -> None:
    strict = Policy(mended=False)
    for line in ("fairseq==0.12.2", "omegaconf==2.0.6"):
        found = _diagnose(line, policy=strict)
        assert [[str(r) for r in conflict.core] for conflict in found.conflicts] == [[line]]
        assert found.strict_core == ()


def test_nothing_is_named_where_such_a_tool_has_another_way() -> None:
    found = _diagnose("fairseq", "omegaconf<2.1")
    assert found.mended
    assert _core(found) == []
    assert _core(_diagnose("left")) == []
    assert _core(_diagnose("fairseq==0.10.2", "omegaconf")) == []


def test_two_lines_that_only_together_leave_nothing_valid_are_both_named() -> None:
    found = _diagnose("torch", "omegaconf>2.0.0", "left==2")
    assert _core(found) == ["omegaconf>2.0.0", "left==2"]


def test_only_the_lines_that_the_repair_in_use_keeps_count() -> None:
    found = _diagnose("fairseq==0.12.2", "torch==2.1.0", "torch==2.2.0")
    assert found.conflicts
    assert _core(found) == ["fairseq==0.12.2"]
    assert _core(_diagnose("fairseq==0.12.2", "gone==1", "torch==9")) == ["fairseq==0.12.2"]
    dropped = _diagnose("omegaconf==2.0.6", "omegaconf==2.3.0", "torch")
    assert dropped.resolution is not None
    assert str(next(p.version for p in dropped.resolution.packages if p.name == "omegaconf")) == "2.3.0"
    assert _core(dropped) == []


def test_any_engine_finds_it() -> None:
    manifest = Manifest(read("torch==2.1.0", "fairseq==0.12.2"), LINUX)
    assert _core(diagnose(manifest, MemoryIndex(TABLE), solver=Backtracking())) == ["fairseq==0.12.2"]


def test_the_report_says_with_which_tool_it_can_be_installed() -> None:
    request = CheckRequest(
        target=LINUX,
        today=date(2026, 11, 28),
        project=Project("", requirements=read("torch==2.1.0", "fairseq==0.12.2")),
        index=MemoryIndex(TABLE),
    )
    (finding,) = (item for item in check(request).findings if item.rule == "RES103")
    assert finding.message.startswith(
        "pip 24.1 and later cannot install `fairseq==0.12.2`: every version of `omegaconf`"
    )
    assert finding.message.endswith("uv and pip<24.1 can")
    assert finding.location is not None
    assert str(finding.location) == "requirements.txt:2"
