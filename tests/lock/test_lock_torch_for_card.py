"""`--target-backend auto`: the index with the card's builds is bound, and the lock names it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from lock_index import LoopbackIndex

from envdoctor.cli.main import main
from envdoctor.lock.pylock_reader import parse_lock
from envdoctor.model.fact import Fact, Facts, FactState
from envdoctor.model.target import Arch, OperatingSystem, Target
from envdoctor.toml_tables import read_toml

WINDOWS = Target(OperatingSystem.WINDOWS, Arch.X86_64, (3, 12))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "requirements.txt").write_text("torch\nalpha\n", encoding="utf-8")
    return folder


@pytest.fixture
def amd(monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackIndex]:
    """A small copy of AMD's index: torch brings the card's kernels by an extra."""
    made = LoopbackIndex()
    monkeypatch.setenv("ENVDOCTOR_INDEX_AMD_ROCM_MULTI_ARCH", made.url)
    about = (
        "Metadata-Version: 2.1\nName: torch\nVersion: 2.14.0+rocm10.1.0\nProvides-Extra: device-gfx1100\n"
        'Requires-Dist: amd-torch-device-gfx1100==2.14.0+rocm10.1.0 ; extra == "device-gfx1100"\nRequires-Dist: rocm\n'
    )
    made.wheel("torch", "2.14.0+rocm10.1.0", tag="cp312-cp312-win_amd64", metadata=about)
    made.wheel("amd-torch-device-gfx1100".replace("-", "_"), "2.14.0+rocm10.1.0", tag="py3-none-win_amd64")
    made.pages["amd-torch-device-gfx1100"] = made.pages.pop("amd_torch_device_gfx1100")
    made.wheel("rocm", "10.1.0")
    yield made
    made.close()


def test_an_amd_card_on_windows_is_locked_from_amds_index(
    index: LoopbackIndex, amd: LoopbackIndex, project: Path
) -> None:
    index.wheel("torch", "2.15.0", tag="cp312-cp312-win_amd64")
    index.wheel("rocm", "99.0")  # What stands there under that name is not AMD's.
    typed = ["--gpu", "RX 7900 XT", "--target-os", "windows", "--target-python", "3.12", "--target-backend", "auto"]
    assert main(["lock", str(project), *typed]) == 0
    packages = {item["name"]: item for item in read_toml((project / "pylock.toml").read_text("utf-8"))["packages"]}
    assert packages["torch"]["version"] == "2.14.0+rocm10.1.0"
    assert packages["rocm"]["version"] == "10.1.0"
    assert "amd-torch-device-gfx1100" in packages
    assert packages["torch"]["index"] == "https://repo.amd.com/rocm/whl-multi-arch/"
    assert packages["alpha"]["version"] == "2.0"


def test_where_the_index_is_out_of_reach_nothing_stands_in_for_it(
    index: LoopbackIndex, project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    index.wheel("torch", "2.15.0", tag="cp312-cp312-win_amd64")
    monkeypatch.setenv("ENVDOCTOR_INDEX_AMD_ROCM_MULTI_ARCH", "http://127.0.0.1:9/simple/")
    monkeypatch.setenv("ENVDOCTOR_INDEX_TIMEOUT", "2")
    typed = ["--gpu", "gfx1100", "--target-os", "windows", "--target-python", "3.12", "--target-backend", "auto"]
    assert main(["check", str(project), *typed, "--format", "json"]) == 3
    report = json.loads(capsys.readouterr().out)
    (told,) = [item for item in report["findings"] if item["rule"] == "RES209"]
    assert "repo.amd.com/rocm/whl-multi-arch" in told["message"]
    assert "torch-directml" in told["remedy"]["summary"]
    # The default index's torch is looked at in its place, which has no extras for AMD's cards.
    assert "RES012" not in {item["rule"] for item in report["findings"]}
    assert main(["lock", str(project), *typed]) == 3
    assert not (project / "pylock.toml").exists()


def test_the_card_and_driver_of_facts_choose_the_label(
    index: LoopbackIndex,
    project: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    index.wheel("torch", "2.15.0", tag="cp311-cp311-win_amd64")
    pytorch = LoopbackIndex()
    pytorch.wheel("torch", "2.14.1+cu126", tag="cp311-cp311-win_amd64")
    monkeypatch.setenv("ENVDOCTOR_INDEX_PYTORCH_CU126", pytorch.url)
    facts = tmp_path / "facts.json"
    card = {"name": "NVIDIA GeForce RTX 4070", "vendor": "nvidia", "compute_capability": "8.9"}
    facts.write_text(json.dumps({"gpu": [card], "driver.cuda": "12.4", "os": "windows"}), encoding="utf-8")
    typed = ["--facts", str(facts), "--target-python", "3.11", "--target-backend", "auto"]
    (project / "requirements.txt").write_text("torch\nalpha==1.0\nalpha==2.0\n", encoding="utf-8")
    main(["check", str(project), *typed])
    assert f"--target-backend auto --facts {facts}" in capsys.readouterr().out
    (project / "requirements.txt").write_text("torch\nalpha\n", encoding="utf-8")
    assert main(["lock", str(project), *typed]) == 0
    packages = {item["name"]: item for item in read_toml((project / "pylock.toml").read_text("utf-8"))["packages"]}
    assert packages["torch"]["version"] == "2.14.1+cu126"
    assert packages["torch"]["index"] == "https://download.pytorch.org/whl/cu126"
    pytorch.close()


def test_a_profile_on_amds_index_takes_the_kernels_of_the_card_that_is_named(
    index: LoopbackIndex, amd: LoopbackIndex, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    index.wheel("rocm", "99.0")
    typed = [str(project), "--profile", "comfyui-rocm-windows", "--target-python", "3.12"]
    assert main(["lock", *typed, "--gpu", "RX 7900 XT"]) == 0
    lock = read_toml((project / "pylock.comfyui-rocm-windows.toml").read_text("utf-8"))
    names = {item["name"]: item["version"] for item in lock["packages"]}
    assert names["amd-torch-device-gfx1100"] == names["torch"] == "2.14.0+rocm10.1.0"
    capsys.readouterr()
    assert main(["check", *typed, "--format", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    (told,) = [item for item in report["findings"] if item["rule"] == "RES209"]
    assert "comes without kernels" in told["message"]


def test_a_profile_on_amds_index_that_names_one_card_takes_its_kernels(
    index: LoopbackIndex, amd: LoopbackIndex, project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    index.wheel("rocm", "99.0")
    typed = ["--project", str(project), "--gpu", "RX 7900 XT", "--target-os", "windows", "--target-python", "3.12"]
    profile = tmp_path / "mine.toml"
    assert main(["profiles", "new", "mine", *typed]) == 0
    profile.write_text(capsys.readouterr().out, encoding="utf-8")
    assert main(["lock", str(project), "--profile", str(profile)]) == 0
    lock = read_toml((project / "pylock.mine.toml").read_text("utf-8"))
    assert "amd-torch-device-gfx1100" in {item["name"] for item in lock["packages"]}


def test_where_the_profile_is_for_this_system_the_card_is_measured(
    index: LoopbackIndex, amd: LoopbackIndex, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = {"vendor": "amd", "architecture": "gfx1100"}
    measured = Facts(Fact(f"gpu[0].{key}", FactState.KNOWN, value, "test") for key, value in card.items())
    monkeypatch.setattr("envdoctor.adapters.probe.host_facts.probe_host", lambda **_: measured)
    monkeypatch.setattr("envdoctor.verbs.automatic_backend.host_target", lambda: WINDOWS)
    assert main(["lock", str(project), "--profile", "comfyui-rocm-windows", "--target-python", "3.12"]) == 0
    lock = read_toml((project / "pylock.comfyui-rocm-windows.toml").read_text("utf-8"))
    assert "amd-torch-device-gfx1100" in {item["name"] for item in lock["packages"]}


def test_the_builds_of_torch_directml_that_declare_no_torch_are_held_to_theirs(
    index: LoopbackIndex, project: Path
) -> None:
    """An RX 580 has no builds for ROCm; beside a newer torch, the oldest torch-directml would not load."""

    def wheel(name: str, version: str, *asks: str) -> None:
        lines = [f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: {version}"]
        lines += [f"Requires-Dist: {text}" for text in asks]
        index.wheel(name, version, tag="cp310-cp310-win_amd64", metadata="\n".join(lines) + "\n")

    for release in ("2.14.1", "2.4.1"):
        wheel("torch", release)
    wheel("torchvision", "0.29.2", "torch>=2.14.0")
    wheel("torchvision", "0.19.1", "torch==2.4.1")
    wheel("torch_directml", "0.2.5.dev240914", "torch==2.4.1", "torchvision==0.19.1")
    wheel("torch_directml", "0.1.13.dev221216")
    index.pages["torch-directml"] = index.pages.pop("torch_directml")
    (project / "requirements.txt").write_text("torch\ntorchvision\n", encoding="utf-8")
    typed = ["--gpu", "RX 580", "--target-os", "windows", "--target-python", "3.10", "--target-backend", "auto"]
    assert main(["lock", str(project), *typed]) == 0
    packages = {item["name"]: item for item in read_toml((project / "pylock.toml").read_text("utf-8"))["packages"]}
    assert packages["torch-directml"]["version"] == "0.2.5.dev240914"
    assert packages["torch"]["version"] == "2.4.1"


@pytest.mark.parametrize("lines", ["torch==2.5.1\n", "torch==2.5.1\ntorchaudio==2.5.1\n", "delta\n"])
def test_a_torch_that_the_way_does_not_have_is_not_taken_from_its_index(
    index: LoopbackIndex, project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], lines: str
) -> None:
    """The builds for Intel's cards begin with torch 2.6: those of 2.5 in the index were a prototype."""
    pytorch = LoopbackIndex()
    monkeypatch.setenv("ENVDOCTOR_INDEX_PYTORCH_XPU", pytorch.url)
    for release in ("2.5.1", "2.6.0"):
        for name in ("torch", "torchaudio"):
            pytorch.wheel(name, f"{release}+xpu", tag="cp312-cp312-win_amd64")
    about = "Metadata-Version: 2.1\nName: delta\nVersion: {}\nRequires-Dist: torch{}\n"
    index.wheel("delta", "2.0", metadata=about.format("2.0", "==2.5.1"))
    index.wheel("delta", "1.0", metadata=about.format("1.0", ""))
    (project / "requirements.txt").write_text(lines, encoding="utf-8")
    typed = ["--gpu", "Arc A770", "--target-os", "windows", "--target-python", "3.12", "--target-backend", "auto"]
    main(["check", str(project), *typed, "--format", "json"])
    report = json.loads(capsys.readouterr().out)
    versions = {item["name"]: item["version"] for item in report["resolution"]["packages"]}
    assert versions["torch"] == "2.6.0+xpu"
    assert bool(report["conflicts"]) is lines.startswith("torch")
    # What the card can run is no demand that a repair sets aside, though one line less would move.
    assert ">=2.6" not in json.dumps(report["repairs"])
    pytorch.close()


