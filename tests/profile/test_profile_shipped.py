"""What holds of every shipped profile."""

from __future__ import annotations

import importlib
import importlib.util
import json
import sys
from dataclasses import fields, replace
from pathlib import Path

import jsonschema
import pytest
from packaging.requirements import Requirement

from envdoctor.model.origin import ProfileOrigin
from envdoctor.model.profile import ListedProfile, PatchKind, Profile
from envdoctor.model.target import OperatingSystem
from envdoctor.profile.catalogue import catalogue, recognise
from envdoctor.profile.load import load_profile, validate
from envdoctor.profile.profile_target import python_choices, target_for
from envdoctor.profile.show import show_text
from envdoctor.profile.template import SCHEMA_FILE, schema, schema_text
from envdoctor.shipped import shipped_folder, shipped_names

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
UPSTREAM = ROOT.parent / "shared" / "upstream"
PROMISED = {
    "xtts-zluda",
    "xtts-zluda-rvc",
    "rvc-zluda",
    "diffrhythm2-directml",
    "diffrhythm2-directml-cpu",
    "diffrhythm2-rocm",
    "diffrhythm2-wsl2",
    "comfyui-rocm-windows",
    "comfyui-xpu",
    "comfyui-zluda",
    "diffrhythm2-rocm-windows",
    "rvc-rocm-windows",
    "xtts-rocm-windows",
    "diffrhythm2-cpu",
    "kokoro-coreml",
    "amphion-cuda13-aarch64",
}
WHOLE = [load_profile(item.name) for item in catalogue()]
every_profile = pytest.mark.parametrize("profile", WHOLE, ids=lambda profile: profile.name)
every_file = pytest.mark.parametrize("name", shipped_names())


def test_all_that_are_promised_are_there() -> None:
    assert {profile.name for profile in catalogue()} == PROMISED


def test_what_is_listed_of_a_profile_is_what_the_whole_of_it_says() -> None:
    for profile, item in zip(WHOLE, catalogue(), strict=True):
        assert item == ListedProfile(*(getattr(profile, field.name) for field in fields(ListedProfile)))


@every_file
def test_a_file_is_called_as_its_profile_and_has_no_fault(name: str) -> None:
    path = shipped_folder() / f"{name}.toml"
    document = tomllib.loads(path.read_text(encoding="utf-8"))

    assert document["profile"]["name"] == name
    assert validate([str(path)]) == {str(path): ()}
    jsonschema.validate(document, schema(), jsonschema.Draft202012Validator)


@every_profile
def test_a_patch_says_what_a_person_sees_without_it(profile: Profile) -> None:
    assert [patch.name for patch in profile.patches if len(patch.symptom) < 20] == []


@every_profile
def test_everything_has_its_reason(profile: Profile) -> None:
    reasoned = [*profile.requires, *profile.excludes, *profile.overrides, *profile.patches, *profile.system]
    reasoned += [*profile.indexes, *profile.couplings]

    assert all(item.because.strip() for item in reasoned)
    assert profile.cautions


@every_profile
def test_overrides_pin_something(profile: Profile) -> None:
    for override in profile.overrides:
        assert Requirement(override.requirement.text).specifier
        assert override.replaces


@every_profile
def test_torch_is_never_overridden_without_its_companion(profile: Profile) -> None:
    """An override of torch alone tears torchaudio off: it resolves, and crashes."""
    pinned = {item.requirement.name for item in (*profile.overrides, *profile.requires)}
    if "torch" in {item.requirement.name for item in profile.overrides}:
        assert "torchaudio" in pinned
    assert any("torch" in coupling.names for coupling in profile.couplings)


@every_profile
def test_a_patched_text_does_not_hold_what_was_looked_for(profile: Profile) -> None:
    """Otherwise a second application could not tell that the first has been."""
    for patch in profile.patches:
        if patch.kind is PatchKind.REPLACE_TEXT:
            assert patch.find and patch.replace is not None
            assert patch.find not in patch.replace


