"""What an installer would take of a project's files as they stand: it knows no couplings and no profile."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

import pytest
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from resolve_universe import LINUX, MemoryIndex, read

from envdoctor.model.finding import Finding, Look, Severity
from envdoctor.model.origin import ProfileOrigin
from envdoctor.model.override import Override, OverrideSource
from envdoctor.model.profile import Coupling, CouplingRule, Profile, ProfileRequirement, ProfileTarget
from envdoctor.model.project import Project
from envdoctor.model.requirement import Requirement, RequirementKind
from envdoctor.model.resolution import Resolution
from envdoctor.model.target import Arch, Backend, OperatingSystem
from envdoctor.resolve.diagnosis import resolve
from envdoctor.resolve.manifest import Manifest, Policy
from envdoctor.verbs.check import check
from envdoctor.verbs.check_request import CheckRequest

TABLE = {
    "torch": {"2.7.1": {}, "2.11.0": {}, "2.15.0": {}},
    "torchcodec": {"0.5.0": {}, "0.11.0": {}},
    "mine": {"2.7.1": {}, "2.15.0": {}},
    "app": {"1": {}},
    "numpy": {"2.3.5": {}, "2.4.6": {}},
    "coremltools": {"9.0": ["numpy"]},
}
MINE = Coupling((canonicalize_name("torch"), canonicalize_name("mine")), CouplingRule.SAME_VERSION)


def _pins(*texts: str) -> tuple[Override, ...]:
    return tuple(
        Override(
            Requirement(canonicalize_name(name), ProfileOrigin("p", f"override[{n}]"), SpecifierSet(f"=={version}")),
            source=OverrideSource.PROFILE,
        )
        for n, (name, version) in enumerate(text.split("==") for text in texts)
    )


def _bound(name: str, specifier: str) -> ProfileRequirement:
    origin = ProfileOrigin("p", "requires[0]")
    bound = Requirement(canonicalize_name(name), origin, SpecifierSet(specifier), kind=RequirementKind.CONSTRAINT)
    return ProfileRequirement(bound, "why")


def _checked(
    *lines: str,
    overrides: Iterable[Override] = (),
    requires: Iterable[ProfileRequirement] = (),
    system: OperatingSystem = OperatingSystem.LINUX,
) -> tuple[Finding, ...]:
    target = ProfileTarget(system, Arch.X86_64, SpecifierSet(">=3.10"), Backend.ROCM)
    profile = Profile("p", "", target, overrides=tuple(overrides), couplings=(MINE,), requires=tuple(requires))
    request = CheckRequest(
        target=LINUX,
        today=date(2026, 11, 28),
        project=Project("", requirements=read(*lines)),
        profile=profile,
        index=MemoryIndex(TABLE),
    )
    return check(request).findings


@pytest.mark.parametrize(
    ("couplings", "versions"),
    [(True, {"torch": "2.11.0", "torchcodec": "0.11.0"}), (False, {"torch": "2.15.0", "torchcodec": "0.11.0"})],
)
def test_a_policy_can_do_without_couplings(couplings: bool, versions: dict[str, str]) -> None:
    manifest = Manifest(read("torch", "torchcodec"), LINUX, policy=Policy(couplings=couplings))
    found = resolve(manifest, MemoryIndex(TABLE))
    assert isinstance(found, Resolution)
    assert {package.name: str(package.version) for package in found.packages} == versions


def test_without_couplings_those_of_a_profile_do_not_count_either() -> None:
    lines = read("torch<2.15", "mine")
    with_them = resolve(Manifest(lines, LINUX, couplings=(MINE,)), MemoryIndex(TABLE))
    without = resolve(Manifest(lines, LINUX, couplings=(MINE,), policy=Policy(couplings=False)), MemoryIndex(TABLE))
    assert isinstance(with_them, Resolution)
    assert isinstance(without, Resolution)
    assert {str(package.version) for package in with_them.packages} == {"2.7.1"}
    assert {package.name: str(package.version) for package in without.packages} == {"torch": "2.11.0", "mine": "2.15.0"}


def test_the_broken_pair_that_an_installer_would_take_is_named() -> None:
    found = _checked("torch", "torchcodec", overrides=_pins("torch==2.7.1", "torchcodec==0.5.0"))
    (pair,) = (item for item in found if item.rule == "RES201")
    taken = "without the profile, an installer would take torchcodec 0.11.0 and torch 2.15.0"
    assert (pair.look, pair.evidence[0].what) == (Look.AS_THEY_STAND, taken)


@pytest.mark.parametrize(("system", "mends"), [(OperatingSystem.LINUX, True), (OperatingSystem.WINDOWS, False)])
def test_a_profile_of_another_system_mends_nothing(system: OperatingSystem, mends: bool) -> None:
    found = _checked("torch", "torchcodec", overrides=_pins("torch==2.7.1", "torchcodec==0.5.0"), system=system)
    (pair,) = (item for item in found if item.rule == "RES201")
    assert pair.remedy is not None
    assert ("the profile mends it" in pair.remedy.summary) is mends
    assert ("another system" in pair.remedy.summary) is not mends


def test_a_pair_that_the_lines_themselves_hold_together_is_no_finding() -> None:
    found = _checked("torch==2.7.1", "torchcodec==0.5.0", overrides=_pins("app==1"))
    assert not [item for item in found if item.rule.startswith("RES2")]


CLASH = ("torch==2.15.0", "torch==2.7.1")


def test_what_a_bound_of_the_profile_keeps_away_is_a_note_beside_a_conflict() -> None:
    found = _checked("coremltools", *CLASH, overrides=_pins("torch==2.7.1"), requires=[_bound("numpy", "<2.4")])
    notes = [item for item in found if item.look is Look.WITHOUT_BOUNDS]
    assert [(item.name, item.severity) for item in notes] == [("coremltools-numpy24", Severity.INFO)]
    assert notes[0].evidence[0].what == "an installer would take numpy 2.4.6 and coremltools 9.0"
    assert notes[0].remedy is not None
    assert notes[0].remedy.summary == "the profile mends it"


def test_a_bound_that_keeps_nothing_away_gives_no_note() -> None:
    found = _checked("coremltools", *CLASH, overrides=_pins("torch==2.7.1"), requires=[_bound("torch", "<2.15")])
    assert "coremltools-numpy24" in {item.name for item in found}
    assert not [item for item in found if item.look is Look.WITHOUT_BOUNDS]
