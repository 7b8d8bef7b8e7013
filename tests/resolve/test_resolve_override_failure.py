"""A profile whose overrides do not help says so: whatever is in use in their place is not what its author tried."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from resolve_universe import LINUX, MemoryIndex, read

from envdoctor.lock.pylock_reader import LockedProject, override_of_row
from envdoctor.model.finding import Finding
from envdoctor.model.origin import ProfileOrigin
from envdoctor.model.override import Override, OverrideSource
from envdoctor.model.profile import Profile, ProfileTarget
from envdoctor.model.project import Project
from envdoctor.model.report import Report
from envdoctor.model.requirement import Requirement
from envdoctor.model.target import Arch, Backend, OperatingSystem
from envdoctor.render.conflict_wording import source_text
from envdoctor.verbs.check import check
from envdoctor.verbs.check_request import CheckRequest

TABLE = {
    "torch": {"2.4.1": {}, "2.7.0": {}, "2.8.0": {}},
    "torchaudio": {"2.4.1": ["torch==2.4.1"], "2.7.0": ["torch==2.7.0"]},
}


def _checked(
    *overrides: str, locked: LockedProject | None = None, lines: Sequence[str] = ("torch", "torchaudio==2.7.0")
) -> Report:
    target = ProfileTarget(OperatingSystem.LINUX, Arch.X86_64, SpecifierSet(">=3.10"), Backend.CPU)
    declared = []
    for number, text in enumerate(overrides):
        name, _, version = text.partition("==")
        origin = ProfileOrigin("p", f"override[{number}]")
        wanted = Requirement(canonicalize_name(name), origin, SpecifierSet(f"=={version}"))
        declared.append(Override(wanted, source=OverrideSource.PROFILE))
    request = CheckRequest(
        target=LINUX,
        today=date(2026, 11, 28),
        project=Project("", requirements=read(*lines)),
        profile=Profile("p", "", target, overrides=tuple(declared)) if overrides else None,
        index=MemoryIndex(TABLE),
        locked=locked,
    )
    return check(request)


def _said(report: Report) -> list[Finding]:
    return [item for item in report.findings if item.rule == "RES014"]


def test_an_override_of_one_of_a_pair_does_not_hold_and_is_said() -> None:
    report = _checked("torch==2.4.1")
    (finding,) = _said(report)
    assert finding.message == "with the overrides of profile `p`, `torchaudio==2.7.0` still cannot be installed"
    assert str(finding.location) == "requirements.txt:2"
    assert report.verdict.value == "broken"


def test_overrides_of_both_hold_and_nothing_is_said() -> None:
    assert not _said(_checked("torch==2.4.1", "torchaudio==2.4.1"))
    assert not _said(_checked())


def test_what_a_lock_recorded_and_does_not_hold_is_the_locks() -> None:
    row = {"requirement": "torch==2.4.1", "sets-aside": ["torch (requirements.txt:1)"], "replaces": ["project"]}
    entry = override_of_row(row, "pylock.toml")
    assert entry
    (finding,) = _said(_checked(locked=LockedProject("pylock.toml", {}, (entry,))))
    assert finding.message.startswith("with the lock's overrides")


def test_the_repair_that_keeps_the_overrides_is_the_remedy_and_is_called_by_what_it_adds() -> None:
    report = _checked("torch==2.4.1", lines=("torch==2.8.0", "torchaudio==2.7.0"))
    (finding,) = _said(report)
    (used,) = (repair for repair in report.repairs if report.resolution and repair.id == report.resolution.repair)
    assert source_text(report, used) == "beside the overrides of the profile"
    assert finding.remedy
    assert finding.remedy.summary.startswith(f"take repair {used.id}, which keeps the overrides")


def test_a_repair_is_called_by_all_who_decided_on_it() -> None:
    row = {"requirement": "torchaudio==2.4.1", "sets-aside": ["torchaudio==2.7.0 (requirements.txt:2)"]}
    entry = override_of_row({**row, "replaces": ["project"]}, "pylock.toml")
    assert entry
    locked = LockedProject("pylock.toml", {}, (entry,))
    lines = ("torch==2.8.0", "torchaudio==2.7.0")
    for overrides, told in ((("torch==2.4.1",), "from the profile and the lock"), ((), "the lock")):
        report = _checked(*overrides, locked=locked, lines=lines)
        assert any(source_text(report, repair).endswith(told) for repair in report.repairs)
    report = _checked("torch==2.4.1", "torchaudio==2.4.1", lines=lines)
    assert "from the profile" in [source_text(report, repair) for repair in report.repairs]
