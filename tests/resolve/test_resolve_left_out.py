"""What a resolution lacks although somebody asks for it: said as an override, with who asked and why."""

from __future__ import annotations

from typing import Any

from packaging.markers import Marker
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from resolve_universe import WINDOWS, MemoryIndex, read

from envdoctor.model.origin import ProfileOrigin
from envdoctor.model.override import Override, OverrideSource
from envdoctor.model.profile import Exclusion
from envdoctor.model.repair import Repair
from envdoctor.model.requirement import Requirement
from envdoctor.resolve.diagnosis import Diagnosis, diagnose
from envdoctor.resolve.manifest import Manifest

TABLE: dict[str, dict[str, Any]] = {
    "voice": {
        "1": {"requires": ["runtime-gpu>=1", "left"], "extras": {"fast": ["decoder<3"]}},
        "2": {"requires": ["runtime-gpu>=2", "left"], "extras": {"fast": ["decoder<3"]}},
    },
    "left": {"1": {}, "2": {}},
    "runtime-gpu": {"1": {}, "2": {}},
    "decoder": {"1": {}},
}
NO_GPU = Exclusion(canonicalize_name("runtime-gpu"), "needs CUDA 13")
NO_DECODER = Exclusion(canonicalize_name("decoder"), "nothing imports it")


def _diagnose(*lines: str, table: Any = None, **more: Any) -> Diagnosis:
    return diagnose(Manifest(read(*lines), WINDOWS, **more), MemoryIndex(table or TABLE))


def _overrides(repair: Repair) -> list[tuple[str, list[str], str]]:
    return [
        (o.requirement.pep508, [f"{aside} ({aside.origin})" for aside in o.sets_aside], o.because)
        for o in repair.overrides
    ]


def _replacing(text: str, because: str) -> Override:
    name, _, version = text.partition("==")
    origin = ProfileOrigin("p", "override[0]")
    wanted = Requirement(canonicalize_name(name), origin, SpecifierSet(f"=={version}"))
    return Override(wanted, because=because, source=OverrideSource.PROFILE)


def test_what_a_profile_excludes_is_an_override_of_everybody_who_asks_for_it() -> None:
    found = _diagnose("voice[fast]==2", "decoder", exclusions=(NO_GPU, NO_DECODER))
    (repair,) = found.repairs
    assert repair.from_profile
    assert repair.verified
    assert repair.resolves == ()
    assert repair.cost == 3
    assert _overrides(repair) == [
        ('runtime-gpu ; python_version < "0"', ["runtime-gpu>=2 (voice 2)"], "needs CUDA 13"),
        ('decoder ; python_version < "0"', ["decoder (requirements.txt:2)", "decoder<3 (voice 2)"], NO_DECODER.because),
    ]
    assert all(override.leaves_out for override in repair.overrides)
    assert found.resolution is not None
    assert found.resolution.repair == "R1"


def test_an_exclusion_that_nobody_asks_for_is_no_override() -> None:
    found = _diagnose("left", 'decoder ; sys_platform == "linux"', exclusions=(NO_DECODER,))
    assert not found.repairs
    assert found.resolution is not None
    assert found.resolution.repair is None


def test_every_repair_says_what_the_profile_leaves_out() -> None:
    lines = ("left==1", "left==2", "voice==2")
    found = _diagnose(*lines, exclusions=(NO_GPU,), overrides=(_replacing("left==1", "2 crashes"),))
    assert {repair.from_profile for repair in found.repairs} == {True, False}
    for repair in found.repairs:
        assert _overrides(repair)[-1] == (
            'runtime-gpu ; python_version < "0"',
            ["runtime-gpu>=2 (voice 2)"],
            "needs CUDA 13",
        )
        assert repair.cost == sum(len(override.sets_aside) for override in repair.overrides)


def test_an_override_says_why_where_the_profile_does() -> None:
    found = _diagnose("left==2", overrides=(_replacing("left==1", "2 crashes"),))
    (repair,) = (repair for repair in found.repairs if repair.from_profile)
    assert _overrides(repair) == [("left==1", ["left==2 (requirements.txt:1)"], "2 crashes")]


def test_exclusions_alone_do_not_hide_that_the_requirements_cannot_hold_together() -> None:
    found = _diagnose("left==1", "left==2", "decoder", exclusions=(NO_DECODER,))
    assert [[str(line) for line in conflict.core] for conflict in found.conflicts] == [["left==1", "left==2"]]
    assert not any(repair.from_profile for repair in found.repairs)
    assert all(_overrides(repair)[-1][0].startswith("decoder ;") for repair in found.repairs)


def test_a_demand_that_no_index_can_meet_is_never_left_out_without_a_word() -> None:
    table = {"app": {"1": ["gone>=2"]}}
    found = _diagnose("app", table=table)
    assert found.conflicts
    assert found.missing == ("gone",)
    without_gone, without_app = found.repairs
    left_out = [o for o in without_gone.overrides if o.leaves_out]
    assert [str(aside.origin) for o in left_out for aside in o.sets_aside] == ["app 1"]
    assert any("`gone`" in caution and "no index" in caution for caution in without_gone.cautions)
    assert _overrides(without_app) == [('app ; python_version < "0"', ["app (requirements.txt:1)"], "")]
    assert without_app.cautions == ("`app` is left out: what imports it will not run",)


def test_a_profiles_override_for_other_targets_leaves_the_package_out_and_says_so() -> None:
    left_out = Requirement(
        canonicalize_name("decoder"), ProfileOrigin("p", "override[0]"), marker=Marker('sys_platform == "linux"')
    )
    found = _diagnose(
        "decoder==1", overrides=(Override(left_out, because="no wheel here", source=OverrideSource.PROFILE),)
    )
    (repair,) = (repair for repair in found.repairs if repair.from_profile)
    assert found.resolution is not None
    assert not found.resolution.packages
    assert _overrides(repair) == [
        ('decoder ; sys_platform == "linux"', ["decoder==1 (requirements.txt:1)"], "no wheel here")
    ]


def _required(name: str) -> Requirement:
    return Requirement(canonicalize_name(name), ProfileOrigin("cards", "requires[0]"))


def test_a_repair_that_gives_up_what_the_profile_requires_says_so_and_is_not_in_use() -> None:
    lines = (*read("left==1"), _required("card-kit"))
    index = MemoryIndex({**TABLE, "card-kit": {}})
    found = diagnose(Manifest(lines, WINDOWS), index)
    assert found.conflicts
    (repair,) = found.repairs
    assert [aside.name for aside in repair.given_up()] == ["card-kit"]
    assert repair.cautions[0].startswith("profile `cards` requires `card-kit`: what the profile is for is lost")
    assert found.resolution is None, "nobody takes it unasked"
    asked = diagnose(Manifest(lines, WINDOWS), index, repair="R1")
    assert asked.resolution is not None
    assert [package.name for package in asked.resolution.packages] == ["left"]


def test_leaving_out_a_line_of_the_project_gives_up_no_profile() -> None:
    found = _diagnose("left==1", "card-kit", table={**TABLE, "card-kit": {}})
    assert found.resolution is not None
    assert not any(repair.given_up() for repair in found.repairs)
