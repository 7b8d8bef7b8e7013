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
