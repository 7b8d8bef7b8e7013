"""What is prescribed for a card holds when it is followed: every card of the table, against every rule that advises."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from diagnose_fixtures import resolution_of, resolved, target_of
from packaging.version import Version

from envdoctor.diagnose.engine import examine
from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.torch_choice import advice_for_card
from envdoctor.diagnose.wheel_facts import shipped_wheel_facts
from envdoctor.model.build_label import read_label
from envdoctor.model.fact import Fact, Facts, FactState
from envdoctor.model.target import Target
from envdoctor.shipped import data_file, torch_labels

CARDS = sorted({row["architecture"] for row in data_file("gpus")["card"]} | {"gfx902", "gfx90c"})
PLACES = ["linux/x86_64", "windows/x86_64", "linux/aarch64"]
RANGE = re.compile(
    r"take torch(?:>=(?P<first>\S+)| up to (?P<last>\S+))? from the (?P<label>\S+) index(?P<on> or a newer)?"
)
WAY = re.compile(r"index \S+/whl/(?P<label>cu\d+|rocm[\d.]+) \(.*?(?:to|from) torch (?P<last>\d+\.\d+)")


def target_for(card: str, place: str) -> Target:
    return target_of(f"{place}/3.11/{'rocm' if card.startswith('gfx') else 'cuda'}", gpu=card)


def releases(label: str) -> list[Version]:
    life = torch_labels().get(label)
    minors = [Version(f"{major}.{minor}") for major, last in ((1, 13), (2, 20)) for minor in range(last + 1)]
    return [each for each in minors if life is not None and life.has(each)]


def prescribed(advice: str) -> Iterator[tuple[str, Version]]:
    """Yield each build, label and release, that a piece of advice is about."""
    if way := WAY.search(advice):
        yield way["label"], Version(way["last"])
    told = RANGE.search(advice)
    if told is None:
        return
    kind = told["label"][:2]
    least = read_label(told["label"])
    assert least is not None
    for label in [told["label"]] if not told["on"] else [each for each in torch_labels() if each[:2] == kind]:
        build = read_label(label)
        assert build is not None
        if build.release < least.release:
            continue
        for each in releases(label):
            if each >= Version(told["first"] or "0") and each <= Version(told["last"] or "99"):
                yield label, each


def without_kernels(label: str, release: Version, target: Target) -> bool:
    torch = resolved(f"torch=={release}.0+{label}")
    findings = examine(Examination(target=target, resolution=resolution_of(torch), facts=Facts()))
    return any(item.rule == "RES208" for item in findings)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("card", CARDS)
def test_what_is_advised_for_a_card_has_its_kernels(card: str, place: str) -> None:
    target = target_for(card, place)
    advice = advice_for_card(card, Examination(target=target))
    builds = list(prescribed(advice))
    assert builds or re.search(r"repo\.amd\.com|run it on the CPU|torch-directml|a build of torch with", advice)
    assert [build for build in builds if without_kernels(*build, target)] == []
    if place != "linux/x86_64":
        assert "rocm" not in {label[:4] for label, _ in builds}, "PyTorch's builds for ROCm are for Linux on x86_64"
    if passed := re.search(r"lets it pass for (gfx\w+)", advice):
        told = re.search(r"HSA_OVERRIDE_GFX_VERSION=(\d+)\.(\d+)\.(\d+)", advice)
        assert told is not None
        assert passed[1] == f"gfx{int(told[1])}{int(told[2])}{int(told[3]):x}"
        assert any(passed[1] in row.architectures for row in shipped_wheel_facts().kernels if row.package == "torch")
        assert passed[1][:-1] == card[:-1]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("card", CARDS)
@pytest.mark.parametrize("pin", ["torch==2.7.1", "torch==2.9.1"])
def test_the_remedy_of_a_build_for_another_backend_has_the_cards_kernels(card: str, place: str, pin: str) -> None:
    target = target_for(card, place)
    other = "+cu128" if card.startswith("gfx") else "+cpu"
    examination = Examination(target=target, resolution=resolution_of(resolved(f"{pin}{other}")), facts=Facts())
    (finding,) = [item for item in examine(examination) if item.rule == "RES202"]
    assert finding.remedy is not None
    advice = finding.remedy.summary
    assert "rocmX.Y" not in advice
    assert [build for build in prescribed(advice) if without_kernels(*build, target)] == []


def _summary(card: str, place: str = "linux/x86_64") -> str:
    torch = resolution_of(resolved("torch==2.7.1+cu128"))
    examination = Examination(target=target_for(card, place), resolution=torch, facts=Facts())
    (finding,) = [item for item in examine(examination) if item.rule == "RES202"]
    assert finding.remedy is not None
    return finding.remedy.summary


def test_a_card_that_pytorch_leaves_out_is_sent_to_amds_own_builds() -> None:
    for place in ("linux/x86_64", "windows/x86_64"):
        told = _summary("gfx1032", place)
        assert "`torch[device-gfx1032]>=2.12`, index https://repo.amd.com/rocm/whl-multi-arch/" in told
    assert "HSA_OVERRIDE_GFX_VERSION=10.3.0 lets it pass for gfx1030" in _summary("gfx1032")
    assert "HSA_OVERRIDE" not in _summary("gfx1032", "windows/x86_64")
    assert "HSA_OVERRIDE" not in _summary("gfx803")
    assert "run it on the CPU" in _summary("gfx803")
    assert (
        "index https://download.pytorch.org/whl/rocm7.2 (its wheels of torch 2.13 have kernels for gfx1100"
        in _summary("gfx1100")
    )


def test_a_card_that_passes_for_another_has_its_kernels() -> None:
    told = [("gpu[0].vendor", "amd"), ("gpu[0].architecture", "gfx1032")]
    hsa = ("environment.HSA_OVERRIDE_GFX_VERSION", "10.3.0")
    torch = resolution_of(resolved("torch==2.7.1+rocm6.3"))
    for rows, lacking in ((told, True), ([*told, hsa], False)):
        facts = Facts([Fact(name, FactState.KNOWN, value, "test") for name, value in rows])
        findings = examine(Examination(target=target_for("gfx1032", "linux/x86_64"), resolution=torch, facts=facts))
        assert any(item.rule == "RES208" for item in findings) is lacking
