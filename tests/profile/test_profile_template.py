"""What `profiles new` writes is a profile, and every commented part of it is one too."""

from __future__ import annotations

import re

import pytest

from envdoctor.diagnose import host_needs, torch_choice
from envdoctor.model.target import Arch, Backend, OperatingSystem, TargetBackend
from envdoctor.profile import consistency
from envdoctor.profile.load import parse_profile
from envdoctor.profile.template import new_profile_text
from envdoctor.profile.validation import ProfileError


def test_a_new_profile_validates_as_it_stands() -> None:
    profile = parse_profile(
        new_profile_text("my-stack", os=OperatingSystem.MACOS, arch=Arch.ARM64, backend=Backend.MPS), "my-stack.toml"
    )

    assert (profile.name, profile.target.os, profile.target.backend) == ("my-stack", OperatingSystem.MACOS, Backend.MPS)


def test_its_first_line_is_for_editors() -> None:
    assert new_profile_text("my-stack").startswith("#:schema profile.schema.json\n")


def test_every_commented_example_is_valid() -> None:
    lines = new_profile_text("my-stack").splitlines()
    examples = [line[2:] for line in lines if line.startswith("# ") and ("=" in line or line.startswith("# [["))]
    prose = [line for line in examples if line.endswith(":") or line.startswith(("Check it", "A requirement to add"))]

    text = "\n".join([line for line in lines if not line.startswith("#")] + [e for e in examples if e not in prose])
    text = text.replace('extends = "diffrhythm2-directml"', "")
    profile = parse_profile(_in_sections(text), "my-stack.toml")

    assert len(profile.patches) == len(profile.overrides) == len(profile.placements) == 1


def _in_sections(text: str) -> str:
    """Put the commented keys of [target] where they were: they are comments about a table, not entries."""
    return "\n".join(line for line in text.splitlines() if not line.startswith(("glibc", "gpu-architectures", "   #")))


@pytest.mark.parametrize("name", ["My Stack", "", "../x", "-a"])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(ProfileError) as caught:
        new_profile_text(name)
    assert caught.value.faults[0].key_path == "profile.name"


def test_a_target_that_cannot_be_is_refused() -> None:
    with pytest.raises(ProfileError) as caught:
        new_profile_text("my-stack", os=OperatingSystem.MACOS, backend=Backend.ZLUDA)
    assert caught.value.faults[0].message == "`zluda` exists on `windows` or `linux`, not on `macos`"


def test_each_table_of_backends_knows_them_all() -> None:
    every = {backend.value for backend in Backend if backend is not Backend.UNKNOWN}
    assert {backend.value for backend in TargetBackend if backend is not TargetBackend.AUTO} == every
    assert set(consistency._SYSTEMS) == every
    (choices,) = re.findall(r"backend = .*# (.*)", new_profile_text("my-stack"))
    assert set(choices.split(" | ")) == every
    without_card_of_a_vendor = {Backend.DIRECTML, Backend.MPS, Backend.COREML, Backend.CPU, Backend.UNKNOWN}
    assert set(host_needs._VENDORS) | without_card_of_a_vendor == set(Backend)
    assert {*torch_choice._RANK, Backend.COREML, Backend.UNKNOWN} == set(Backend), "Core ML runs no torch"