@every_profile
def test_patches_have_names_of_their_own(profile: Profile) -> None:
    assert all(patch.name for patch in profile.patches)


@every_profile
def test_it_has_a_page(profile: Profile) -> None:
    assert profile.documentation == f"docs/profiles/{profile.name}.md"
    page = (ROOT / profile.documentation).read_text(encoding="utf-8")
    assert page.startswith(f"# {profile.name}\n")


@every_profile
def test_it_means_a_target(profile: Profile) -> None:
    target = target_for(profile)

    assert target.python == python_choices(profile)[0]
    assert target.backend is profile.target.backend
    assert target.tag_priorities()


@every_profile
def test_it_can_be_read_by_a_person(profile: Profile) -> None:
    text = show_text(profile)

    for override in profile.overrides:
        assert override.because in text
    for caution in profile.cautions:
        assert caution.text in text


@every_profile
def test_what_messages_call_its_entries_stands_beside_them(profile: Profile) -> None:
    lines = show_text(profile).splitlines()
    entries = [(str(item.requirement), item.requirement.origin) for item in (*profile.requires, *profile.overrides)]
    entries += [(str(item.name), item.origin) for item in (*profile.excludes, *profile.system)]
    entries += [(item.files[0], item.origin) for item in profile.patches]
    entries += [(item.component, item.origin) for item in profile.placements]

    for what, origin in entries:
        assert isinstance(origin, ProfileOrigin)
        own = origin.name == profile.name
        (line,) = [line for line in lines if line.endswith(f"  # {origin.key if own else str(origin)[8:]}")]
        assert line.startswith(f"  {what}")


@every_profile
def test_its_kernels_and_workloads_exist(profile: Profile) -> None:
    where = "envdoctor.adapters.smoke.kernel_catalogue"
    if importlib.util.find_spec(where) is None:
        pytest.skip("this build has no kernel catalogue")
    smoke = importlib.import_module(where)
    kernels = {entry.name for entry in smoke.KERNELS}
    workloads = {entry.name for entry in smoke.WORKLOADS}

    assert set(profile.smoke.kernels) <= kernels
    assert set(profile.smoke.workloads) <= workloads


def test_the_schema_file_is_current() -> None:
    """Write it again with ``scripts/reference.py`` after a change of the grammar."""
    shipped = (shipped_folder() / SCHEMA_FILE).read_text(encoding="utf-8")

    assert shipped == schema_text()
    jsonschema.Draft202012Validator.check_schema(json.loads(shipped))


def overrides(name: str) -> dict[str, tuple[str, ...]]:
    return {str(item.requirement): item.replaces for item in load_profile(name).overrides}


def test_xtts_overrides_two_requirements() -> None:
    assert overrides("xtts-zluda") == {
        "transformers>=4.42,<4.43": ("project",),
        "faster-whisper==1.1.0": ("project", "whisperx"),
    }


def test_directml_keeps_torch_directml_first_and_unpinned() -> None:
    own = [item for item in load_profile("diffrhythm2-directml").requires if item.requirement.name == "torch-directml"]

    assert [(str(item.requirement), str(item.requirement.origin)) for item in own] == [
        ("torch-directml", "profile diffrhythm2-directml: requires[0]")
    ]
    assert overrides("diffrhythm2-directml") == {"torch==2.4.1": ("project",), "torchaudio==2.4.1": ("project",)}


def test_kokoro_takes_a_pair_that_coremltools_was_tested_with() -> None:
    profile = load_profile("kokoro-coreml")
    for python, pair in (
        ((3, 11), {"torch==2.5.0", "coremltools==8.3.0"}),
        ((3, 12), {"torch==2.7.0", "coremltools==9.0"}),
    ):
        environment = replace(target_for(profile), python=python).marker_environment()
        chosen = {
            f"{item.requirement.name}{item.requirement.specifier}"
            for item in profile.requires
            if item.requirement.marker is not None and item.requirement.marker.evaluate(environment)
        }
        assert chosen == pair


