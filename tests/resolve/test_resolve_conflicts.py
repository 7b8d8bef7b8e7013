"""Conflicts and repairs of real troubles, in universes reduced to what matters."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from resolve_universe import JETSON, LINUX, WINDOWS, MemoryIndex, breakage, read

from envdoctor.model.candidate import RejectionKind
from envdoctor.model.finding import Finding
from envdoctor.model.origin import ProfileOrigin
from envdoctor.model.override import Override, OverrideSource
from envdoctor.model.profile import Exclusion
from envdoctor.model.repair import Repair
from envdoctor.model.requirement import Requirement
from envdoctor.model.resolution import Resolution
from envdoctor.model.target import Target
from envdoctor.model.unknown import UnknownKind
from envdoctor.resolve.diagnosis import Diagnosis, diagnose
from envdoctor.resolve.explanation import explain
from envdoctor.resolve.manifest import Manifest
from envdoctor.resolve.offer import Judge

TORCH: dict[str, dict[str, Any]] = {
    "torch": {v: {} for v in ("2.0.0", "2.2.1", "2.4.1", "2.7.0", "2.8.0")},
    "torchaudio": {v: [f"torch=={v}"] for v in ("2.0.0", "2.2.1", "2.4.1", "2.7.0", "2.8.0")},
    "torchvision": {"0.17.1": ["torch==2.2.1"], "0.19.1": ["torch==2.4.1"], "0.22.0": ["torch==2.7.0"]},
    "torch-directml": {
        "0.2.1.dev240521": ["torch==2.2.1", "torchvision==0.17.1"],
        "0.2.5.dev240914": ["torch==2.4.1", "torchvision==0.19.1"],
    },
}
XTTS: dict[str, dict[str, Any]] = {
    "transformers": {
        "4.36.2": ["tokenizers>=0.14,<0.19"],
        "4.42.4": ["tokenizers>=0.19,<0.20"],
        "4.50.0": ["tokenizers>=0.21"],
    },
    "tokenizers": {v: {} for v in ("0.13.3", "0.15.2", "0.19.1", "0.21.0")},
    "coqui-tts": {"0.24.2": {"requires": ["transformers>=4.42,<4.43"], "extras": {"languages": ["bnnumerizer"]}}},
    "bnnumerizer": {"0.1": {}},
    "faster-whisper": {
        "1.0.1": ["tokenizers>=0.13,<0.16", "av==11.*"],
        "1.1.0": ["tokenizers>=0.13,<1", "av>=11"],
        "1.2.0": ["tokenizers>=0.13,<1", "av>=11"],
    },
    "av": {"11.0.0": {"wheel": False}, "12.0.0": {}},
    "whisperx": {"3.1.0": ["faster-whisper==1.1.0"], "3.3.0": ["faster-whisper>=1.1.1"]},
}
SUPIR: dict[str, dict[str, Any]] = {
    "fastapi": {"0.95.1": ["pydantic<2"], "0.100": ["pydantic"]},
    "pydantic": {"1.10": {}, "2.0": {}},
    "gradio": {
        "3.28.3": ["gradio-client", "pydantic", "huggingface-hub"],
        "4.16.0": ["gradio-client==0.8.1", "pydantic>=2", "huggingface-hub>=0.19.3"],
    },
    "gradio-client": {"0.1.3": {}, "0.8.1": ["fsspec"]},
    "huggingface-hub": {"0.18": ["fsspec"], "0.19.3": ["fsspec>=2023.5.0"]},
    "fsspec": {"2023.4.0": {}, "2023.5.0": {}},
}


def _diagnose(table: Any, *lines: str, target: Target = LINUX, judge: Judge | None = None, **more: Any) -> Diagnosis:
    return diagnose(Manifest(read(*lines), target, **more), MemoryIndex(table), judge=judge)


def _cores(found: Diagnosis) -> list[list[str]]:
    return [[str(r) for r in conflict.core] for conflict in found.conflicts]


def _pins(repair: Repair) -> list[str]:
    return [override.requirement.pep508 for override in repair.overrides]


def _versions(found: Diagnosis) -> dict[str, str]:
    assert found.resolution is not None
    return {package.name: str(package.version) for package in found.resolution.packages}


def _override(text: str, *replaces: str) -> Override:
    name, _, rest = text.partition("==")
    specifier = SpecifierSet(f"=={rest}" if rest else "")
    wanted = Requirement(canonicalize_name(name), ProfileOrigin("p", "override"), specifier)
    return Override(wanted, source=OverrideSource.PROFILE, replaces=replaces)


def test_directml_takes_the_companions_of_torch_along() -> None:
    found = _diagnose(TORCH, "torch==2.7", "torchaudio==2.7", "torch-directml", target=WINDOWS)
    assert _cores(found) == [["torch==2.7", "torch-directml"], ["torchaudio==2.7", "torch-directml"]]
    assert [_pins(repair) for repair in found.repairs] == [["torch==2.4.1", "torchaudio==2.4.1"]]
    assert _versions(found)["torchvision"] == "0.19.1"
    for conflict in found.conflicts:
        assert conflict.clash.package == "torch"
        directml = conflict.clash.sides[1]
        assert directml.via == ("torch-directml",)
        assert directml.versions_considered == ("0.2.1.dev240521", "0.2.5.dev240914")


def test_all_three_cores_of_xtts_with_where_they_clash() -> None:
    found = _diagnose(XTTS, "faster-whisper==1.0.1", "coqui-tts[languages]==0.24.2", "transformers==4.36.2", "whisperx")
    assert _cores(found) == [
        ["faster-whisper==1.0.1", "coqui-tts[languages]==0.24.2"],
        ["faster-whisper==1.0.1", "whisperx"],
        ["coqui-tts[languages]==0.24.2", "transformers==4.36.2"],
    ]
    assert [conflict.clash.package for conflict in found.conflicts] == ["tokenizers", "faster-whisper", "transformers"]
    assert found.conflicts[0].clash.sides[1].via == ("coqui-tts", "transformers")
    assert _pins(found.repairs[0]) == ["faster-whisper==1.2.0", "transformers==4.42.4"]
    assert found.repairs[0].resolves == ("C1", "C2", "C3")


def test_a_version_with_only_an_sdist_is_no_conflict() -> None:
    found = _diagnose(XTTS, "faster-whisper==1.0.1", target=WINDOWS)
    assert not found.conflicts
    assert _versions(found)["av"] == "11.0.0"


def test_the_alternative_that_keeps_the_dropped_line_is_offered_too() -> None:
    found = _diagnose(SUPIR, "fastapi==0.95.1", "fsspec==2023.4.0", "gradio==4.16.0", "gradio-client==0.1.3")
    assert [conflict.clash.package for conflict in found.conflicts] == ["pydantic", "fsspec", "gradio-client"]
    assert [repair.cost for repair in found.repairs] == [1, 3]
    assert _pins(found.repairs[0]) == ["gradio==3.28.3"]
    assert _pins(found.repairs[1]) == ["fastapi==0.100", "fsspec==2023.5.0", "gradio-client==0.8.1"]


def _gradio_3_fails(resolution: Resolution) -> list[Finding]:
    gradio = resolution.get("gradio")
    old = gradio is not None and str(gradio.version) == "3.28.3"
    return [breakage("ADV1", "gradio 3 does not import", "gradio")] if old and gradio else []


def test_a_broken_cheap_repair_comes_after_a_dearer_one_that_works() -> None:
    found = _diagnose(
        SUPIR,
        *("fastapi==0.95.1", "fsspec==2023.4.0", "gradio==4.16.0", "gradio-client==0.1.3"),
        judge=_gradio_3_fails,
    )
    assert [_pins(repair) for repair in found.repairs] == [
        ["fastapi==0.100", "fsspec==2023.5.0", "gradio-client==0.8.1"],
        ["gradio==3.28.3"],
    ]
    assert found.resolution is not None
    assert found.resolution.repair == "R1"


def test_a_demand_of_a_distribution_can_be_what_gives() -> None:
    table = {
        "descript-audio-codec": {"1.0.0": ["descript-audiotools>=0.7.2"]},
        "descript-audiotools": {"0.7.2": ["protobuf>=3.9.2,<3.20"]},
        "onnx": {"1.16.0": ["protobuf>=3.20.2"]},
        "protobuf": {"3.19.6": {}, "3.20.2": {}, "4.25": {}},
    }
    found = _diagnose(table, "descript-audio-codec==1.0.0", "onnx==1.16.0")
    assert _cores(found) == [["descript-audio-codec==1.0.0", "onnx==1.16.0"]]
    first = found.repairs[0]
    assert _pins(first) == ["protobuf==4.25"]
    assert [str(r.origin) for r in first.overrides[0].sets_aside] == ["descript-audiotools 0.7.2"]
    protobuf = found.resolution.get("protobuf") if found.resolution else None
    assert protobuf is not None
    assert [r.pep508 for r in protobuf.set_aside] == ["protobuf<3.20,>=3.9.2"]


def test_a_line_without_a_version_for_the_target_says_what_there_is() -> None:
    table = {
        "torch": {f"2.{minor}.0": {} for minor in range(5, 12)},
        "torchcodec": {
            "0.8.1": {"tags": ["cp312-cp312-manylinux_2_28_x86_64", "cp312-cp312-win_amd64"]},
            "0.11.0": {"tags": ["cp312-cp312-manylinux_2_28_aarch64"]},
        },
    }
    found = _diagnose(table, "torch", "torchcodec>=0.8.1,<0.10", target=JETSON)
    assert _cores(found) == [["torchcodec>=0.8.1,<0.10"]]
    clash = found.conflicts[0].clash
    assert clash.available == ("0.11.0",)
    assert {rejection.kind for rejection in clash.rejections} == {RejectionKind.TAG}
    assert _versions(found) == {"torch": "2.11.0", "torchcodec": "0.11.0"}


def test_a_coupling_holds_where_metadata_is_silent() -> None:
    table = {"torch": {"2.11.0": {}, "2.13.0": {}}, "torchcodec": {"0.11.0": {}}}
    found = _diagnose(table, "torchcodec")
    assert _versions(found) == {"torch": "2.11.0", "torchcodec": "0.11.0"}
    assert found.resolution is not None
    torch = found.resolution.get("torch")
    assert torch is not None
    assert getattr(torch.wanted_by[0].origin, "coupling", False)
    assert _cores(_diagnose(table, "torch==2.13.0", "torchcodec")) == [["torch==2.13.0", "torchcodec"]]


def test_what_is_built_for_the_stable_abi_stands_beside_a_later_torch() -> None:
    table = {"torch": {"2.10.0": {}, "2.15.0": {}}, "torchaudio": {"2.11.0": {}}}
    assert _versions(_diagnose(table, "torchaudio")) == {"torch": "2.15.0", "torchaudio": "2.11.0"}
    assert _cores(_diagnose(table, "torch==2.10.0", "torchaudio")) == [["torch==2.10.0", "torchaudio"]]


def test_a_pair_of_binaries_that_an_older_python_has_is_told_with_that_python() -> None:
    old, new = "cp310-cp310-manylinux2014_x86_64", "cp311-cp311-manylinux2014_x86_64"
    table = {
        "torch": {"1.13.1": {"tags": [old, new]}, "2.0.0": {"tags": [old, new]}},
        "torchaudio": {
            "0.13.1": {"tags": [old], "requires": ["torch==1.13.1"], "requires_python": "<3.11"},
            "2.0.1": {"tags": [old, new], "requires": ["torch==2.0.0"]},
        },
        "plain": {"1": ["numpy<2"]},
        "numpy": {"1": {"tags": [old]}, "2": {}},
    }
    for full in (None, "3.11.7"):
        (conflict,) = _diagnose(table, "torch<2", "torchaudio", target=replace(LINUX, python_full=full)).conflicts
        assert conflict.python == "3.10"
    # Of what metadata alone says, no other Python is looked for.
    (conflict,) = _diagnose(table, "plain", "numpy>=2").conflicts
    assert conflict.python == ""


def test_an_override_of_torch_alone_cannot_tear_the_pair_apart() -> None:
    table = {**TORCH, "app": {"1": ["torch>=2.8"]}}
    found = _diagnose(table, "torchaudio==2.7.0", "app", overrides=(_override("torch==2.7.0"),))
    assert found.repairs[0].from_profile
    assert _versions(found)["torch"] == "2.7.0"
    torn = _diagnose(table, "torchaudio==2.7.0", overrides=(_override("torch==2.4.1"),))
    assert not any(repair.from_profile for repair in torn.repairs)
    assert [str(r) for r in torn.profile_failure] == ["torchaudio==2.7.0"]


def test_the_profiles_overrides_are_a_repair_and_are_in_use() -> None:
    found = _diagnose(
        XTTS,
        *("faster-whisper==1.0.1", "coqui-tts[languages]==0.24.2", "transformers==4.36.2", "whisperx"),
        overrides=(_override("transformers==4.42.4", "project"), _override("faster-whisper==1.1.0")),
    )
    mine = [repair for repair in found.repairs if repair.from_profile]
    assert len(mine) == 1
    assert mine[0].verified
    assert [(o.requirement.pep508, len(o.sets_aside)) for o in mine[0].overrides] == [
        ("faster-whisper==1.1.0", 2),
        ("transformers==4.42.4", 1),
    ]
    assert mine[0].cost == 3
    assert found.resolution is not None
    assert found.resolution.repair == mine[0].id
    assert _versions(found)["faster-whisper"] == "1.1.0"
    assert len(found.conflicts) == 3


def test_a_conflict_elsewhere_leaves_the_profiles_overrides_in_use() -> None:
    table = {**XTTS, "idna": {"2.0": {}, "3.0": {}}, "requests": {"2": ["idna>=2.5"]}, "six": {"1.15": {}, "1.16": {}}}
    found = _diagnose(
        table,
        *("six==1.16", "idna==2.0", "requests==2"),
        overrides=(_override("six==1.15", "project"),),
    )
    assert found.profile_failure == ()
    assert (_versions(found)["six"], _versions(found)["idna"]) == ("1.15", "3.0")
    (used,) = (repair for repair in found.repairs if found.resolution and repair.id == found.resolution.repair)
    assert (used.from_profile, used.cost) == (True, 2)
    assert [str(override.requirement) for override in used.overrides] == ["six==1.15", "idna==3.0"]


def test_a_conflict_that_is_there_without_the_override_is_not_the_overrides() -> None:
    table = {
        "numpy": {"1.19": {}, "1.26": {}, "2.0": {}},
        "gpu": {"1": ["numpy>=1.20"], "2": ["numpy>=1.25"]},
        "old": {"1": ["numpy>=1.20"]},
    }
    lines = ("gpu==1", "old==1", "numpy==1.19")
    found = _diagnose(table, *lines, overrides=(_override("gpu==2", "project"),))
    assert found.profile_failure == ()
    assert _versions(found)["gpu"] == "2"


def test_beside_overrides_no_old_version_is_built_where_one_demand_of_a_distribution_could_give_way() -> None:
    table = {
        "six": {"1.15": {}, "1.16": {}},
        "typer": {"0.9": {}, "0.29": {}},
        "ui": {"1": ["typer>=0.12"]},
        "nlp": {"0.98": {"wheel": False, "sdist": True}, "3.7": ["weasel"]},
        "weasel": {"0.3": ["typer<0.10"]},
    }
    overrides = (_override("six==1.15", "project"),)
    found = _diagnose(table, "six==1.16", "ui==1", "nlp==3.7", overrides=overrides)
    assert (_versions(found)["six"], _versions(found)["nlp"]) == ("1.15", "3.7")
    assert found.profile_failure == ()
    del table["nlp"]["0.98"]
    found = _diagnose(table, "six==1.16", "ui", "nlp", overrides=overrides)
    assert (_versions(found)["six"], _versions(found)["nlp"]) == ("1.15", "3.7")
    assert len({repair.overrides for repair in found.repairs}) == len(found.repairs)


def test_what_keeps_a_profiles_overrides_keeps_what_it_requires() -> None:
    table = {"six": {"1.15": {}, "1.16": {}}, "onnx": {"1.16": {}, "1.19": {}}, "app": {"1": ["onnx<1.19"], "2": {}}}
    lines = read("six==1.16", "app==1", "onnx==1.19")
    required = replace(lines[2], origin=ProfileOrigin("p", "requires[0]"))
    manifest = Manifest((*lines[:2], required), LINUX, overrides=(_override("six==1.15", "project"),))
    found = diagnose(manifest, MemoryIndex(table))
    kept = [_pins(repair) for repair in found.repairs if repair.from_profile]
    assert kept == [["six==1.15", "app==2"]]


def test_overrides_that_are_in_conflict_with_a_line_are_kept_and_it_is_said() -> None:
    table = {**TORCH, "app": {"1": ["torch<2.5"], "2": ["torch"]}}
    overrides = (_override("torch==2.7.0", "project"),)
    found = _diagnose(table, "torch==2.8.0", "app==1", overrides=overrides)
    assert _versions(found) == {"app": "2", "torch": "2.7.0"}
    assert [str(r) for r in found.profile_failure] == ["app==1"]


def test_an_override_whose_marker_fails_takes_the_package_away() -> None:
    override = Override(
        Requirement(
            canonicalize_name("torch"), ProfileOrigin("p", "o"), marker=read('x; python_version < "0"')[0].marker
        ),
        source=OverrideSource.PROFILE,
    )
    found = _diagnose(TORCH, "torch==2.7.0", overrides=(override,))
    assert _versions(found) == {}


def test_an_excluded_project_vanishes_with_every_demand_on_it() -> None:
    table = {"app": {"1": ["deepspeed==9", "left"]}, "left": {"1": {}}, "deepspeed": {"1": {}}}
    found = _diagnose(table, "app", "deepspeed", exclusions=(Exclusion(canonicalize_name("deepspeed"), ""),))
    assert _versions(found) == {"app": "1", "left": "1"}


def test_a_direct_reference_is_taken_on_trust_and_said() -> None:
    found = _diagnose({"app": {"1": ["thing>=3"]}}, "app", "thing @ https://index.example/thing.zip")
    assert not found.conflicts
    assert [(u.kind, u.subject.name) for u in found.on_trust] == [(UnknownKind.DIRECT_REFERENCE, "thing")]
    assert _versions(found) == {"app": "1"}


@pytest.mark.parametrize("there", [{}, {"thing": {"3": {}, "4": {}}}])
@pytest.mark.parametrize(
    "line", ["thing @ https://index.example/thing.zip", "thing[x] @ https://index.example/thing.zip"]
)
def test_a_url_that_metadata_asks_for_is_not_known_whatever_an_index_has(there: Any, line: str) -> None:
    found = _diagnose({"app": {"1": [line]}, **there}, "app")
    assert (found.conflicts, found.missing) == ((), ())
    (unknown,) = found.unknowns
    assert (unknown.kind, unknown.subject.name) == (UnknownKind.DIRECT_REFERENCE, "app")
    assert unknown.demand.startswith("thing")


def test_a_url_of_metadata_counts_where_its_marker_holds_and_nobody_wrote_it_down() -> None:
    asks = {
        "requires": ["other @ https://index.example/other.zip"],
        "extras": {"fast": ["thing @ https://x.example/t"]},
    }
    table = {"app": {"1": asks}, "thing": {"1": {}}, "other": {"1": {}}}
    found = _diagnose(table, "app", "other @ https://index.example/other.zip")
    assert [unknown.subject.name for unknown in found.unknowns] == ["other"]
    found = _diagnose(table, "app[fast]", exclusions=(Exclusion(canonicalize_name("other"), ""),))
    (unknown,) = found.unknowns
    assert unknown.demand.startswith("thing")


def test_a_version_is_missing_where_another_asks_for_it_by_name() -> None:
    found = _diagnose({"app": {"1": ["thing @ https://index.example/thing.zip"]}}, "app", "thing>=1")
    assert (_cores(found), found.missing) == ([["thing>=1"]], ("thing",))


def test_a_project_that_no_index_has_is_a_core_of_one() -> None:
    found = _diagnose({"app": {"1": ["gone"]}}, "app", "absent==1")
    assert _cores(found) == [["app"], ["absent==1"]]
    assert [c.clash.rejections[0].kind for c in found.conflicts] == [RejectionKind.NOT_FOUND] * 2
    assert found.missing == ("absent", "gone")


def test_lines_that_repeat_each_other_are_one_member() -> None:
    found = _diagnose(TORCH, "torch==2.7.0", "torch==2.7.0", "torchaudio==2.4.1")
    assert _cores(found) == [["torch==2.7.0", "torchaudio==2.4.1"]]
    aside = [len(o.sets_aside) for repair in found.repairs for o in repair.overrides if o.requirement.name == "torch"]
    assert aside == [2]


def test_versions_without_metadata_are_left_out_and_said() -> None:
    table = {"app": {"1": {}, "2": {"no_metadata": True}}}
    found = _diagnose(table, "app")
    assert _versions(found) == {"app": "1"}
    assert found.rejections[0].kind is RejectionKind.NO_METADATA
    assert found.unknowns


def test_a_pin_without_metadata_is_kept_and_said() -> None:
    found = _diagnose({"app": {"2": {"no_metadata": True}}}, "app==2")
    assert not found.conflicts
    assert _versions(found) == {"app": "2"}
    assert found.unknowns


def test_locked_versions_are_kept_unless_upgraded() -> None:
    locked = {canonicalize_name("torch"): TORCHES[0]}
    assert _versions(_diagnose(TORCH, "torch", preferences=locked)) == {"torch": "2.4.1"}
    assert _versions(_diagnose(TORCH, "torch", preferences=locked, upgrade=frozenset({"torch"}))) == {"torch": "2.8.0"}


TORCHES = [MemoryIndex(TORCH).page(canonicalize_name("torch")).files[2].version]


def test_who_walked_a_package_back() -> None:
    table = {
        "fairseq": {"0.10.2": {}, "0.12.2": ["omegaconf<2.1"]},
        "omegaconf": {"2.0.6": {}, "2.3.0": {}},
    }
    found = _diagnose(table, "fairseq", "omegaconf==2.3.0")
    assert found.resolution is not None
    (walked,) = found.resolution.walked_back
    assert (walked.name, str(walked.version), str(walked.newest)) == ("fairseq", "0.10.2", "0.12.2")
    assert [r.pep508 for r in walked.forced_by] == ["omegaconf<2.1", "omegaconf==2.3.0"]


def test_what_the_version_in_use_alone_holds_has_not_walked_it_back() -> None:
    table = {
        "app": {"1.0": ["engine==1", "shared<2"], "2.0": ["engine==2", "shared>=2"]},
        "engine": {"1": {}, "2": {}},
        "shared": {"1": {}, "2": {}},
        "other": {"1": ["shared<2"]},
    }
    found = _diagnose(table, "app", "other")
    assert found.resolution is not None
    (walked,) = [entry for entry in found.resolution.walked_back if entry.name == "app"]
    assert [(str(r.origin), r.pep508) for r in walked.forced_by] == [("app 2.0", "shared>=2"), ("other 1", "shared<2")]


def test_a_line_without_any_version_for_the_target_is_left_out_and_said() -> None:
    table = {"app": {"1": {}}, "triton": {"2.1.0": {"tags": ["cp311-cp311-manylinux_2_17_x86_64"]}}}
    found = _diagnose(table, "app", "triton==2.1.0", target=WINDOWS)
    assert _cores(found) == [["triton==2.1.0"]]
    assert _pins(found.repairs[0]) == ['triton ; python_version < "0"']
    assert found.repairs[0].cautions
    assert _versions(found) == {"app": "1"}


def test_a_line_installed_without_its_dependencies_is_not_the_first_to_give() -> None:
    table = {
        "tools": {"1": ["protobuf<3.20"]},
        "onnx": {"1.12.0": ["protobuf<3.20"], "1.16.0": ["protobuf>=3.20.2"]},
        "protobuf": {"3.19.6": {}, "4.25": {}},
    }
    lines = [replace(r, no_deps=r.name == "onnx") for r in read("tools", "onnx==1.16.0")]
    found = diagnose(Manifest(tuple(lines), LINUX), MemoryIndex(table))
    assert _cores(found) == [["tools", "onnx==1.16.0"]]
    assert _pins(found.repairs[0]) == ["protobuf==4.25"]


def test_explain_says_who_wants_it_and_what_shuts_newer_versions_out() -> None:
    found = _diagnose(XTTS, "coqui-tts==0.24.2")
    assert found.resolution is not None
    assert found.graph is not None
    explanation = explain(found.resolution, found.graph, "tokenizers")
    assert explanation.chains == (("coqui-tts", "transformers", "tokenizers"),)
    assert [(str(n.version), [str(r.origin) for r in n.excluded_by]) for n in explanation.newer] == [
        ("0.21.0", ["transformers 4.42.4"])
    ]
    assert explain(found.resolution, found.graph, "torch").package is None


def test_yanked_versions_need_a_persons_exact_pin() -> None:
    table = {"app": {"1": {}, "2": {"yanked": True}}, "other": {"1": ["app==2"]}}
    assert _versions(_diagnose(table, "app")) == {"app": "1"}
    assert _versions(_diagnose(table, "app==2")) == {"app": "2"}
    assert _cores(_diagnose(table, "other")) == [["other"]]


def test_local_versions_answer_public_pins() -> None:
    table = {"torch": {"2.1.1": {}, "2.1.1+cu118": {}}, "torchaudio": {"2.1.1+cu118": ["torch==2.1.1"]}}
    assert _versions(_diagnose(table, "torch==2.1.1+cu118", "torchaudio"))["torch"] == "2.1.1+cu118"
    assert _cores(_diagnose(table, "torch==2.1.1+cpu")) == [["torch==2.1.1+cpu"]]


def test_background_bounds_are_in_no_core() -> None:
    bounds = read("torch<2.5", constraint=True)
    found = _diagnose(TORCH, "torch==2.7.0", constraints=bounds)
    assert _cores(found) == [["torch==2.7.0"]]
    assert _versions(found) == {"torch": "2.4.1"}


MARKERS = [
    "os_name ~= 'posix'",
    "'a' in 'b'",
    "python_version ~= '3'",
    "implementation_version ~= 'x'",
    "'x' in extras",
]


@pytest.mark.parametrize("marker", MARKERS)
def test_a_line_whose_marker_says_nothing_counts_and_is_named(marker: str) -> None:
    found = _diagnose(TORCH, f"torchaudio==2.7.0 ; {marker}")
    assert _versions(found) == {"torch": "2.7.0", "torchaudio": "2.7.0"}
    (unknown,) = found.unknowns
    assert (unknown.kind, str(unknown.origin)) == (UnknownKind.MARKER, "requirements.txt:1")
    assert unknown.demand.startswith("torchaudio==2.7.0")


@pytest.mark.parametrize("marker", MARKERS)
def test_a_demand_whose_marker_says_nothing_counts_and_is_named(marker: str) -> None:
    table = {"app": {"1": [f"left ; {marker}"], "2": [f"gone ; {marker}"]}, "left": {"1": {}}}
    found = _diagnose(table, "app<2")
    assert _versions(found) == {"app": "1", "left": "1"}
    assert UnknownKind.UNSOUND not in {unknown.kind for unknown in found.unknowns}
    (unknown,) = found.unknowns
    assert (unknown.kind, unknown.subject.name, unknown.subject.version) == (UnknownKind.MARKER, "app", "1")
    assert unknown.demand.startswith("left")
    assert _diagnose(table, "app==2").missing == ("gone",)


@pytest.mark.parametrize(
    ("tags", "told"),
    [
        ("cp311-cp311-linux_x86_64", False),
        ("py3-none-any", False),
        ("cp310-cp310-linux_x86_64", True),
        ("cp311-cp311-win_amd64", True),
    ],
)
def test_the_name_of_a_wheel_at_a_url_tells_that_the_target_cannot_use_it(tags: str, told: bool) -> None:
    url = f"https://files.example/v1/app-2.7.4%2Bcu12torch2.6-{tags}.whl"
    found = _diagnose({"dep": {"1": {}}}, f"app @ {url}", "dep")
    assert _cores(found) == ([[f"app @ {url}"]] if told else [])
    rejected = [item for conflict in found.conflicts for item in conflict.clash.rejections]
    assert [(item.kind, item.filename) for item in rejected] == (
        [(RejectionKind.TAG, f"app-2.7.4+cu12torch2.6-{tags}.whl")] if told else []
    )


@pytest.mark.parametrize(
    "table",
    [
        {"a": {"1": {"requires": ["a>1"]}, "2": {"requires": ["a>2"]}}},
        {"a": {"1": {"requires": ["a[x]>1"], "extras": {"x": []}}, "2": {"requires": ["a[x]>2"], "extras": {"x": []}}}},
    ],
)
def test_a_project_whose_versions_ask_for_newer_ones_of_itself_conflicts_with_the_line_that_asks_for_it(
    table: dict[str, Any],
) -> None:
    """The clause of such a version was one without the version, and its proof one without the line."""
    found = diagnose(Manifest(read("a"), LINUX), MemoryIndex(table))
    assert [[str(item) for item in conflict.core] for conflict in found.conflicts] == [["a"]]


def test_a_version_that_asks_for_another_one_of_itself_is_passed_over() -> None:
    table = {"a": {"1": {}, "2": {"requires": ["a<2"]}, "3": {"requires": ["a>3"]}}, "b": {"1": {"requires": ["a"]}}}
    found = diagnose(Manifest(read("b", "a"), LINUX), MemoryIndex(table))
    assert found.resolution is not None
    assert {item.name: str(item.version) for item in found.resolution.packages} == {"a": "1", "b": "1"}


def test_a_version_that_asks_for_its_own_project_is_not_its_own_reason() -> None:
    """`d` 1 meets its own demand; it cannot be taken for what `e` asks, which the cheapest repair sets aside."""
    table = {
        "b": {"1": ["d", "e<3"]},
        "c": {"1": ["d==9"], "2": ["e==1", "d==1"]},
        "d": {"1": ["d==1", "b<2"]},
        "e": {"1": ["c!=2", "c==1"]},
    }
    found = diagnose(Manifest(read("c==2", "b==9", "d!=2"), LINUX), MemoryIndex(table))
    assert [[str(item) for item in conflict.core] for conflict in found.conflicts] == [["c==2"], ["b==9"], ["d!=2"]]
    assert found.repairs[0].cost == 2