def test_what_nobody_knows_an_index_to_have_is_not_said_to_be_there(
    index: LoopbackIndex, project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for release in ("2.4.1", "2.5.1", "2.6.0"):
        index.wheel("torch", release, tag="cp312-cp312-win_amd64")
    monkeypatch.setenv("ENVDOCTOR_INDEX_PYTORCH_XPU", "http://127.0.0.1:9/simple/")
    monkeypatch.setenv("ENVDOCTOR_INDEX_TIMEOUT", "2")
    (project / "requirements.txt").write_text("torch==2.4.1\n", encoding="utf-8")
    typed = ["--gpu", "Arc A770", "--target-os", "windows", "--target-python", "3.12", "--target-backend", "auto"]
    main(["check", str(project), *typed, "--format", "json"])
    (conflict,) = json.loads(capsys.readouterr().out)["conflicts"]
    assert conflict["clash"]["available"] == ["2.6.0+xpu"]


def test_what_the_card_chose_is_kept_by_the_lock_for_those_who_check_and_lock_again(
    index: LoopbackIndex, amd: LoopbackIndex, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    index.wheel("torch", "2.15.0", tag="cp312-cp312-win_amd64")
    plain = ["--target-os", "windows", "--target-python", "3.12"]
    assert main(["lock", str(project), *plain, "--gpu", "RX 7900 XT", "--target-backend", "auto"]) == 0
    written = (project / "pylock.toml").read_text("utf-8")
    capsys.readouterr()
    assert main(["lock", str(project), *plain, "--check"]) == 0
    assert "repo.amd.com/rocm/whl-multi-arch/, as pylock.toml was made" in capsys.readouterr().err
    assert main(["lock", str(project), *plain]) == 0
    assert (project / "pylock.toml").read_text("utf-8") == written
    capsys.readouterr()
    main(["check", str(project), *plain, "--format", "json"])
    report = json.loads(capsys.readouterr().out)
    versions = {item["name"]: item["version"] for item in report["resolution"]["packages"]}
    assert versions["torch"] == versions["amd-torch-device-gfx1100"] == "2.14.0+rocm10.1.0"
    assert "pylock.toml" in {row["from"] for row in report["scope"]["index"] if "repo.amd.com" in row["url"]}


@pytest.mark.parametrize(
    "otherwise",
    [["--target-backend", "cuda"], ["--gpu", "RTX 4090"], ["--target-os", "linux"], ["--target-backend", "cpu"]],
)
def test_the_lock_of_one_vendors_cards_names_no_index_for_another(
    index: LoopbackIndex, amd: LoopbackIndex, project: Path, capsys: pytest.CaptureFixture[str], otherwise: list[str]
) -> None:
    index.wheel("torch", "2.15.0", tag="cp312-cp312-win_amd64")
    index.wheel("torch", "2.15.0", tag="cp312-cp312-manylinux_2_28_x86_64")
    plain = ["--target-os", "windows", "--target-python", "3.12"]
    assert main(["lock", str(project), *plain, "--gpu", "RX 7900 XT", "--target-backend", "auto"]) == 0
    capsys.readouterr()
    main(["check", str(project), *plain, *otherwise, "--format", "json"])
    packages = json.loads(capsys.readouterr().out)["resolution"]["packages"]
    assert {item["version"] for item in packages if item["name"] == "torch"} == {"2.15.0"}


@pytest.mark.parametrize(
    "row",
    [
        'url = "https://index.example/"',
        'name = "x"\nurl = "file:///etc"\npackages = ["torch"]',
        'name = "x"\nurl = "https://index.example/"\npackages = "torch"',
        'requires = ["torch =="]',
        "requires = 1",
        'requires = ["torch==1", 2]',
    ],
)
def test_what_cannot_be_read_of_the_index_that_a_lock_keeps_is_passed_over(row: str) -> None:
    text = f'lock-version = "1.0"\ncreated-by = "x"\npackages = []\n[tool.envdoctor.way]\n{row}\n'
    assert parse_lock(text, "pylock.toml").way is None
