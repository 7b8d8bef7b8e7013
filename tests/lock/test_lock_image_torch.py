"""The torch that the image of a Dockerfile has is what an installer leaves in place, and what is judged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from lock_index import LoopbackIndex
from lock_profile import profile_text

from envdoctor.cli.main import main
from envdoctor.model.target import Arch, OperatingSystem, Target

HERE = Target(os=OperatingSystem.LINUX, arch=Arch.X86_64, python=(3, 12))
OFFICIAL = "pytorch/pytorch:2.3.1-cuda12.1-cudnn8-runtime"
NVIDIA = "nvcr.io/nvidia/pytorch:24.05-py3"


@pytest.fixture(autouse=True)
def _on_linux(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("envdoctor.verbs.target_choice.host_target", lambda: HERE)


@pytest.fixture
def torches(index: LoopbackIndex) -> LoopbackIndex:
    for torch, vision in (("2.0.1", "0.15.2"), ("2.3.1", "0.18.1"), ("2.4.0", "0.19.0"), ("2.9.1", "0.24.1")):
        index.wheel("torch", torch, tag="cp310-cp310-manylinux1_x86_64" if torch == "2.3.1" else "py3-none-any")
        index.wheel("torchvision", vision, (f"torch=={torch}",))
        index.wheel("torchaudio", torch, (f"torch=={torch}",))
    index.wheel("leaf", "1.0", ("torch>=2.0",))
    return index


def check(capsys: pytest.CaptureFixture[str], project: Path, image: str, lines: str, *options: str) -> dict[str, Any]:
    (project / "requirements.txt").write_text(lines, encoding="utf-8")
    (project / "Dockerfile").write_text(f"FROM {image}\nRUN pip install -r requirements.txt\n", encoding="utf-8")
    capsys.readouterr()
    code = main(["check", str(project / "Dockerfile"), *options, "--format", "json"])
    said = capsys.readouterr()
    return {**json.loads(said.out), "code": code, "said": said.err}


def chosen(report: dict[str, Any]) -> dict[str, str]:
    packages = (report["resolution"] or {"packages": []})["packages"]
    return {item["name"]: item["version"] for item in packages}


def found(report: dict[str, Any], rule: str) -> list[dict[str, Any]]:
    return [item for item in report["findings"] if item["rule"] == rule]


@pytest.mark.parametrize("lines", ["torch\n", "leaf\n", "torchvision\ntorch\n", "torchaudio\ntorchvision\nleaf\n"])
def test_what_the_image_has_stays(
    capsys: pytest.CaptureFixture[str], project: Path, torches: LoopbackIndex, lines: str
) -> None:
    report = check(capsys, project, OFFICIAL, lines)
    assert report["target"]["python"] == "3.10"
    assert "taking torch 2.3.1 of the image" in report["said"]
    assert chosen(report)["torch"] == "2.3.1"
    assert chosen(report).get("torchvision", "0.18.1") == "0.18.1"
    assert (report["code"], report["complete"]) == (0, True)
    assert not found(report, "RES104"), "an image's torch was walked back from nothing"
    assert not found(report, "RES213")


def test_what_does_not_say_for_which_torch_it_was_built_replaces_none(
    capsys: pytest.CaptureFixture[str], project: Path, torches: LoopbackIndex
) -> None:
    text = f"FROM {OFFICIAL}\nRUN pip install --no-deps torchvision==0.15.2\n"
    (project / "Dockerfile").write_text(text, encoding="utf-8")
    main(["check", str(project / "Dockerfile"), "--format", "json"])
    (finding,) = found(json.loads(capsys.readouterr().out), "RES213")
    assert finding["severity"] == "warning"
    assert "`torchvision` is for `torch==2.0.1`, and pip is not told so: it leaves the 2.3.1" in finding["message"]


def test_another_build_of_that_cuda_is_judged_by_the_image_s_own(
    capsys: pytest.CaptureFixture[str], project: Path, torches: LoopbackIndex
) -> None:
    torches.wheel("torch", "2.7.1", tag="cp311-cp311-manylinux1_x86_64")
    image = "pytorch/pytorch:2.7.1-cuda12.8-cudnn9-runtime"
    report = check(capsys, project, image, "torch\n", "--target-backend", "cuda", "--gpu", "RTX 5080")
    assert chosen(report)["torch"] == "2.7.1"
    assert not found(report, "RES208"), "cu128 has kernels for the card, and cu126 of the default index has none"
    report = check(capsys, project, "pytorch/pytorch:2.7.1-cuda12.6-cudnn9-runtime", "torch\n", "--gpu", "RTX 5080")
    assert found(report, "RES208")


@pytest.mark.parametrize(("lines", "numpy"), [("leaf\nnumpy\n", "1.26.4"), ("leaf\nnumpy>=2\n", "2.2.6")])
def test_the_numpy_of_an_image_stays_too(
    capsys: pytest.CaptureFixture[str], project: Path, torches: LoopbackIndex, lines: str, numpy: str
) -> None:
    torches.wheel("torch", "2.2.1")
    for version in ("1.26.4", "2.0.0rc1", "2.2.6"):
        torches.wheel("numpy", version)
    report = check(capsys, project, "pytorch/pytorch:2.2.1-cuda12.1-cudnn8-runtime", lines)
    assert chosen(report)["numpy"] == numpy
    assert bool(found(report, "RES205")) is (numpy == "2.2.6"), "an image's torch was called broken for another numpy"
    assert not found(report, "RES104")


def test_a_numpy_that_no_index_has_for_the_target_is_no_unknown(
    capsys: pytest.CaptureFixture[str], project: Path, torches: LoopbackIndex
) -> None:
    torches.wheel("numpy", "2.2.6")
    report = check(capsys, project, OFFICIAL, "numpy\n")
    assert (report["code"], chosen(report)) == (0, {"numpy": "2.2.6"})


@pytest.mark.parametrize(("rule", "options"), [("RES202", ("rocm",)), ("RES208", ("cuda", "--gpu", "RTX 5080"))])
def test_a_build_of_the_image_goes_by_itself_for_none_of_its_version(
    capsys: pytest.CaptureFixture[str], project: Path, torches: LoopbackIndex, rule: str, options: tuple[str, ...]
) -> None:
    report = check(capsys, project, OFFICIAL, "torch\n", "--target-backend", *options)
    (told,) = found(report, rule)
    assert told["remedy"]["summary"].endswith(
        f"; pip leaves the torch 2.3.1 of the image `{OFFICIAL}` where a line admits it: uninstall it first, or take "
        "another image"
    )
    report = check(capsys, project, OFFICIAL, "torch==2.0.1\n", "--target-backend", *options)
    assert not any("uninstall it first" in item["remedy"]["summary"] for item in found(report, rule))


def test_a_file_with_the_image_s_own_label_is_taken(
    capsys: pytest.CaptureFixture[str], project: Path, torches: LoopbackIndex
) -> None:
    torches.wheel("torch", "2.3.1+cu118")
    report = check(capsys, project, "pytorch/pytorch:2.3.1-cuda11.8-cudnn8-runtime", "leaf\n")
    assert chosen(report)["torch"] == "2.3.1+cu118"
    assert not found(report, "RES213")


def test_what_replaces_it_is_told(capsys: pytest.CaptureFixture[str], project: Path, torches: LoopbackIndex) -> None:
    report = check(capsys, project, OFFICIAL, "leaf\ntorchvision==0.15.2\n")
    assert chosen(report)["torch"] == "2.0.1"
    (told,) = found(report, "RES213")
    assert told["severity"] == "warning"
    assert told["message"] == (
        "`torch` 2.0.1, for CUDA 11.7, replaces the 2.3.1 for CUDA 12.1 that the image "
        f"`{OFFICIAL}` has; its `torchaudio` 2.3.1 stays, built for that one"
    )
    assert (told["location"]["path"], told["location"]["line"]) == ("requirements.txt", 2)


@pytest.mark.parametrize(
    ("command", "severity", "staying"),
    [
        ("pip install -U torch", "warning", "its `torchvision` 0.18.1 and `torchaudio` 2.3.1 stay,"),
        ("pip uninstall -y torch && pip install torch==2.4.0", "warning", "and `torchaudio` 2.3.1 stay,"),
        ("pip install -U torch torchaudio", "warning", "its `torchvision` 0.18.1 stays,"),
        ("pip install -U torch torchvision", "info", "its `torchaudio` 2.3.1 stays,"),
        ("pip uninstall -y torch torchvision && pip install torch==2.4.0", "info", "its `torchaudio` 2.3.1 stays,"),
        ("pip uninstall -y torch torchvision torchaudio && pip install torch==2.4.0", "", ""),
        ("pip install -U torch torchvision torchaudio", "", ""),
        ("pip install -U torch==2.3.1", "", ""),
    ],
)
def test_what_stays_behind_a_torch_taken_anew_is_told(
    capsys: pytest.CaptureFixture[str], project: Path, torches: LoopbackIndex, command: str, severity: str, staying: str
) -> None:
    (project / "Dockerfile").write_text(f"FROM {OFFICIAL}\nRUN {command}\n", encoding="utf-8")
    main(["check", str(project / "Dockerfile"), "--target-python", "3.10", "--format", "json"])
    findings = found(json.loads(capsys.readouterr().out), "RES213")
    assert [item["severity"] for item in findings] == [severity] * bool(severity)
    assert all(staying in item["message"] for item in findings)


@pytest.mark.parametrize(
    ("more", "severity"),
    [("torchvision\ntorchaudio\n", "info"), ("torchvision\n", "info"), ("torchaudio\n", "warning")],
)
def test_what_was_built_for_the_image_s_own_fails_where_it_stays(
    capsys: pytest.CaptureFixture[str], project: Path, torches: LoopbackIndex, more: str, severity: str
) -> None:
    report = check(capsys, project, OFFICIAL, f"torch>=2.4,<2.5\n{more}")
    there = {"torch": "2.4.0", "torchvision": "0.19.0", "torchaudio": "2.4.0"}
    assert chosen(report) == {name: version for name, version in there.items() if name in f"torch\n{more}".split()}
    assert [item["severity"] for item in found(report, "RES213")] == [severity]


@pytest.mark.parametrize(
    ("image", "lines"),
    [
        (NVIDIA, "leaf\n"),
        (NVIDIA, "torch>=2.0\ntorchvision\n"),
        ("rocm/pytorch:rocm6.2_ubuntu22.04_py3.10_pytorch_release_2.3.0", "torch==2.3.1\n"),
        ("pytorch/pytorch:2.3.1-cuda11.8-cudnn8-runtime", "leaf\n"),
        ("pytorch/pytorch:2.5.1-cuda12.4-cudnn9-runtime", "leaf\n"),
    ],
)
def test_a_build_that_no_index_has_is_not_known(
    capsys: pytest.CaptureFixture[str], project: Path, torches: LoopbackIndex, image: str, lines: str
) -> None:
    report = check(capsys, project, image, lines)
    assert "torch" not in chosen(report)
    assert (report["code"], report["complete"], report["conflicts"]) == (3, False, [])
    told = [item["message"] for item in found(report, "RES107")]
    assert told[0] == (
        f"could not be checked: `torch`: the image `{image}` (Dockerfile:1) has it already, in a build that its tag "
        "does not tell, or that the index does not have"
    )
    assert {item["rule"] for item in report["findings"]} == {"RES107"}


@pytest.mark.parametrize("image", [NVIDIA, "nvcr.io/nvidia/l4t-pytorch:r35.2.0.1-pth2.1-py3", "rocm/pytorch:rocm6.2.0"])
@pytest.mark.parametrize("lines", ["torch==2.0.1\n", "torch==2.0.1\ntorchvision\n"])
def test_a_pin_to_another_release_is_what_is_installed(
    capsys: pytest.CaptureFixture[str], project: Path, torches: LoopbackIndex, image: str, lines: str
) -> None:
    report = check(capsys, project, image, lines, "--target-python", "3.10")
    assert chosen(report)["torch"] == "2.0.1"
    assert (report["code"], report["complete"]) == (0, True)


def test_lines_that_no_torch_meets_are_a_conflict_all_the_same(
    capsys: pytest.CaptureFixture[str], project: Path, torches: LoopbackIndex
) -> None:
    report = check(capsys, project, OFFICIAL, "torch==2.9.1\ntorchvision==0.15.2\n")
    assert [item["clash"]["package"] for item in report["conflicts"]] == ["torch"]


def test_where_nobody_asks_for_torch_nothing_is_said_of_it(
    capsys: pytest.CaptureFixture[str], project: Path, torches: LoopbackIndex
) -> None:
    report = check(capsys, project, NVIDIA, "alpha\n")
    assert (report["code"], report["complete"]) == (0, True)


def test_of_what_is_not_known_no_lock_is_written(
    capsys: pytest.CaptureFixture[str], project: Path, torches: LoopbackIndex
) -> None:
    check(capsys, project, NVIDIA, "leaf\n")
    assert main(["lock", str(project / "Dockerfile")]) == 3
    assert "`torch` cannot be locked: the image `nvcr.io" in " ".join(capsys.readouterr().err.split())
    check(capsys, project, OFFICIAL, "leaf\n")
    assert main(["lock", str(project / "Dockerfile")]) == 0
    assert 'version = "2.3.1"' in (project / "pylock.toml").read_text(encoding="utf-8")


def test_imports_that_an_image_with_torch_may_give_are_not_called_missing(
    capsys: pytest.CaptureFixture[str], project: Path, torches: LoopbackIndex
) -> None:
    (project / "app.py").write_text("import torch\nimport numpy\n", encoding="utf-8")
    (project / "requirements.txt").unlink()
    for image, missing in ((OFFICIAL, False), ("python:3.10", True)):
        (project / "Dockerfile").write_text(f"FROM {image}\nRUN pip install alpha\n", encoding="utf-8")
        capsys.readouterr()
        main(["check", str(project), "--format", "json"])
        told = found(json.loads(capsys.readouterr().out), "SRC001")
        assert bool(told) is missing


def test_a_library_that_a_line_names_moves_no_torch_of_conda_s(
    capsys: pytest.CaptureFixture[str], project: Path, torches: LoopbackIndex
) -> None:
    for version in ("8.9.2.26", "8.9.7.29"):
        torches.wheel("nvidia_cudnn_cu12", version)
    torches.pages["nvidia-cudnn-cu12"] = torches.pages.pop("nvidia_cudnn_cu12")
    torches.wheel("torch", "2.2.1", ("nvidia-cudnn-cu12==8.9.2.26",))
    image = "pytorch/pytorch:2.2.1-cuda12.1-cudnn8-runtime"
    report = check(capsys, project, image, "leaf\nnvidia-cudnn-cu12==8.9.7.29\n")
    assert chosen(report) == {"leaf": "1.0", "nvidia-cudnn-cu12": "8.9.7.29", "torch": "2.2.1"}
    assert chosen(check(capsys, project, image, "leaf\n"))["nvidia-cudnn-cu12"] == "8.9.2.26"


def test_a_profile_chooses_torch_anew(
    capsys: pytest.CaptureFixture[str], project: Path, torches: LoopbackIndex, tmp_path: Path
) -> None:
    profile = tmp_path / "here.toml"
    profile.write_text(profile_text(python="==3.10.*"), encoding="utf-8")
    for image in (OFFICIAL, NVIDIA):
        report = check(capsys, project, image, "torch\n", "--profile", str(profile))
        assert chosen(report)["torch"] == "2.9.1"
        assert "of the image" not in report["said"]