def test_thor_is_ubuntu_24_04_with_sm_110() -> None:
    target = target_for(load_profile("amphion-cuda13-aarch64"))

    assert (target.glibc, target.gpu_architecture, target.python) == ((2, 39), "sm_110", (3, 12))
    assert "manylinux_2_39_aarch64" in target.platforms()


def test_a_preferred_python_comes_before_newer_ones() -> None:
    assert python_choices(load_profile("diffrhythm2-directml")) == [(3, 11), (3, 12), (3, 10)]
    assert python_choices(load_profile("xtts-zluda")) == [(3, 11), (3, 10)]


def test_files_and_requirements_mark_a_project() -> None:
    (best, *_) = recognise(["scripts/modeldownloader.py", "xtts_webui.py"], ["coqui_tts"])

    assert best.profile.name == "xtts-zluda"
    assert best.reason == "has `scripts/modeldownloader.py`, `xtts_webui.py` and asks for `coqui-tts`"


@pytest.mark.parametrize(
    ("files", "names", "called"),
    [
        (["setup.py"], ["torch", "pyopenjtalk"], None),
        (["inference.py"], ["torch"], None),
        (["inference.py"], ["torch", "torchdiffeq"], None),
        (["xtts_webui.py"], ["torch"], None),
        ([], ["kokoro"], None),
        (["app.py"], ["kokoro"], "kokoro-reader"),
    ],
)
def test_one_mark_proves_nothing(files: list[str], names: list[str], called: str | None) -> None:
    assert recognise(files, names, called=called) == []


def test_a_projects_own_name_is_enough() -> None:
    (found,) = recognise(["setup.py"], ["torch"], called="Kokoro")
    assert (found.profile.name, found.reason) == ("kokoro-coreml", "is called `Kokoro`")


def test_the_first_diffrhythm_is_not_taken_for_the_second() -> None:
    """Both ask for muq, torchdiffeq and pyopenjtalk, and want other releases of transformers and torchaudio."""
    first = [
        "accelerate",
        "torchdiffeq",
        "torchaudio",
        "x-transformers",
        "muq",
        "pyopenjtalk",
        "langsegment",
        "mutagen",
    ]
    second = ["torch", "torchdiffeq", "muq", "pedalboard", "pyopenjtalk", "onnxruntime"]
    assert recognise(["infer/infer.py"], first) == []
    assert recognise(["inference.sh"], second)[0].profile.name.startswith("diffrhythm2")


def test_variants_of_a_stack_match_equally_and_the_systems_own_comes_first() -> None:
    matches = recognise(lambda: ["diffrhythm2/cfm.py"], ["muq"], prefer_os=OperatingSystem.WINDOWS)

    assert matches[0].profile.name == "diffrhythm2-directml"
    assert len({match.score for match in matches}) == 1
    assert [match.profile.name for match in matches[1:]] == [
        "diffrhythm2-directml-cpu",
        "diffrhythm2-cpu",
        "diffrhythm2-rocm",
        "diffrhythm2-wsl2",
    ]


@pytest.mark.skipif(not UPSTREAM.is_dir(), reason="the upstream requirement files are not beside this checkout")
@pytest.mark.parametrize(
    ("folder", "stack"),
    [
        ("xtts-webui", "xtts-"),
        ("diffrhythm2", "diffrhythm2-"),
        ("advanced-rvc", "rvc-"),
        ("kokoro", "kokoro-"),
        ("amphion/maskgct", "amphion-"),
        ("amphion/vevo", "amphion-"),
        ("amphion/dualcodec", "amphion-"),
    ],
)
def test_real_requirement_files_are_recognised(folder: str, stack: str) -> None:
    names = []
    for path in (UPSTREAM / folder).iterdir():
        for line in path.read_text(encoding="utf-8-sig").splitlines():
            text = line.strip().strip('",')
            try:
                names.append(Requirement(text).name)
            except ValueError:
                continue

    assert {match.profile.name.startswith(stack) for match in recognise([], names)} == {True}
