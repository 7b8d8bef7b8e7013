"""The card, glibc and macOS to judge for as typed."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from packaging.utils import canonicalize_name

from envdoctor.model.environment import EnvironmentKind, InstalledDistribution, InstalledEnvironment
from envdoctor.model.fact import Fact, Facts, FactState
from envdoctor.model.target import Arch, Backend, OperatingSystem, Target, TargetArch, TargetBackend
from envdoctor.ports import UsageError
from envdoctor.shipped import architecture_of_card
from envdoctor.verbs.card_choice import with_card
from envdoctor.verbs.patient import Patient
from envdoctor.verbs.target_choice import TargetChoice, fitted, host_target, pick_target

LINUX, WINDOWS = OperatingSystem.LINUX, OperatingSystem.WINDOWS


def _picked(**typed: Any) -> Target:
    return pick_target(TargetChoice(**typed), None, None)[0]


@pytest.mark.parametrize(("built", "arch"), [("64 bit (AMD64)", Arch.X86_64), ("64 bit (ARM64)", Arch.ARM64)])
def test_a_machine_with_windows_is_what_its_python_is_built_for(
    monkeypatch: pytest.MonkeyPatch, built: str, arch: Arch
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(sys, "version", f"3.12.0 (tags/v3.12.0:0fb18b0, Oct  2 2023, 13:03:39) [MSC v.1935 {built}]")
    here = host_target()
    assert (here.os, here.arch) == (WINDOWS, arch)


@pytest.mark.parametrize(
    ("gpu", "os", "architecture", "backend"),
    [
        ("RTX 5080", LINUX, "sm_120", Backend.CUDA),
        ("nvidia geforce rtx 4070", WINDOWS, "sm_89", Backend.CUDA),
        ("sm_110", LINUX, "sm_110", Backend.CUDA),
        ("12.0", LINUX, "sm_120", Backend.CUDA),
        ("RX 7900 XTX", LINUX, "gfx1100", Backend.ROCM),
        ("gfx1201", WINDOWS, "gfx1201", Backend.UNKNOWN),
        ("Arc B580", WINDOWS, None, Backend.XPU),
        ("arc b580", LINUX, None, Backend.XPU),
        ("Apple M4 Max", OperatingSystem.MACOS, None, Backend.MPS),
        ("m2", OperatingSystem.MACOS, None, Backend.MPS),
    ],
)
def test_a_card_by_name_tells_its_architecture_and_backend(
    gpu: str, os: OperatingSystem, architecture: str | None, backend: Backend
) -> None:
    target = _picked(os=os, gpu=gpu)
    assert (target.gpu_architecture, target.backend) == (architecture, backend)


def test_a_typed_backend_counts_for_more_than_the_card() -> None:
    target = _picked(os=WINDOWS, gpu="RX 6800 XT", backend=TargetBackend("zluda"))
    assert (target.gpu_architecture, target.backend) == ("gfx1030", Backend.ZLUDA)


def test_a_board_tells_the_processor() -> None:
    assert _picked(os=LINUX, gpu="NVIDIA Thor").arch.value == "aarch64"
    assert _picked(os=LINUX, gpu="NVIDIA Thor", arch=TargetArch.X86_64).arch.value == "x86_64"


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ({"gpu": "Voodoo 3"}, "--gpu: `Voodoo 3` is no card that is known by its name"),
        ({"gpu": ""}, "--gpu: `` is no card"),
        ({"gpu": "Vega 8"}, "--gpu: `Vega 8` is the name of several chips (gfx902 in a Ryzen 2000 or 3000, gfx90c in"),
        ({"glibc": "two"}, "--glibc: `two` is no release; write it as 2.28"),
        ({"glibc": "2"}, "--glibc: `2` is no release"),
        ({"macos": "sonoma"}, "--macos: `sonoma` is no release; write it as 14.0"),
        ({"os": WINDOWS, "glibc": "2.28"}, "--glibc: the target is windows"),
        ({"os": LINUX, "macos": "14"}, "--macos: the target is linux"),
        ({"os": OperatingSystem.MACOS, "gpu": "RTX 5080"}, "--gpu: `RTX 5080` is an NVIDIA card, and no macOS"),
        ({"os": LINUX, "gpu": "Apple M2"}, "--gpu: `Apple M2` is Apple's, which macOS alone drives"),
        ({"os": OperatingSystem.MACOS, "gpu": "sm_90"}, "--gpu: `sm_90` is an NVIDIA card, and no macOS"),
    ],
)
def test_what_nobody_can_judge_for_is_refused(typed: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as refused:
        _picked(**typed)
    assert str(refused.value).startswith(message)


@pytest.mark.parametrize(
    ("macos", "darwin"),
    [
        ("10.15", "19.0.0"),
        ("11", "20.1.0"),
        ("12.3", "21.4.0"),
        ("13.6", "22.6.0"),
        ("14.4", "23.4.0"),
        ("15.7", "24.6.0"),
        ("26.1", "25.1.0"),
    ],
)
def test_a_macos_tells_its_darwin_and_no_other_system_tells_its_kernel(macos: str, darwin: str) -> None:
    markers = _picked(os=OperatingSystem.MACOS, macos=macos).marker_environment()
    assert (markers["platform_release"], markers["platform_version"]) == (darwin, f"Darwin Kernel Version {darwin}")
    for other in (LINUX, OperatingSystem.WINDOWS):
        markers = _picked(os=other).marker_environment()
        assert (markers["platform_release"], markers["platform_version"]) == ("", "")


def test_glibc_and_macos_decide_which_wheels_fit() -> None:
    assert "manylinux_2_34_x86_64" in _picked(os=LINUX, arch=TargetArch.X86_64, glibc="2.34").platforms()
    assert "manylinux_2_28_x86_64" not in _picked(os=LINUX, arch=TargetArch.X86_64, glibc="2.17").platforms()
    assert "macosx_14_0_arm64" not in _picked(os=OperatingSystem.MACOS, macos="13").platforms()


def test_a_chip_of_apples_is_an_arm_processor() -> None:
    card = {"name": "Apple M2", "vendor": "apple"}
    patient = Patient(facts=Facts(Fact(f"gpu[0].{key}", FactState.KNOWN, value) for key, value in card.items()))
    choice = TargetChoice(os=OperatingSystem.MACOS, gpu="Apple M2")
    assert fitted(pick_target(choice, None, None)[0], patient, choice).arch.value == "arm64"


def test_facts_tell_the_glibc_where_nobody_types_one() -> None:
    torch = InstalledDistribution(canonicalize_name("torch"), "2.9.1")
    patient = Patient(
        environment=InstalledEnvironment((torch,), kind=EnvironmentKind.LISTING),
        facts=Facts([Fact("os", FactState.KNOWN, "linux"), Fact("host.glibc", FactState.KNOWN, "2.39")]),
    )
    assert fitted(_picked(os=LINUX), patient, TargetChoice()).glibc == (2, 39)
    typed = TargetChoice(os=LINUX, glibc="2.31")
    assert fitted(pick_target(typed, None, None)[0], patient, typed).glibc == (2, 31)


def test_the_typed_card_takes_the_place_of_those_that_were_measured() -> None:
    measured = [Fact(f"gpu[{at}].vendor", FactState.KNOWN, "nvidia", "nvml") for at in range(2)]
    facts = with_card(Facts([*measured, Fact("os", FactState.KNOWN, "linux")]), "RX 9070 XT")
    assert {fact.name: fact.value for fact in facts} == {
        "os": "linux",
        "gpu[0].name": "RX 9070 XT",
        "gpu[0].architecture": "gfx1201",
        "gpu[0].vendor": "amd",
        "gpu.count": 1,
    }
    assert with_card(facts, None) is facts


@pytest.mark.parametrize(
    ("name", "architecture"),
    [
        ("NVIDIA RTX 4000 SFF Ada Generation", "sm_89"),
        ("Quadro RTX 4000", "sm_75"),
        ("NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "sm_120"),
        ("Tesla P100-PCIE-16GB", "sm_60"),
        ("Tesla P40", "sm_61"),
        ("NVIDIA GB10", "sm_121"),
        ("AMD Radeon RX 6700 XT", "gfx1031"),
        ("AMD Radeon RX 6800M", "gfx1031"),
        ("AMD Radeon RX 6800 XT", "gfx1030"),
        ("AMD Radeon RX 7700S", "gfx1102"),
        ("W7900", "gfx1100"),
        ("Radeon PRO W6800", "gfx1030"),
        ("AMD Radeon RX 5700 XT", "gfx1010"),
        ("AMD Radeon RX 570", "gfx803"),
        ("AMD Radeon(TM) Vega 8 Graphics", None),
        ("Intel(R) UHD Graphics 770", None),
    ],
)
def test_names_of_cards(name: str, architecture: str | None) -> None:
    assert architecture_of_card(name) == architecture


@pytest.mark.parametrize(
    ("name", "architecture"),
    [("rx6600", "gfx1032"), ("RTX4070", "sm_89"), ("RX 7900 XT", "gfx1100"), ("gfx90c", "gfx90c")],
)
def test_a_card_may_be_typed_without_the_space(name: str, architecture: str) -> None:
    assert _picked(os=LINUX, gpu=name).gpu_architecture == architecture
