"""Which shipped profile is taken for a project where nobody names one."""

from __future__ import annotations

from pathlib import Path

import pytest

from envdoctor.adapters.project import read_project
from envdoctor.model.fact import Fact, Facts, FactState
from envdoctor.model.target import OperatingSystem
from envdoctor.verbs.card_choice import card_facts
from envdoctor.verbs.patient import Patient
from envdoctor.verbs.project_inputs import recognised_profile
from envdoctor.verbs.target_choice import TargetChoice

KEYS = ("vendor", "name")


def _patient(**facts: object) -> Patient:
    known = [Fact(name, FactState.KNOWN, value, "test") for name, value in facts.items()]
    return Patient(environment=None, facts=Facts(known))


@pytest.mark.parametrize(
    ("typed", "system", "taken"),
    [
        (None, None, "kokoro-coreml"),
        (None, "macos", "kokoro-coreml"),
        (None, "linux", None),
        (OperatingSystem.LINUX, None, None),
        # What is typed counts for more than where the environment lies.
        (OperatingSystem.MACOS, "linux", "kokoro-coreml"),
    ],
)
def test_a_profile_for_another_system_than_the_environments_is_not_taken(
    tmp_path: Path, typed: OperatingSystem | None, system: str | None, taken: str | None
) -> None:
    (tmp_path / "requirements.txt").write_text("kokoro==0.9.4\nmisaki\n", encoding="utf-8")
    patient = _patient(os=system) if system is not None else None
    found = recognised_profile(
        tmp_path, read_project(tmp_path), TargetChoice(os=typed), patient, tell=lambda text: None
    )
    assert (found.name if found is not None else None) == taken


@pytest.mark.parametrize(
    ("lines", "taken"),
    [
        # Two of six packages, each in many a project: no mark of a stack for one board.
        ("openai-whisper\nspaces\nonnxruntime-gpu\n", None),
        # Half of them are those of another program for speech, which has a copy of MaskGCT's sources.
        ("openai-whisper\ndescript-audiotools\ng2p-en\n", None),
        ("openai-whisper\nspaces\nlangsegment\ng2p-en\n", "amphion-cuda13-aarch64"),
        ("hyperpyyaml\nonnxslim\n", None),
    ],
)
def test_a_small_part_of_a_stacks_packages_is_not_that_stack(tmp_path: Path, lines: str, taken: str | None) -> None:
    (tmp_path / "requirements.txt").write_text(lines, encoding="utf-8")
    found = recognised_profile(
        tmp_path, read_project(tmp_path), TargetChoice(), Patient(facts=Facts()), tell=lambda text: None
    )
    assert (found.name if found is not None else None) == taken


@pytest.mark.parametrize(
    ("cards", "taken"),
    [
        ([], True),
        ([("amd", "AMD Radeon RX 7900 XTX")], True),
        ([("nvidia", "NVIDIA GeForce RTX 4070")], False),
        ([("intel", "Intel(R) UHD Graphics 770"), ("amd", "AMD Radeon RX 6600")], True),
    ],
)
def test_a_card_of_another_maker_stops_a_profile(tmp_path: Path, cards: list[tuple[str, str]], taken: bool) -> None:
    (tmp_path / "requirements.txt").write_text("coqui-tts\nsilero-tts\nfaster-whisper\n", encoding="utf-8")
    facts = {f"gpu[{at}].{key}": value for at, card in enumerate(cards) for key, value in zip(KEYS, card, strict=True)}
    said: list[str] = []
    found = recognised_profile(
        tmp_path, read_project(tmp_path), TargetChoice(os=OperatingSystem.WINDOWS), _patient(**facts), tell=said.append
    )
    assert (found is not None) is taken
    if not taken:
        assert said == ["not taking profile `xtts-zluda`: it is for zluda, and the card is NVIDIA GeForce RTX 4070"]


@pytest.mark.parametrize(
    ("lines", "typed", "taken", "said"),
    [
        ("muq\npedalboard\ntorch-directml\n", None, "diffrhythm2-directml", "taking profile `diffrhythm2-directml`"),
        (
            "muq\npedalboard\ntorch-directml\n",
            OperatingSystem.LINUX,
            None,
            "not taking profile `diffrhythm2-cpu`: the project asks for `torch-directml`, which belongs",
        ),
        ("muq\ntorch-directml\n", OperatingSystem.LINUX, None, ""),
        ("torch-directml\n", None, None, ""),
        (
            "muq\npedalboard\ntorch-directml ; sys_platform == 'win32'\n",
            OperatingSystem.LINUX,
            "diffrhythm2-cpu",
            "taking profile `diffrhythm2-cpu`",
        ),
        (
            "muq\npedalboard\ntorch-directml ; sys_platform == 'win32'\n",
            OperatingSystem.WINDOWS,
            "diffrhythm2-directml",
            "taking profile `diffrhythm2-directml`",
        ),
        ("muq\npedalboard\ninflect\n", OperatingSystem.LINUX, "diffrhythm2-cpu", "taking profile `diffrhythm2-cpu`"),
    ],
)
def test_of_one_stacks_profiles_that_is_meant_whose_package_the_project_asks_for(
    tmp_path: Path, lines: str, typed: OperatingSystem | None, taken: str | None, said: str
) -> None:
    (tmp_path / "requirements.txt").write_text(lines, encoding="utf-8")
    told: list[str] = []
    found = recognised_profile(
        tmp_path, read_project(tmp_path), TargetChoice(os=typed), Patient(facts=Facts()), tell=told.append
    )
    assert (found.name if found is not None else None) == taken
    assert len(told) == bool(said)
    assert "".join(told).startswith(said)


def test_what_the_project_around_a_checkout_asks_for_chooses_the_profile(tmp_path: Path) -> None:
    for name in ("diffrhythm2/cfm.py", "g2p/g2p_generation.py", "requirements.txt"):
        (tmp_path / "models" / "source" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "models" / "source" / name).write_text("", encoding="utf-8")
    (tmp_path / "requirements.txt").write_text("torch-directml\n", encoding="utf-8")
    told: list[str] = []
    for typed, taken in ((None, "diffrhythm2-directml"), (OperatingSystem.LINUX, None)):
        found = recognised_profile(
            tmp_path, read_project(tmp_path), TargetChoice(os=typed), Patient(facts=Facts()), tell=told.append
        )
        assert (found.name if found is not None else None) == taken
    assert told[1].startswith("not taking profile `diffrhythm2-cpu`: the project asks for `torch-directml`")


@pytest.mark.parametrize(
    ("gpu", "taken"),
    [
        (None, "diffrhythm2-cpu"),
        ("RX 7900 XTX", "diffrhythm2-rocm"),
        ("gfx1100", "diffrhythm2-rocm"),
        ("RTX 5080", None),
    ],
)
def test_a_card_that_is_typed_is_not_left_unused(tmp_path: Path, gpu: str | None, taken: str | None) -> None:
    (tmp_path / "requirements.txt").write_text("muq\npedalboard\n", encoding="utf-8")
    said: list[str] = []
    found = recognised_profile(
        tmp_path,
        read_project(tmp_path),
        TargetChoice(os=OperatingSystem.LINUX, gpu=gpu),
        Patient(facts=Facts(card_facts(gpu))),
        tell=said.append,
    )
    assert (found.name if found is not None else None) == taken
    assert len(said) == 1
    if taken is None:
        assert said == ["not taking profile `diffrhythm2-cpu`: it is for cpu, and `--gpu` names a card"]
