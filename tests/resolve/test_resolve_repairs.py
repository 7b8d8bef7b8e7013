"""How repairs are judged: what fails, is old, must be built or was not looked at counts against one and is said."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from packaging.utils import NormalizedName
from resolve_universe import LINUX, WINDOWS, MemoryIndex, breakage, read

from envdoctor.model.candidate import BuildRisk, DistributionFile, ProjectPage
from envdoctor.model.finding import Finding
from envdoctor.model.repair import Repair
from envdoctor.model.resolution import Resolution
from envdoctor.model.target import Backend, Target
from envdoctor.model.unknown import Subject, SubjectKind, Unknown, UnknownKind
from envdoctor.ports import IndexUnavailable
from envdoctor.render.conflict_wording import override_text
from envdoctor.resolve.diagnosis import Diagnosis, diagnose
from envdoctor.resolve.manifest import Manifest
from envdoctor.resolve.offer import Judge

CP313 = replace(WINDOWS, python=(3, 13))


def _diagnose(table: Any, *lines: str, target: Target = LINUX, **more: Any) -> Diagnosis:
    return diagnose(Manifest(read(*lines), target), MemoryIndex(table), **more)


def _pins(repair: Repair) -> list[str]:
    return [override.requirement.pep508 for override in repair.overrides]


def _fails(*broken: str) -> Judge:
    """Return a judge that knows of failures of versions: ``torch==2.15.0``, or of pairs: ``a==1 b==2``."""

    def judge(resolution: Resolution) -> tuple[Finding, ...]:
        there = {f"{package.name}=={package.version}" for package in resolution.packages}
        found = []
        for text in broken:
            parts = text.split()
            if there.issuperset(parts):
                names = sorted(part.partition("==")[0] for part in parts)
                found.append(breakage("ADV1", f"{text} fails", *names))
        return tuple(found)

    return judge


def _builds(file: DistributionFile) -> BuildRisk:
    return BuildRisk.ANYWHERE if file.project == "easy" else BuildRisk.COMPILER


def _wheels(*versions: str, tag: str) -> dict[str, Any]:
    return {version: {"tags": [tag]} for version in versions}


def _bat(**torches: Any) -> dict[str, Any]:
    """Return what the steps of a batch file meet on Python 3.13: the pins have wheels for older ones alone."""
    old, new = "cp312-cp312-win_amd64", "cp313-cp313-win_amd64"
    pairs = {"2.6.0": "0.21.0", "2.7.0": "0.22.0", "2.7.1": "0.22.1"}
    builds = {f"{torch}+cu118": {"tags": [new]} for torch in pairs}
    return {
        "torch": {**_wheels("2.3.0+cu118", tag=old), **builds, **torches},
        "torchvision": {
            **_wheels("0.18.0+cu118", tag=old),
            **{f"{v}+cu118": {"tags": [new], "requires": [f"torch=={t}"]} for t, v in pairs.items()},
        },
        "torchaudio": {
            **_wheels("2.3.0+cu118", tag=old),
            **{f"{t}+cu118": {"tags": [new], "requires": [f"torch=={t}"]} for t in pairs},
        },
    }


def test_pins_without_a_file_for_this_python_move_together_to_what_their_index_has() -> None:
    found = _diagnose(_bat(), "torch==2.3.0", "torchvision==0.18.0", "torchaudio==2.3.0", target=CP313)
    assert [[str(r) for r in conflict.core] for conflict in found.conflicts] == [
        ["torch==2.3.0"],
        ["torchvision==0.18.0"],
        ["torchaudio==2.3.0"],
    ]
    (repair,) = found.repairs
    assert _pins(repair) == ["torch==2.7.1+cu118", "torchvision==0.22.1+cu118", "torchaudio==2.7.1+cu118"]
    assert {override.index for override in repair.overrides} == {"default"}
    assert repair.verified


def test_where_the_newest_is_known_to_fail_the_search_goes_on_to_one_that_works() -> None:
    newer = {f"2.{minor}.0": {"tags": ["cp313-cp313-win_amd64"]} for minor in range(8, 16)}
    table = {"torch": _bat(**newer)["torch"]}
    broken = _fails(*(f"torch=={version}" for version in newer))
    found = _diagnose(table, "torch==2.3.0", target=CP313, judge=broken)
    assert [_pins(repair) for repair in found.repairs] == [["torch==2.7.1+cu118"], ["torch==2.15.0"]]
    works, fails = found.repairs
    assert works.verified
    assert works.overrides[0].because == "2.15.0 is known to fail: torch==2.15.0 fails"
    action = override_text(works.overrides[0]).action
    assert action.endswith("with torch==2.7.1+cu118; 2.15.0 is known to fail: torch==2.15.0 fails")
    assert works.cautions == ()
    assert fails.cautions == ("known to fail: torch==2.15.0 fails (ADV1)",)
    assert found.resolution is not None
    assert found.resolution.repair == "R1"


@pytest.mark.parametrize("failing", range(1, 17))
def test_no_more_series_are_passed_over_than_are_known_to_fail(failing: int) -> None:
    table = {"torch": _wheels(*(f"2.{minor}.0" for minor in range(4, 40)), tag="cp313-cp313-win_amd64")}
    broken = _fails(*(f"torch==2.{minor}.0" for minor in range(40 - failing, 40)))
    found = _diagnose(table, "torch==2.3.0", target=CP313, judge=broken)
    assert _pins(found.repairs[0]) == [f"torch==2.{39 - failing}.0"]


def test_what_replaces_a_left_out_culprit_may_fail_too_and_goes_back_alone_to_what_works() -> None:
    """No old torch has kernels for the card; the newest has another CUDA than the extension that moves with it."""
    torches = [f"2.{minor}.0" for minor in range(3, 16)]
    extensions = {f"0.0.{n}": {"requires": [f"torch==2.{n - 25}.0"]} for n in range(28, 35)}
    table = {
        "torch": {version: {} for version in torches},
        "extension": {**extensions, "0.0.35": {"requires": ["torch>=2.10"]}},
    }
    old = [f"torch==2.{minor}.0" for minor in range(3, 8)]
    split = [f"extension==0.0.35 torch==2.{minor}.0" for minor in range(11, 16)]
    found = _diagnose(table, "torch==2.4.0", "extension==0.0.28", judge=_fails(*old, *split))
    best = found.repairs[0]
    assert (_pins(best), best.cautions) == (["torch==2.10.0", "extension==0.0.35"], ())


def test_what_follows_a_torch_that_went_back_is_moved_and_the_torch_is_not_again() -> None:
    minors = range(3, 10)
    names = ("torch", "audio", "extension")
    table: dict[str, Any] = {name: {f"2.{minor}.0": {} for minor in minors} for name in names}
    table["app"] = {"1": [f"{name}>=2.4" for name in names]}
    newest = [f"extension==2.9.0 torch==2.{minor}.0" for minor in minors if minor > 6]
    unpaired = [f"audio==2.{one}.0 torch==2.{other}.0" for one in minors for other in minors if one > other]
    found = _diagnose(table, "app", *(f"{name}==2.3.0" for name in names), judge=_fails(*newest, *unpaired))
    assert sorted(_pins(found.repairs[0])) == ["audio==2.6.0", "extension==2.9.0", "torch==2.6.0"]


def test_of_versions_below_0_1_each_release_is_one_to_go_back_to() -> None:
    table = {
        "base": {"1": {}, "2": {}},
        "app": {"1": ["base==2"]},
        "extension": {f"0.0.{n}": {} for n in range(28, 36)},
    }
    found = _diagnose(table, "app", "base==1", "extension", judge=_fails("base==2 extension==0.0.35"))
    assert _pins(found.repairs[0]) == ["base==2", "extension==0.0.34"]


def test_of_two_with_the_same_module_the_one_for_the_gpu_is_kept() -> None:
    table = {
        "torch": {f"2.{minor}.0": {} for minor in range(3, 10)},
        "extension": {f"0.0.{n}": {"requires": [f"torch==2.{n}.0"]} for n in range(3, 10)},
        "onnxruntime": {"1.18": {}, "1.32": {}},
        "onnxruntime-gpu": {f"1.{minor}": {} for minor in range(18, 33)},
    }
    old = [f"torch==2.{minor}.0" for minor in range(3, 8)]
    both = [f"onnxruntime-gpu==1.{minor} onnxruntime=={cpu}" for minor in range(18, 33) for cpu in ("1.18", "1.32")]
    split = [f"onnxruntime-gpu==1.18 torch==2.{minor}.0" for minor in range(3, 10)]
    lines = ("torch==2.4.0", "extension==0.0.3", "onnxruntime-gpu==1.18", "onnxruntime")
    target = replace(LINUX, backend=Backend.CUDA)
    best = _diagnose(table, *lines, target=target, judge=_fails(*old, *both, *split)).repairs[0]
    assert _pins(best)[:3] == ["torch==2.9.0", "extension==0.0.9", "onnxruntime-gpu==1.32"]
    assert [o.requirement.name for o in best.overrides if o.leaves_out] == ["onnxruntime"]
    assert best.cautions == ("`onnxruntime` is left out: `onnxruntime-gpu` gives the same module",)


def test_a_search_for_one_that_works_ends_where_nothing_does() -> None:
    table = {"torch": _wheels(*(f"2.{minor}.0" for minor in range(4, 40)), tag="cp313-cp313-win_amd64")}
    broken = _fails(*(f"torch=={version}" for version in table["torch"]))
    found = _diagnose(table, "torch==2.3.0", target=CP313, judge=broken)
    assert [_pins(repair) for repair in found.repairs] == [["torch==2.39.0"]]
    assert found.repairs[0].cautions[0].startswith("known to fail")


def test_a_build_that_only_the_older_release_needs_counts_against_the_repair() -> None:
    table = _strict("0.7.2")
    table["descript-audiotools"]["0.7.1"] = ["native"]
    table["native"] = {"1": {"wheel": False, "sdist": True}}
    found = _diagnose(table, "descript-audiotools==0.7.2", "protobuf>=4", build_risk=_builds)
    assert [_pins(repair) for repair in found.repairs][:2] == [["protobuf==6.33.0"], ["descript-audiotools==0.7.1"]]


def _strict(version: str) -> dict[str, Any]:
    """Return a distribution that asks for less of `protobuf` than works, and one beside it that needs what works."""
    return {
        "descript-audiotools": {version: ["protobuf<3.20"]},
        "other": {"1": ["protobuf<3.20"]},
        "runtime": {"1": ["protobuf>=4"]},
        "protobuf": {"3.19.6": {}, "6.33.0": {}},
    }


def test_a_demand_that_is_known_to_be_too_strict_is_set_aside_with_a_caution() -> None:
    found = _diagnose(_strict("0.7.2"), "descript-audiotools", "runtime==1", "protobuf>=4")
    (repair,) = found.repairs
    assert _pins(repair) == ["protobuf==6.33.0"]
    assert {str(line.origin) for override in repair.overrides for line in override.sets_aside} == {
        "descript-audiotools 0.7.2"
    }
    (caution,) = repair.cautions
    assert (
        "is not what descript-audiotools 0.7.2 asks for (`protobuf<3.20`); known to work: read in the wheel" in caution
    )


@pytest.mark.parametrize(
    ("asked", "version", "pins"),
    [
        ("descript-audiotools", "0.7.2", ["3.19.6", "6.33.0"]),
        ("descript-audiotools", "0.8", ["3.19.6"]),
        ("other", "0.7.2", ["3.19.6"]),
    ],
)
def test_a_demand_is_set_aside_beside_a_line_only_where_something_vouches(
    asked: str, version: str, pins: list[str]
) -> None:
    found = _diagnose(_strict(version), asked, "protobuf>3.19.6")
    assert [_pins(repair) for repair in found.repairs] == [[f"protobuf=={pin}"] for pin in pins]
    assert [bool(repair.cautions) for repair in found.repairs] == [pin == "6.33.0" for pin in pins]


def test_what_a_repair_drags_along_is_its_fault() -> None:
    table = {
        "app": {"1": ["core==1"], "2": ["core==2"]},
        "core": {"1": {}, "2": {}},
        "lib": {"1": ["app<2"], "2": ["app<3"]},
    }
    judge = _fails("core==1")
    found = _diagnose(table, "app==2", "lib==1", judge=judge)
    assert [_pins(repair) for repair in found.repairs] == [["lib==2"], ["app==1"]]
    assert "known to fail: core==1 fails (ADV1)" in found.repairs[-1].cautions
    assert not found.repairs[0].cautions


def test_a_failure_that_every_repair_has_counts_against_none() -> None:
    table = {"app": {"1": {}, "2": {}}, "lib": {"1": ["app<2"], "2": ["app<3"]}, "free": {"9": {}}}
    plain = _diagnose(table, "app==2", "lib==1", "free")
    judged = _diagnose(table, "app==2", "lib==1", "free", judge=_fails("free==9"))
    assert [_pins(repair) for repair in judged.repairs] == [_pins(repair) for repair in plain.repairs]
    assert not any("known to fail" in caution for repair in judged.repairs for caution in repair.cautions)


@pytest.mark.parametrize(("of_old", "first"), [(2, ["core==2", "side==2"]), (1, ["lib==1"])])
def test_of_repairs_that_all_fail_the_one_with_the_fewest_failures_comes_first(of_old: int, first: list[str]) -> None:
    # GaussianAnything: an older xformers is one edit and has three known failures, a newer torch has two edits and one.
    names = ("core", "lib", "side")
    table = {"core": {"1": {}, "2": {}}, **{name: {"1": ["core==1"], "2": ["core==2"]} for name in ("lib", "side")}}
    old = tuple(breakage(f"ADV{number}", f"reason {number}", *names) for number in range(of_old))
    new = (breakage("ADV9", "reason 9", *names),)
    found = _diagnose(
        table, "core==1", "side==1", "lib==2", judge=lambda there: new if "core 2" in _versions(there) else old
    )
    assert sorted(_pins(found.repairs[0])) == first


def _versions(resolution: Resolution) -> set[str]:
    return {f"{package.name} {package.version}" for package in resolution.packages}


def test_many_failures_are_counted_by_their_rules() -> None:
    table = {"app": {"1": {}, "2": {}}, "lib": {"1": ["app<2"]}}
    known = [breakage(f"ADV{n}", f"reason {n}", "app") for n in range(5)]
    found = _diagnose(table, "app==2", "lib==1", judge=lambda _resolution: known)
    older = next(repair for repair in found.repairs if _pins(repair) == ["app==1"])
    said = [caution for caution in older.cautions if caution.startswith("known")]
    assert said == [
        "known to fail: reason 0 (ADV0)",
        "known to fail: reason 1 (ADV1)",
        "known to fail: reason 2 (ADV2)",
        "known to fail besides: ADV3, ADV4",
    ]


OLDER = [
    (("app>=3", "lib"), {"1": ["app<3"]}, "`app` 2 is older than requirements.txt:1 asks for (`app>=3`)"),
    (("old", "lib"), {"1": ["app>=3"]}, "`app` 2 is older than lib 1 asks for (`app>=3`)"),
    (("old", "lib"), {"1": ["app~=3.0"]}, "`app` 2 is older than lib 1 asks for (`app~=3.0`)"),
    (("old", "lib"), {"1": ["app==3.*"]}, "`app` 2 is older than lib 1 asks for (`app==3.*`)"),
]


@pytest.mark.parametrize(("lines", "lib", "caution"), OLDER)
def test_a_lower_bound_that_is_set_aside_is_said(lines: tuple[str, ...], lib: Any, caution: str) -> None:
    table = {"app": {"2": {}, "3.0": {}}, "lib": lib, "old": {"1": ["app<3"]}}
    found = _diagnose(table, *lines)
    assert [caution] in [list(repair.cautions) for repair in found.repairs]


def test_an_upper_bound_that_is_set_aside_comes_first_and_nobody_vouches_for_it() -> None:
    table = {"app": {"2": {}, "3": {}}, "lib": {"1": ["app<3"]}, "more": {"1": ["app>=3"]}}
    found = _diagnose(table, "lib", "more")
    assert [(_pins(repair), list(repair.cautions)) for repair in found.repairs] == [
        (["app==3"], ["`app` 3 is not what lib 1 asks for (`app<3`), and may fail"]),
        (['lib ; python_version < "0"'], ["`lib` is left out: what imports it will not run"]),
        (['more ; python_version < "0"'], ["`more` is left out: what imports it will not run"]),
        (["app==2"], ["`app` 2 is older than more 1 asks for (`app>=3`)"]),
    ]


def test_what_a_distribution_asks_for_is_not_overruled_where_a_line_of_people_can_give() -> None:
    table = {"app": {"2": {}, "3": {}}, "lib": {"1": ["app<3"]}, "more": {"1": ["app>=3"]}}
    found = _diagnose(table, "lib", "app==3")
    assert [_pins(repair) for repair in found.repairs] == [["app==2"]]


def test_independent_conflicts_get_a_repair_each_and_not_every_combination() -> None:
    table = {
        **{name: {"1": {}, "2": {}} for name in ("a", "b", "c")},
        **{f"uses-{name}": {"1": [f"{name}==1"], "2": [f"{name}==2"]} for name in ("a", "b", "c")},
    }
    found = _diagnose(table, "a==2", "b==2", "c==2", *(f"uses-{name}==1" for name in ("a", "b", "c")))
    assert [_pins(repair) for repair in found.repairs] == [
        ["uses-a==2", "uses-b==2", "uses-c==2"],
        ["a==1", "uses-b==2", "uses-c==2"],
        ["b==1", "uses-a==2", "uses-c==2"],
        ["c==1", "uses-a==2", "uses-b==2"],
    ]


def test_more_conflicts_than_one_repair_may_cost_get_theirs_together() -> None:
    names = [f"p{number:02}" for number in range(16)]
    table = {
        **{name: {"1": {}, "2": {}} for name in names},
        **{f"uses-{name}": {"1": [f"{name}==1"], "2": [f"{name}==2"]} for name in names},
    }
    found = _diagnose(table, *(f"{name}==2" for name in names), *(f"uses-{name}==1" for name in names))
    assert len(found.conflicts) == 16
    first, *others = map(_pins, found.repairs)
    assert first == [f"uses-{name}==2" for name in names]
    assert others == [
        [f"{name}==1", *(f"uses-{other}==2" for other in names if other != name)] for name in names[: len(others)]
    ]
    assert len(others) == 9
    assert all(repair.verified for repair in found.repairs)


def test_a_build_label_gives_way_before_a_version() -> None:
    table = {"torch": {"2.5.1": {}, "2.5.1+cu121": {"tags": ["cp311-cp311-win_amd64"]}, "2.9.0": {}}}
    found = _diagnose(table, "torch==2.5.1+cu121")
    assert [_pins(repair) for repair in found.repairs] == [["torch==2.5.1"]]


def test_a_dearer_repair_goes_before_one_that_needs_a_build_others_do_without() -> None:
    table = {
        "web": {"1": ["core<2"], "2": ["core>=2"]},
        "orm": {"1": ["core<2"], "2": ["core>=2"]},
        "core": {"1": {}, "2": {}},
        "settings": {"0.2": ["hard<2"], "2": ["core>=2"]},
        "hard": {"1": {"wheel": False}, "2": {}},
    }
    found = _diagnose(table, "web==1", "orm==1", "core>=2", "settings", build_risk=_builds)
    assert [_pins(repair) for repair in found.repairs] == [["web==2", "orm==2"], ["core==1"]]
    assert "`hard` 1 has no wheel for this target and needs a compiler" in found.repairs[1].cautions


def test_what_a_person_asks_for_at_least_is_kept_and_the_culprit_left_out() -> None:
    table = {
        "separator": {"1": ["http<1"], "2": ["http<1"]},
        "ui": {"3": ["http<1"], "4": ["http>=1"]},
        "http": {"0.9": [], "1.2": []},
    }
    found = _diagnose(table, "separator==2", "ui>=4", judge=_fails("separator==2 http==1.2", "separator==1 http==1.2"))
    assert [(_pins(repair), repair.cost) for repair in found.repairs] == [
        (['separator ; python_version < "0"'], 1),
        (["ui==3"], 1),
        (["http==0.9"], 1),
    ]
    assert found.repairs[0].cautions == ("`separator` is left out: what imports it will not run",)
    assert found.repairs[1].cautions == ("`ui` 3 is older than requirements.txt:2 asks for (`ui>=4`)",)


def test_where_a_culprit_is_left_out_what_it_alone_was_in_the_way_of_stays() -> None:
    table = {
        "engine": {"1": ["http<1", "array<2"]},
        "http": {"0.8": {}, "0.9": {}, "1.2": {}, "1.3": {}},
        "array": {"1": {}, "2": {}, "3": {}},
    }
    found = _diagnose(table, "engine==1", "http==1.2", "array==2", judge=_fails("engine==1 http==0.9"))
    assert [(_pins(repair), repair.cost) for repair in found.repairs] == [
        (["http==0.8", "array==1"], 2),
        (['engine ; python_version < "0"'], 1),
    ]


def test_beside_a_pin_that_stays_a_whole_major_version_is_held_back_where_it_fails() -> None:
    models = {f"5.{minor}": {} for minor in range(30)} | {"4.57": {}}
    table = {"torch": {"2.1": {}, "2.5": {}}, "codec": {"1": ["torch==2.1"]}, "models": models}
    judge = _fails(*(f"models==5.{minor} torch==2.1" for minor in range(30)))
    found = _diagnose(table, "codec==1", "torch==2.5", "models", judge=judge)
    assert [_pins(repair) for repair in found.repairs] == [["torch==2.1", "models==4.57"], ["torch==2.1"]]


def test_what_fails_beside_a_repair_is_left_out_or_held_back_where_that_helps() -> None:
    table = {
        "ui": {"3": {}, "4": ["web>=2", "io>=2", "schema"]},
        "web": {"1": {}, "2": {}},
        "io": {"1": {}, "2": {}},
        "schema": {"2.10": {}, "2.14": {}},
        "slider": {"1": {}},
    }
    judge = _fails("ui==3 slider==1", "ui==4 schema==2.14")
    found = _diagnose(table, "ui==4", "web==1", "io==1", "slider==1", judge=judge)
    assert [(_pins(repair), repair.cost) for repair in found.repairs] == [
        (["web==2", "io==2", "schema==2.10"], 3),
        (["ui==3", 'slider ; python_version < "0"'], 2),
        (["ui==3"], 1),
    ]
    assert found.repairs[0].overrides[2].because == "2.14 is known to fail: ui==4 schema==2.14 fails"


def test_among_equals_the_one_that_needs_no_compiler_comes_first_and_the_other_says_it() -> None:
    table = {
        "first": {"1": ["shared<2"]},
        "second": {"1": ["shared>=2"]},
        "shared": {"1": ["hard"], "2": ["easy"]},
        "hard": {"1": {"wheel": False}},
        "easy": {"1": {"wheel": False}},
    }
    found = _diagnose(table, "first", "second", build_risk=_builds)
    overruling = [repair for repair in found.repairs if _pins(repair)[0].startswith("shared")]
    assert [_pins(repair) for repair in overruling] == [["shared==2"], ["shared==1"]]
    assert not any("compiler" in caution for caution in overruling[0].cautions)
    assert "`hard` 1 has no wheel for this target and needs a compiler" in overruling[1].cautions


def test_where_the_pin_that_stays_must_be_built_the_repair_that_moves_it_goes_back_to_what_works() -> None:
    new = {f"2.{minor}": {} for minor in range(6)}
    table = {
        "vision": {"4.8": {}, "4.9": ["numpy>=1.26"]},
        "numpy": {"1.24": {"wheel": False}, "1.25": {"wheel": False}, "1.26": {}, **new},
    }
    broken = _fails(*(f"numpy=={version} vision==4.9" for version in new))
    found = _diagnose(table, "vision==4.9", "numpy==1.24", judge=broken, build_risk=_builds)
    assert [_pins(repair) for repair in found.repairs] == [["numpy==1.26"], ["vision==4.8"]]
    assert found.repairs[0].cautions == ()


def test_what_every_repair_must_build_is_no_caution() -> None:
    table = {"app": {"1": {}, "2": {}}, "lib": {"1": ["app<2"]}, "hard": {"1": {"wheel": False}}}
    found = _diagnose(table, "app==2", "lib", "hard", build_risk=_builds)
    assert not any("compiler" in caution for repair in found.repairs for caution in repair.cautions)


class PartlyDown(MemoryIndex):
    """An index that does not answer for one project."""

    def page(self, name: NormalizedName) -> ProjectPage:
        if name == "lost":
            subject = Subject(SubjectKind.INDEX, "default")
            raise IndexUnavailable(Unknown(UnknownKind.UNREACHABLE, subject, "default", cause="timed out"))
        return super().page(name)


UNSEEN: list[tuple[Iterable[str], str]] = [
    (("app==2", "lib", "mute==1"), "mute"),
    (("app==2", "lib", "lost"), "lost"),
    (("app==2", "lib", "asks"), "lost"),
]


@pytest.mark.parametrize(("lines", "name"), UNSEEN)
def test_a_repair_that_could_not_be_looked_at_whole_is_not_called_verified(lines: Iterable[str], name: str) -> None:
    table: dict[str, Any] = {
        "app": {"1": {}, "2": {}},
        "lib": {"1": ["app<2"]},
        "mute": {"1": {"no_metadata": True}},
        "asks": {"1": ["lost>=1"]},
    }
    found = diagnose(Manifest(read(*lines), LINUX), PartlyDown(table))
    assert found.repairs
    assert not any(repair.verified for repair in found.repairs)
    assert name in {unknown.subject.name for unknown in found.unknowns}
    whole = diagnose(Manifest(read("app==2", "lib"), LINUX), PartlyDown(table))
    assert all(repair.verified for repair in whole.repairs)


def test_a_direct_reference_is_a_caution() -> None:
    table = {"app": {"1": {}, "2": {}}, "lib": {"1": ["app<2"]}}
    found = _diagnose(table, "app==2", "lib", "thing @ https://index.example/thing.zip")
    assert all(
        "`thing` is a direct reference: what it requires is not known" in repair.cautions for repair in found.repairs
    )


def test_a_wheel_that_only_the_glibc_shuts_out_says_which_one_it_needs() -> None:
    table = {"app": _wheels("1", tag="cp311-cp311-manylinux_2_34_x86_64")}
    (conflict,) = _diagnose(table, "app").conflicts
    assert conflict.clash.rejections[0].detail == "needs glibc 2.34, the target is taken to have 2.28"
    assert not _diagnose(table, "app", target=replace(LINUX, glibc=(2, 39))).conflicts
    (other,) = _diagnose(table, "app", target=replace(LINUX, python=(3, 12))).conflicts
    assert "glibc" not in other.clash.rejections[0].detail
