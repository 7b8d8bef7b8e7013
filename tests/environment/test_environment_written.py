"""Environments as people write them down by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from envdoctor.adapters.probe.host_pastes import facts_of_paste
from envdoctor.adapters.probe.listing import ListingError, read_listing
from envdoctor.cli.main import main

PLAIN = "torch: 2.6.0\ntorchvision: 0.20.1\nnumpy: 1.26.4\n"


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        "- PyTorch: 2.6.0+cu124\n- torchvision: 0.20.1+cu124\n- CUDA: 12.4\n",
        "* **PyTorch version**: `2.6.0+cu124`\n* **Torchvision**: v0.20.1\n* **ComfyUI**: 0.3.10\n",
        "Python 3.10.11\ntorch 2.6.0+cu124\ntorchvision 0.20.1+cu124\nNVIDIA GeForce RTX 4090\nWindows 11\n",
        "PyTorch = 2.6.0+cu124, torchvision = 0.20.1, Python = 3.10, Windows 11\n",
    ],
)
def test_versions_behind_a_colon_are_a_listing(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    paste = tmp_path / "paste.txt"
    paste.write_text(text, encoding="utf-8")
    assert main(["check", "--offline", "--format", "json", "--installed", str(paste)]) == 1
    assert "ADV007" in {item["rule"] for item in json.loads(capsys.readouterr().out)["findings"]}
    # Given as a project, such a file is no list of requirements, and the option for it is told.
    assert main(["check", "--offline", str(paste)]) == 2
    assert "--installed" in capsys.readouterr().err


def test_what_stands_beside_the_versions_is_read_too() -> None:
    text = (
        "## Environment\n- OS: Ubuntu 22.04 (WSL2)\n- Python version: 3.11.9\n- GPU: RTX 5090 (32 GB), driver 572.16\n"
        "- torch: 2.7.0+cu128\n- flash_attn: 2.7.4.post1\n- Driver: 572.16\n- My-Tool: 1.2.3\n"
    )
    environment = read_listing(text, "paste.txt")
    assert {item.name: item.version for item in environment.distributions} == {
        "torch": "2.7.0+cu128",
        "flash-attn": "2.7.4.post1",
    }
    assert (environment.python, environment.told.platform, environment.partial) == ((3, 11), "linux", True)
    facts = facts_of_paste(text)
    assert facts is not None
    assert facts.value("gpu[0].architecture") == "sm_120"


@pytest.mark.parametrize(
    "text",
    [
        "torch: 2.6.0\n",  # One version is no environment.
        "version: 1.0\nname: thing\nnodes: 3\n",
        "torch: 2.6.0 is needed\nI have tried it.\nIt fails.\nThen I tried numpy: 1.26.4\nNothing helped.\nWhy?\n",
    ],
)
def test_a_text_that_is_mostly_something_else_is_none(text: str) -> None:
    with pytest.raises(ListingError):
        read_listing(text, "paste.txt")


def test_a_list_that_a_tool_has_made_is_no_report_of_a_person() -> None:
    rows = "".join(f"package{number} 1.{number}\n" for number in range(40))
    text = f"Package Version\n------- -------\n{rows}nvidia-cudnn-cu12 9.10.2.21\ntorch 2.8.0\ntorchaudio 2.8.0\n"
    assert facts_of_paste(text) is None
    assert facts_of_paste("ctranslate2 4.4.0\nnvidia-cudnn-cu12 9.10.2.21\nwindows-curses 2.3.1\ntorch 2.8.0\n") is None


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("paddlepaddle-gpu==3.1.1\nCUDA 12.9\nRTX 5070 Ti\n", {"paddlepaddle-gpu"}),
        ("paddlepaddle-gpu==3.1.1\nthing==1.0\nCUDA 12.9\nRTX 5070 Ti\nWindows 11\n", {"paddlepaddle-gpu", "thing"}),
        ("Python: 3.10\nmediapipe 0.10.11\nprotobuf 4.23.2\nninja 1.11.1\n", {"mediapipe", "protobuf"}),
        ("transformers==4.38.1 huggingface-hub==0.21.3\n", {"transformers", "huggingface-hub"}),
        ("System details:\nPyTorch: 2.7.0\nPython: 3.10\nFlashAttention: 2.7.3\n", {"torch", "flash-attn"}),
    ],
)
def test_pins_among_other_words_are_read(text: str, names: set[str]) -> None:
    assert {item.name for item in read_listing(text, "paste.txt").distributions} == names


def test_conda_lists_of_old_name_what_pip_put_in() -> None:
    text = (
        "# Name                    Version                   Build  Channel\n"
        "python                    3.10.13              h955ad1f_0\nblas 1.0 mkl\n"
        "torch                     2.1.0                     <pip>\ntorchvision               0.15.2   <pip>\n"
    )
    environment = read_listing(text, "paste.txt")
    assert {item.name: item.installer for item in environment.distributions} == {"torch": "pip", "torchvision": "pip"}


@pytest.mark.parametrize(
    ("label", "backend"),
    [("+cu124", "cuda"), ("+rocm6.4", "rocm"), ("+xpu", "xpu"), ("+cpu", "unknown"), ("", "unknown")],
)
def test_the_build_of_a_listed_torch_tells_the_backend(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], label: str, backend: str
) -> None:
    (tmp_path / "paste.txt").write_text(f"torch==2.8.0{label}\nnumpy==2.1.0\n", encoding="utf-8")
    options = ["--target-os", "linux", "--target-arch", "x86_64"]
    main(["check", "--offline", "--format", "json", "--installed", str(tmp_path / "paste.txt"), *options])
    assert json.loads(capsys.readouterr().out)["target"]["backend"] == backend


@pytest.mark.parametrize(("label", "told"), [("+cu121", True), ("+cu124", True), ("+cu129", False), ("", False)])
def test_the_build_of_a_listed_torch_tells_the_processor(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], label: str, *, told: bool
) -> None:
    """ctranslate2 4.4 loads cuDNN 8 on x86_64 alone, and torch 2.5 brings cuDNN 9."""
    (tmp_path / "paste.txt").write_text(f"torch==2.5.1{label}\nctranslate2==4.4.0\n", encoding="utf-8")
    main(
        [
            "check",
            "--offline",
            "--format",
            "json",
            "--target-backend",
            "cuda",
            "--installed",
            str(tmp_path / "paste.txt"),
        ]
    )
    assert ("ADV052" in {item["rule"] for item in json.loads(capsys.readouterr().out)["findings"]}) is told
