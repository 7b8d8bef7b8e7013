"""Which torch a card gets, by the shipped tables: card, driver, system, Python and the torch that is asked for."""

from __future__ import annotations

import pytest
from packaging.specifiers import SpecifierSet

from envdoctor.diagnose.torch_choice import choose_torch
from envdoctor.diagnose.torch_ways import Card, TorchChoice, ways_of
from envdoctor.model.fact import Fact, Facts, FactState
from envdoctor.model.target import Arch, OperatingSystem, Target

WINDOWS, LINUX, MACOS = OperatingSystem.WINDOWS, OperatingSystem.LINUX, OperatingSystem.MACOS


def chosen(
    card: Card, system: OperatingSystem, python: str = "3.12", torch: str = "", arch: Arch = Arch.X86_64
) -> TorchChoice:
    major, minor = map(int, python.split("."))
    target = Target(system, arch, (major, minor))
    return TorchChoice(card, ways_of(card, target, SpecifierSet(torch)))


@pytest.mark.parametrize(
    ("card", "system", "python", "torch", "index"),
    [
        (Card("nvidia", "sm_120"), LINUX, "3.12", "", "pytorch-cu132"),
        (Card("nvidia", "sm_120"), LINUX, "3.12", "==2.7.1", "pytorch-cu128"),
        (Card("nvidia", "sm_120", cuda="12.8"), WINDOWS, "3.12", "", "pytorch-cu128"),
        (Card("nvidia", "sm_61"), WINDOWS, "3.12", "", "pytorch-cu126"),
        (Card("nvidia", "sm_70"), LINUX, "3.12", "", "pytorch-cu126"),
        (Card("nvidia", "sm_89"), LINUX, "3.10", "", "pytorch-cu130"),
        (Card("nvidia", "sm_89"), LINUX, "3.11", "==2.1.1+cu118", "pytorch-cu118"),
        (Card("amd", "gfx1100"), LINUX, "3.12", "==2.8.*", "pytorch-rocm6.4"),
        (Card("amd", "gfx1031"), LINUX, "3.12", "", "amd-rocm-multi-arch"),
        (Card("amd", "gfx1100"), WINDOWS, "3.12", "", "amd-rocm-multi-arch"),
        (Card("intel", name="Intel(R) Arc(TM) B580 Graphics"), WINDOWS, "3.12", "", "pytorch-xpu"),
        (Card(""), LINUX, "3.12", "", "pytorch-cpu"),
    ],
)
def test_the_index_of_a_card(card: Card, system: OperatingSystem, python: str, torch: str, index: str) -> None:
    taken = chosen(card, system, python, torch).taken
    assert taken is not None
    assert taken.index is not None
    assert taken.index.name == index


def test_ways_of_a_radeon_on_windows_stand_in_their_order() -> None:
    choice = chosen(Card("amd", "gfx1032", "RX 6600"), WINDOWS)
    assert [way.backend.value for way in choice.ways] == ["rocm", "directml", "zluda", "cpu"]
    assert choice.ways[0].requires == ("torch[device-gfx1032]>=2.12",)
    assert "ROCmLibs" in choice.ways[2].because
    older = chosen(Card("amd", "gfx1032", "RX 6600"), WINDOWS, torch="==2.7.1")
    assert "torch has to move: the project asks for torch==2.7.1, and this way has torch>=2.12" in older.ways[0].because
    assert "torch has to move" not in older.ways[2].because


def test_a_way_that_the_python_or_card_rules_out_says_so() -> None:
    polaris = chosen(Card("amd", "gfx803", "RX 580"), WINDOWS, "3.13")
    assert polaris.ways[0].against == "no builds are known for gfx803"
    assert polaris.ways[1].against == "for Python >=3.8,<3.13, and it is 3.13"
    assert polaris.taken is not None
    assert polaris.taken.backend.value == "zluda"


def test_a_torch_without_the_cards_kernels_has_to_move() -> None:
    taken = chosen(Card("nvidia", "sm_120"), LINUX, "3.11", "==2.1.1").taken
    assert taken is not None
    assert (
        "none of torch==2.1.1 has kernels for sm_120 and wheels for Python 3.11, from 2.7 on there are" in taken.because
    )


