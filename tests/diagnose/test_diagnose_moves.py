"""A remedy that moves torch moves what was built for it, or moves who asked instead."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from diagnose_fixtures import examination_of
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from envdoctor.diagnose import engine
from envdoctor.diagnose.advisories.book import shipped_advisories
from envdoctor.diagnose.advisories.log_reading import read_log
from envdoctor.diagnose.engine import examine
from envdoctor.diagnose.remedies import moved_with
from envdoctor.model.finding import Finding, Look, Severity
from envdoctor.model.unknown import SubjectKind

TRIO = (
    "Requirement already satisfied: torchaudio in ./lib ({0}+{1})\n"
    "Requirement already satisfied: torchvision in ./lib ({2}+{1})\n"
)
UNMET = "{who} requires torch{wanted}, but you have torch {there} which is incompatible.\n"
TORCH_290 = 'python -m pip install "torch==2.9.0" "torchaudio==2.9.*" "torchvision==0.24.0"'
THERE = {"torch": Version("2.9.1"), "torchaudio": Version("2.9.1"), "torchvision": Version("0.24.1")}


def _remedy(log: str):
    (finding,) = (item for item in examine(examination_of({"log": log})) if item.rule == "ENV001")
    return finding.remedy


def test_what_was_built_for_one_torch_moves_and_not_torch() -> None:
    log = TRIO.format("2.9.1", "cu130", "0.24.1") + UNMET.format(
        who="xformers 0.0.33.post1", wanted="==2.9.0", there="2.9.1+cu130"
    )
    remedy = _remedy(log)
    assert "take `xformers==0.0.33.post2`" in remedy.summary
    assert remedy.commands == (
        'python -m pip install "xformers==0.0.33.post2" --index-url https://download.pytorch.org/whl/cu130',
    )


@pytest.mark.parametrize(
    ("wanted", "label", "commands"),
    [
        (
            "==2.9.0",
            "+cu130",
            (f"{TORCH_290} --index-url https://download.pytorch.org/whl/cu130",),
        ),
        ("==2.9.0", "", (TORCH_290,)),
        # CUDA 13.0 has no such torch; which build is right, the line does not tell.
        ("==2.6.0", "+cu130", ()),
        ("<2.9", "", ()),
    ],
)
def test_torch_moves_with_its_companions(wanted: str, label: str, commands: tuple[str, ...]) -> None:
    log = TRIO.format("2.9.1", "cu130", "0.24.1").replace("+cu130", label)
    remedy = _remedy(log + UNMET.format(who="some-tts 0.1", wanted=wanted, there=f"2.9.1{label}"))
    assert f"move `torch{wanted}`, `torchaudio" in remedy.summary
    assert remedy.commands == commands


def test_where_nothing_was_built_for_it_the_package_moves_alone() -> None:
    log = TRIO.format("2.9.1", "cu130", "0.24.1")
    assert _remedy(log + "a 1 requires numpy<2, but you have numpy 2.1 which is incompatible.").commands == (
        'python -m pip install "numpy<2"',
    )


def test_a_moved_companion_takes_torch_and_the_others_along() -> None:
    moved = moved_with("torchvision", SpecifierSet("==0.21.0"), THERE)
    assert moved == {"torch": "==2.6.0", "torchaudio": "==2.6.*"}
    assert moved_with("torchvision", SpecifierSet("==0.24.1"), THERE) == {}
    assert moved_with("torch", SpecifierSet("==2.8.0"), {"torch": Version("2.9.1")}) == {}


def test_a_remedy_of_an_advisory_says_what_moves_with_what_it_asks_for() -> None:
    log = (
        "ValueError: Due to a serious vulnerability issue in `torch.load`, even with `weights_only=True`, we now"
        " require users to upgrade torch to at least v2.6 in order to use the function."
    )
    installed = ["torch==2.5.1", "torchaudio==2.5.1", "torchvision==0.20.1"]
    alone, trio = (list(read_log(examination_of({"log": log, "installed": there}))) for there in ([], installed))
    assert "must move with it" not in alone[0].remedy.summary
    assert "`torchaudio` and `torchvision` must move with it." in trio[0].remedy.summary


def test_no_shipped_remedy_moves_torch_alone() -> None:
    moves = re.compile(r"\b(?:[Tt]ake|[Pp]in|[Ii]nstall|leave) torch(?:>=|==| \d)")
    remedies = {
        (item.code, remedy.summary)
        for item in shipped_advisories().advisories
        for remedy in (item.remedy, *(case.remedy for case in item.cases))
    }
    alone = {(code, text) for code, text in remedies if moves.search(text) and "torchaudio" not in text}
    assert not alone


@pytest.mark.parametrize(("look", "told"), [(Look.INSTALLED, True), (Look.AS_RESOLVED, False)])
def test_an_unmet_demand_is_told_by_what_an_advisory_says_of_what_is_installed_alone(look: Look, *, told: bool) -> None:
    unmet = Finding("ENV001", "unmet", Severity.ERROR, "torchaudio", SubjectKind.PACKAGE, "m", packages=("torch",))
    advised = replace(unmet, rule="ADV006", packages=("torch", "torchaudio"), look=look)
    assert engine._told_better(unmet, [advised]) is told


@pytest.mark.parametrize(
    ("who", "there", "said", "commands"),
    [
        ("vllm 0.11.0", "2.9.1+rocm6.4", "take vllm's own wheels for ROCm", ()),
        ("vllm 0.11.0+rocm64", "2.9.1+rocm6.4", "from an index of torch's own", ("whl/rocm6.4",)),
        ("foo 1.0", "2.9.1+rocm6.4", "from an index of torch's own, that of the +rocm6.4 builds", ("whl/rocm6.4",)),
        ("foo 1.0", "2.9.1+rocm7.2", "from an index of torch's own with builds for the device", ()),
        ("foo 1.0", "2.9.1", "install a version that suits `foo`", ("torch==2.8.0",)),
    ],
)
def test_a_torch_for_a_device_is_not_replaced_by_one_of_the_default_index(who, there, said, commands) -> None:
    remedy = _remedy(UNMET.format(who=who, wanted="==2.8.0", there=there))
    assert said in remedy.summary
    assert len(remedy.commands) == len(commands)
    assert all(part in line for part, line in zip(commands, remedy.commands, strict=True))


def test_what_was_built_for_one_torch_each_is_taken_for_one_and_gets_no_environment_of_its_own() -> None:
    # AnimateDiff#390: no torch suits both, and each of them has a release for the torch that is there.
    told = UNMET.format(who="torchvision 0.19.1", wanted="==2.4.1", there="2.3.1+cu121")
    told += UNMET.format(who="xformers 0.0.27.post2+cu118", wanted="==2.4.0", there="2.3.1+cu121")
    found = [item.remedy for item in examine(examination_of({"log": told})) if item.rule == "ENV001"]
    assert [remedy.summary.partition(",")[0] for remedy in found] == [
        "take `torchvision==0.18.1`",
        "take `xformers==0.0.27`",
    ]


@pytest.mark.parametrize(
    ("who", "there", "kept"),
    [
        ("torchvision 0.20.0", "2.5.0a0+872d972e41.nv24.8", True),  # ultralytics#22069, a Jetson Orin
        ("torchcodec 0.1", "2.5.0a0+872d972e41.nv24.8", True),
        ("torchvision 0.20.0", "2.5.1+cu124", False),
        ("torchvision 0.20.0", "2.5.1+cpu", False),
        ("torchvision 0.12.0", "1.10.0+cu111", False),
    ],
)
def test_a_torch_that_no_index_of_its_own_has_is_kept(who: str, there: str, kept: bool) -> None:
    remedy = _remedy(UNMET.format(who=who, wanted="==2.5.0", there=there))
    assert remedy.summary.startswith("keep `torch`") is kept
    assert not (kept and remedy.commands)


def test_it_is_kept_too_where_no_torch_suits_all() -> None:
    there = "2.8.0a0+34c6371d24.nv25.8"
    told = UNMET.format(who="torchvision 0.22.0", wanted="==2.7.0", there=there)
    told += UNMET.format(who="torchaudio 2.7.1", wanted="==2.7.1", there=there)
    found = [item.remedy for item in examine(examination_of({"log": told})) if item.rule == "ENV001"]
    assert len(found) == 2
    assert all(remedy.summary.startswith("keep `torch`") and not remedy.commands for remedy in found)


@pytest.mark.parametrize(
    ("who", "there", "said", "commands"),
    [
        (
            "torchvision 0.22.0",
            "2.8.0+cpu",
            "take `torchvision==0.23.0`, which was built for `torch` 2.8.0, from the index with +cpu builds",
            ('python -m pip install "torchvision==0.23.0" --index-url https://download.pytorch.org/whl/cpu',),
        ),
        # It has none for the CPU there.
        ("xformers 0.0.30", "2.8.0+cpu", "the +cpu index is not known to have them", ()),
        # ROCm 6.4 has no such torch: the build is somebody's own.
        ("torchvision 0.22.0", "2.13.0+rocm6.4", "the +rocm6.4 index is not known to have them", ()),
    ],
)
def test_an_index_is_named_where_it_has_what_is_to_be_taken(who, there, said, commands) -> None:
    remedy = _remedy(UNMET.format(who=who, wanted="==2.7.0", there=there))
    assert said in remedy.summary
    assert remedy.commands == commands
    assert "`torch`  would" not in remedy.summary


PUT_IN = "Successfully installed torch-2.9.1 torchvision-0.24.1\n"
TRADED = "torchaudio 2.10.0+cu130 requires torch==2.10.0, but you have torch 2.9.1 which is incompatible.\n"


@pytest.mark.parametrize(
    ("log", "commands"),
    [
        (
            f"{TRADED}{UNMET.format(who='xformers 0.0.35', wanted='>=2.10', there='2.9.1')}{PUT_IN}",
            'python -m pip install "torch==2.10.0" "torchvision==0.25.0" --index-url https://download.pytorch.org/whl/cu130',
        ),
        (TRADED, 'python -m pip install "torch==2.10.0" --index-url https://download.pytorch.org/whl/cu130'),
        # Nobody else's label says where a torch of the default index was to come from.
        (TRADED.replace("+cu130", ""), 'python -m pip install "torch==2.10.0"'),
        (
            TRADED.replace("+cu130", "") + "Requirement already satisfied: torchvision in ./lib (0.24.1+cu128)\n",
            'python -m pip install "torchaudio==2.9.*"',
        ),
    ],
)
def test_a_torch_that_a_list_traded_for_the_default_index_s_is_put_back(log: str, commands: str) -> None:
    # ComfyUI-1hewNodes#3: pip took the CPU's build in place of that for CUDA, and its companions were to follow it.
    found = [item.remedy for item in examine(examination_of({"log": log})) if item.rule == "ENV001"]
    assert found
    assert {remedy.commands for remedy in found} == {(commands,)}


@pytest.mark.parametrize(
    ("listing", "said"),
    [
        ("torch==2.9.1 torchvision==0.18.1+cu121", "take torch ==2.3.1 again"),
        ("torch==2.9.1 torchaudio==2.3.1+cu121", "take torch ==2.3.* again"),
        ("torch==2.9.1 xformers==0.0.27+cu118", "take torch ==2.3.1 again"),
        ("torch==2.9.1 torchvision==0.18.1", "take torchvision ==0.24.1"),
        ("torch==2.9.1+cu128 torchvision==0.18.1+cu121", "take torchvision ==0.24.1"),
    ],
)
def test_a_listing_of_a_torch_that_was_traded_is_told_the_same(listing: str, said: str) -> None:
    found = examine(examination_of({"installed": listing.split()}))
    assert [said in item.remedy.summary for item in found if item.rule in ("ADV006", "ADV007", "ADV120")] == [True]


@pytest.mark.parametrize(
    ("other", "label"),
    [("intel-extension-for-pytorch in ./lib (2.7.10+xpu)", "xpu"), ("dgl in ./lib (2.2.1)", "cu118")],
)
def test_no_command_takes_from_an_index_of_torchs_what_is_not_there(other: str, label: str) -> None:
    wanted, there = ("==2.8.0", "2.7.1") if label == "xpu" else ("==2.0.1", "2.3.0")
    log = f"Requirement already satisfied: {other}\n"
    remedy = _remedy(log + UNMET.format(who="some-tts 0.1", wanted=wanted, there=f"{there}+{label}"))
    assert not any(other.partition(" ")[0] in line for line in remedy.commands)