def test_a_card_that_came_after_all_builds_is_told_that_they_have_ptx_alone() -> None:
    later = chosen(Card("nvidia", "sm_199"), LINUX, "3.12").taken
    assert later is not None
    assert str(chosen(Card("nvidia", "sm_199"), LINUX, "3.12")).startswith("torch for sm_199: cuda")
    assert "have no kernels but PTX, which the card's driver compiles, for sm_199" in later.because
    today = chosen(Card("nvidia", "sm_120"), LINUX, "3.12").taken
    assert today is not None
    assert "have kernels for sm_120" in today.because


def test_a_driver_that_is_too_old_leaves_another_way() -> None:
    choice = chosen(Card("nvidia", "sm_110", cuda="12.6"), LINUX, arch=Arch.AARCH64)
    assert any("the driver supports CUDA 12.6" in way.against for way in choice.ways)


def test_jetson_orin_takes_the_index_of_its_jetpack() -> None:
    orin = Card("nvidia", "sm_87", "Jetson AGX Orin", jetpack="6.2")
    taken = chosen(orin, LINUX, "3.10", arch=Arch.AARCH64).taken
    assert taken is not None
    assert taken.index is not None
    assert taken.index.name == "jetson-jp6"
    newer = chosen(Card("nvidia", "sm_87", "Jetson AGX Orin", jetpack="7.2"), LINUX, "3.12", arch=Arch.AARCH64).taken
    assert newer is not None
    assert newer.index is not None
    assert newer.index.name.startswith("pytorch-cu13")


def test_in_wsl_an_old_radeon_is_not_for_rocm() -> None:
    rows = {"gpu[0].vendor": "amd", "gpu[0].architecture": "gfx1030", "host.wsl": True}
    facts = Facts(Fact(name, FactState.KNOWN, value, "test") for name, value in rows.items())
    choice = choose_torch(facts, Target(LINUX, Arch.X86_64, (3, 12)), None)
    assert choice.taken is not None
    assert choice.taken.backend.value == "cpu"


def test_the_better_of_two_cards_is_taken() -> None:
    rows = {
        "gpu[0].vendor": "intel", "gpu[0].name": "Intel UHD Graphics 770",
        "gpu[1].vendor": "nvidia", "gpu[1].compute_capability": "8.6",
    }  # fmt: skip
    facts = Facts(Fact(name, FactState.KNOWN, value, "test") for name, value in rows.items())
    choice = choose_torch(facts, Target(LINUX, Arch.X86_64, (3, 12)), None)
    assert choice.card.architecture == "sm_86"
    mac = choose_torch(Facts(), Target(MACOS, Arch.ARM64, (3, 12)), None)
    assert mac.taken is not None
    assert mac.taken.backend.value == "mps"


def test_a_way_with_an_index_of_its_own_binds_the_torch_that_it_has() -> None:
    """No other release of that index is taken: its way does not have it, or it was a prototype."""
    arc = chosen(Card("intel", name="Arc A770"), LINUX, torch="==2.5.1").taken
    assert arc is not None
    assert arc.requires == ("torch>=2.6",)
    assert "torch has to move: the project asks for torch==2.5.1, and this way has torch>=2.6" in arc.because
    orin = chosen(Card("nvidia", "sm_87", jetpack="6.2"), LINUX, "3.10", arch=Arch.AARCH64).taken
    assert orin is not None
    assert orin.requires == ("torch==2.8.*",)


def test_amds_builds_are_for_an_instinct_on_linux() -> None:
    ways = chosen(Card("amd", "gfx942"), LINUX).ways
    assert any(way.requires == ("torch[device-gfx942]>=2.12",) for way in ways)
    assert chosen(Card("amd", "gfx942"), WINDOWS).ways[0].against == "no builds are known for gfx942"


@pytest.mark.parametrize(("torch", "moves"), [("==2.4.1", False), ("==2.3.1", False), ("==2.1.2", True), ("<2", False)])
def test_each_torch_that_a_release_of_torch_directml_is_linked_against_stays(torch: str, moves: bool) -> None:
    polaris = chosen(Card("amd", "gfx803", "RX 580"), WINDOWS, "3.10", torch=torch).ways[1]
    assert polaris.requires == ("torch-directml",)
    assert ("torch has to move" in polaris.because) is moves


def test_the_driver_is_one_that_knows_the_card() -> None:
    """CUDA 12 runs on a driver of branch 525, which knows no RTX 50."""
    for card, driver in (("sm_120", "570"), ("sm_86", "525")):
        taken = chosen(Card("nvidia", card), WINDOWS, "3.11", torch="==2.7.1").taken
        assert taken is not None
        assert f"needs driver {driver} or later" in taken.because
