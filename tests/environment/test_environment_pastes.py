"""Listings as people paste them: trees, excerpts, `pip show` and the like; and a bad paste beside a good one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from envdoctor.adapters.probe.host_pastes import facts_of_paste
from envdoctor.adapters.probe.listing import ListingError, read_listing
from envdoctor.cli.main import main
from envdoctor.ports import UsageError
from envdoctor.verbs.check_environment import report_of_patient
from envdoctor.verbs.index_choice import IndexChoice
from envdoctor.verbs.patient import PatientChoice, open_patient
from envdoctor.verbs.target_choice import TargetChoice

UV_TREE = """\
Resolved 5 packages in 1ms
my-app v0.1.0
├── torch[opt] v2.4.1+cu121
│   ├── filelock v3.16.1
│   └── sympy v1.13.3
└── torchaudio v2.7.0 (extra: audio)
    └── torch v2.4.1+cu121 (*)
(*) Package tree already displayed
"""
PIPDEPTREE = """\
torchaudio==2.7.0
└── torch [required: ==2.7.0, installed: 2.4.1]
    └── filelock [required: Any, installed: 3.16.1]
"""
SHOW = """\
$ pip show torch torchaudio
Name: torch
Version: 2.4.1
Location: /home/me/venv/lib/python3.11/site-packages
Requires: filelock
---
Name: torchaudio
Version: 2.7.0
Location: /home/me/venv/lib/python3.11/site-packages
"""
POETRY = """\
filelock           3.16.1 A platform independent file lock.
torch              2.4.1  Tensors and Dynamic neural networks in Python
triton         (!) 3.0.0  A language and compiler for custom operations
"""
EXPORT = """\
name: app
channels:
  - conda-forge
dependencies:
  - ca-certificates=2024.8.30=hbcca054_0
  - python=3.10.14=hd12c33a_0_cpython
  - pytorch=2.4.0=py3.10_cuda12.1_cudnn9.1.0_0
  - pip:
      - peft==0.17.0
prefix: /home/me/miniconda3/envs/app
"""
HUGGING_FACE = """\
- `Accelerate` version: 0.33.0
- Platform: Windows-10-10.0.22631-SP0
- Python version: 3.11.9
- Numpy version: 1.26.4
- PyTorch version (GPU?): 2.4.0+cpu (False)
"""
POETRY_TREE = """\
torch 2.4.1 Tensors and Dynamic neural networks in Python
├── filelock *
└── sympy *
    └── mpmath >=0.19
torchaudio 2.7.0 An audio package for PyTorch
└── torch 2.7.0
"""
BOX = """\
╭────────────┬─────────┬──────────╮
│ name       │ version │ location │
├────────────┼─────────┼──────────┤
│ torch      │ 2.4.1   │          │
│ torchaudio │ 2.7.0   │          │
╰────────────┴─────────┴──────────╯
"""
MARKDOWN = "| Package | Version |\n|---|---|\n| torch | 2.4.1 |\n| torchaudio | 2.7.0 |\n"
HASHES = "torch==2.4.1 \\\n    --hash=sha256:aa\n    # via x\ntorchaudio==2.7.0 \\\n    --hash=sha256:cc\n"
GREP = "(venv) me@box:~/app$ pip list | grep torch\ntorch                    2.4.1\ntorchaudio               2.7.0\n"


@pytest.mark.parametrize(
    ("text", "versions", "partial"),
    [
        (UV_TREE, {"my-app": "0.1.0", "torch": "2.4.1+cu121", "filelock": "3.16.1", "sympy": "1.13.3",
                   "torchaudio": "2.7.0"}, False),
        (PIPDEPTREE, {"torchaudio": "2.7.0", "torch": "2.4.1", "filelock": "3.16.1"}, False),
        (SHOW, {"torch": "2.4.1", "torchaudio": "2.7.0"}, True),
        (POETRY, {"filelock": "3.16.1", "torch": "2.4.1"}, False),
        (EXPORT, {"torch": "2.4.0", "peft": "0.17.0"}, True),
        (HUGGING_FACE, {"accelerate": "0.33.0", "numpy": "1.26.4", "torch": "2.4.0+cpu"}, True),
        (POETRY_TREE, {"torch": "2.4.1", "torchaudio": "2.7.0"}, True),
        (BOX, {"torch": "2.4.1", "torchaudio": "2.7.0"}, True),
        (MARKDOWN, {"torch": "2.4.1", "torchaudio": "2.7.0"}, True),
        (HASHES, {"torch": "2.4.1", "torchaudio": "2.7.0"}, True),
        (GREP, {"torch": "2.4.1", "torchaudio": "2.7.0"}, True),
        (
            "Successfully installed torch-2.4.1 numpy-1.26.4\n  Successfully uninstalled numpy-1.26.4\n",
            {"torch": "2.4.1"},
            True,
        ),
        ("Successfully installed torch-2.4.1+cu121 numpy-1.26.4\n", {"torch": "2.4.1+cu121", "numpy": "1.26.4"}, True),
        ("$ pip freeze | findstr onnx\nonnx==1.18.0\n", {"onnx": "1.18.0"}, True),
        ("torch==2.4.1\ntorchvision==0.19.1\n", {"torch": "2.4.1", "torchvision": "0.19.1"}, True),
        ("onnx==1.18.0\nprotobuf==5.29.0\n", {"onnx": "1.18.0", "protobuf": "5.29.0"}, False),
    ],
)  # fmt: skip
def test_a_paste_lists_what_is_installed_and_whether_it_is_all(
    text: str, versions: dict[str, str], partial: bool
) -> None:
    environment = read_listing(text, "paste.txt")
    assert {item.name: item.version for item in environment.distributions} == versions
    assert environment.partial is partial


def test_pip_show_and_exports_tell_the_python_and_the_system() -> None:
    shown, exported = read_listing(SHOW, "p"), read_listing(EXPORT, "p")
    assert (shown.python, shown.told.platform) == ((3, 11), "linux")
    assert (exported.python_full, exported.root) == ("3.10.14", "/home/me/miniconda3/envs/app")


@pytest.mark.parametrize(
    ("text", "instead"),
    [
        ("name: x\ndependencies:\n  - python>=3.10\n  - numpy\n", "checked as the project"),
        ('version = 1\n\n[[package]]\nname = "torch"\nversion = "2.4.1"\n', "a lock file"),
        ("| NVIDIA-SMI 580.95.05    Driver Version: 580.95.05    CUDA Version: 13.0 |\n", "for `--facts`"),
        ('Traceback (most recent call last):\n  File "a.py", line 1\nValueError: x\n', "for `--log`"),
    ],
)
def test_what_lists_nothing_is_refused_with_what_to_give(text: str, instead: str) -> None:
    with pytest.raises(ListingError, match=instead):
        read_listing(text, "paste.txt")


def _report(tmp_path: Path, **texts: str):
    paths = {}
    for option, text in texts.items():
        paths[option] = tmp_path / f"{option}.txt"
        paths[option].write_text(text, encoding="utf-8")
    patient = open_patient(PatientChoice(**paths))
    return report_of_patient(None, TargetChoice(), patient, IndexChoice(offline=True), tell=lambda text: None)


def test_a_bad_paste_hides_no_answer_about_another(tmp_path: Path) -> None:
    report = _report(tmp_path, installed="This is no list.\nAt all.\n", log="RuntimeError: Numpy is not available")
    assert [item.rule for item in report.findings] == ["ADV014", "LOG002"]
    assert not report.complete
    report = _report(tmp_path, facts="torch==2.4.1\n\n", installed="onnx==1.18.0\n")
    (finding,) = [item for item in report.findings if item.rule == "LOG002"]
    assert "facts.txt" in finding.subject
    assert "`--installed`" in finding.message
    assert report.verdict.value == "unknown"


def test_nothing_but_bad_pastes_is_a_fault_of_usage_with_all_of_them(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        _report(tmp_path, installed="no\nlist\n", facts="no\nfacts\n")
    assert "installed.txt" in str(caught.value)
    assert "facts.txt" in str(caught.value)


def test_what_pip_check_says_is_read_though_it_is_given_as_a_listing(tmp_path: Path) -> None:
    report = _report(tmp_path, installed="beta 1.0 requires alpha, which is not installed.\n")
    assert [(item.rule, item.subject) for item in report.findings] == [("ENV001", "beta")]


def test_collect_env_as_facts_tells_what_is_installed_too(tmp_path: Path) -> None:
    text = (
        "PyTorch version: 2.5.0+cu121\nOS: Ubuntu 22.04\nGPU models and configuration: GPU 0: NVIDIA GeForce RTX 5090\n"
    )
    report = _report(tmp_path, facts=f"{text}Versions of relevant libraries:\n[pip3] torch==2.5.0+cu121\n")
    assert any("sm_120" in item.message for item in report.findings if item.severity.value == "error")


def test_a_failure_in_a_paste_of_a_machine_or_a_listing_is_read_as_in_a_log(tmp_path: Path) -> None:
    failed = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n"
    report = _report(tmp_path, facts=failed, installed="onnx==1.18.0\n")
    assert report.verdict.value == "broken"
    issue = "PyTorch version: 2.8.0\n[pip3] torch==2.8.0\n\nRuntimeError: Numpy is not available\n"
    once = _report(tmp_path, installed=issue)
    twice = _report(tmp_path, installed=issue, log=issue)
    assert "ADV014" in [item.rule for item in once.findings]
    assert [item.rule for item in twice.findings] == [item.rule for item in once.findings]


def test_utf16_without_a_mark_is_read(tmp_path: Path) -> None:
    (tmp_path / "p.txt").write_bytes("onnx==1.18.0\r\nprotobuf==5.29.0\r\n".encode("utf-16-le"))
    patient = open_patient(PatientChoice(installed=tmp_path / "p.txt"))
    assert patient.environment is not None
    assert [item.name for item in patient.environment.distributions] == ["onnx", "protobuf"]


DETECTRON = """----------------------  --------------------------------------------------------
sys.platform            linux
Python                  3.10.12 (main, Jun 11 2023, 05:26:28) [GCC 11.4.0]
numpy                   1.26.4
detectron2              0.6 @/v/dist-packages/detectron2
Compiler                GCC 11.4
CUDA compiler           CUDA 12.1
PyTorch                 2.6.0+cu124 @/v/dist-packages/torch
GPU available           Yes
GPU 0,1                 NVIDIA GeForce RTX 5090 (arch=12.0)
torchvision             0.20.1+cu124 @/v/dist-packages/torchvision
----------------------  --------------------------------------------------------
"""
OPENMMLAB = """sys.platform: linux
Python: 3.10.18 (default, Sep 11 2023, 13:40:15) [GCC 11.2.0]
CUDA available: True
GPU 0: NVIDIA GeForce RTX 5090
PyTorch: 2.6.0+cu124
PyTorch compiling details: PyTorch built with:
  - GCC 9.3
TorchVision: 0.20.1+cu124
OpenCV: 4.8.1
MMEngine: 0.10.1
"""
ULTRALYTICS = """Ultralytics 8.3.40 \U0001f680 Python-3.10.12 torch-2.6.0+cu124 CUDA:0 (NVIDIA GeForce RTX 5090, 9MiB)
Setup complete \u2705 (16 CPUs, 62.7 GB RAM, 120.3/250.9 GB disk)

OS                  Linux-6.8.0-48-generic-x86_64-with-glibc2.35
Python              3.10.12
CPU                 AMD Ryzen 9 5950X
numpy               \u2705 1.26.4>=1.23.0
torch               \u2705 2.6.0>=1.8.0
torchvision         \u2705 0.20.1>=0.9.0
"""
LIGHTNING = """* CUDA:
\t- GPU:
\t\t- NVIDIA GeForce RTX 5090
\t- available:         True
\t- version:           12.4
* Lightning:
\t- lightning:         2.5.0
\t- torch:             2.6.0+cu124
\t- torchvision:       0.20.1+cu124
* Packages:
\t- numpy:             1.26.4
* System:
\t- OS:                Linux
\t- python:            3.10.12
"""
COMFYUI = """** Platform: Linux
** Python version: 3.10.12 (main, Jun 11 2023) [GCC 11.4.0]
Total VRAM 32109 MB, total RAM 65277 MB
pytorch version: 2.6.0+cu124
xformers version: 0.0.30
Set vram state to: NORMAL_VRAM
Device: cuda:0 NVIDIA GeForce RTX 5090 : cudaMallocAsync
"""


@pytest.mark.parametrize(
    ("paste", "pair"),
    [
        (DETECTRON, "ADV007"),
        (OPENMMLAB, "ADV007"),
        (ULTRALYTICS, "ADV007"),
        (LIGHTNING, "ADV007"),
        (COMFYUI, "ADV120"),
    ],
)
@pytest.mark.parametrize("option", ["--installed", "--facts"])
def test_what_a_program_says_of_its_environment_is_a_listing_and_facts(tmp_path, capsys, paste, pair, option):
    (tmp_path / "paste.txt").write_text(paste, encoding="utf-8")
    assert main(["check", "--offline", "--format", "json", option, str(tmp_path / "paste.txt")]) == 1
    report = json.loads(capsys.readouterr().out)
    assert {item["rule"] for item in report["findings"] if item["severity"] == "error"} == {pair, "RES208"}
    assert report["target"]["python"] == "3.10"


@pytest.mark.parametrize(
    "text",
    [
        "`torch==2.5.1`\n`numpy==2.0.1`\n",
        "- `torch==2.5.1`\n- `numpy==2.0.1`\n",
        "1. torch==2.5.1\n2. numpy==2.0.1\n",
        (
            "Package  Version  Build                 Size       Kind   Source\n"
            "pytorch  2.5.1    cuda126_mkl_py310_h1  24.1 MiB   conda  https://conda.anaconda.org/conda-forge/\n"
            "numpy    2.0.1                          16 MiB     pypi   numpy-2.0.1-cp310-manylinux_2_17_x86_64.whl\n"
        ),
    ],
)
def test_a_listing_of_markdown_s_and_of_pixi_s_is_read(text: str) -> None:
    found = read_listing(text, "paste.txt").distributions
    assert {item.name: item.version for item in found} == {"torch": "2.5.1", "numpy": "2.0.1"}


@pytest.mark.parametrize("mark", ["> ", ">", "- ", "* ", "(worker pid=17527, ip=10.0.0.26) ", "(APIServer pid=1) "])
def test_a_listing_may_be_quoted_or_listed(tmp_path, capsys, mark):
    pins = ("torch==2.6.0+cu124", "torchaudio==2.5.1+cu124", "numpy==1.26.4")
    (tmp_path / "paste.txt").write_text("".join(f"{mark}{pin}\n" for pin in pins), encoding="utf-8")
    assert main(["check", "--offline", "--format", "json", "--installed", str(tmp_path / "paste.txt")]) == 1
    assert "ADV006" in {item["rule"] for item in json.loads(capsys.readouterr().out)["findings"]}


LIGHTNING_OF_A_MAC = """* Lightning:
\t- torch:             2.6.0
\t- torchvision:       0.21.0
* System:
\t- OS:                Darwin
\t- processor:         arm
\t- python:            3.10.9
\t- release:           22.4.0
\t- version:           Darwin Kernel Version 22.4.0
"""
OLD_LIGHTNING = """* CUDA:
\t- GPU:
\t\t- Tesla V100-SXM2-32GB
\t\t- Tesla T4
* Packages:
\t- numpy:             1.19.2
\t- pyTorch_debug:     False
\t- pyTorch_version:   1.7.0
* System:
\t- OS:                Linux
\t- python:            3.8.5
"""


@pytest.mark.parametrize(
    ("paste", "versions", "told"),
    [
        (LIGHTNING_OF_A_MAC, {"torch": "2.6.0", "torchvision": "0.21.0"}, {"os": "macos", "arch": "arm64"}),
        (
            OLD_LIGHTNING,
            {"torch": "1.7.0", "numpy": "1.19.2"},
            {"gpu[0].architecture": "sm_70", "gpu[1].architecture": "sm_75"},
        ),
        (OPENMMLAB.replace("GPU 0:", "GPU 0,1:"), None, {"gpu[1].name": "NVIDIA GeForce RTX 5090", "gpu.count": 2}),
        (
            ULTRALYTICS.replace("\nSetup", "\n    CUDA:1 (Tesla T4, 15102MiB)\nSetup"),
            None,
            {"gpu[1].architecture": "sm_75", "arch": "x86_64", "host.glibc": "2.35"},
        ),
        (
            "YOLOv5 \U0001f680 v7.0-353-g5eca7b9c Python-3.11.0 torch-2.4.0+cu121 CUDA:0 (Tesla T4, 15102MiB)\n",
            {"torch": "2.4.0+cu121"},
            {"gpu[0].architecture": "sm_75", "python.version": "3.11.0"},
        ),
        (f"{COMFYUI.replace('2.6.0+cu124', '2.4.1+cu121')}\n{COMFYUI}", None, {"torch.version": "2.6.0+cu124"}),
        (f"{ULTRALYTICS.replace('2.6.0', '2.4.1')}\n{ULTRALYTICS}", None, {"torch.version": "2.6.0+cu124"}),
        (f"[START] Security scan\n[DONE] Security scan\n{COMFYUI}", None, {"torch.version": "2.6.0+cu124"}),
    ],
)
def test_a_report_is_read_whole_and_no_more_of_it(paste: str, versions, told) -> None:
    facts = facts_of_paste(paste)
    assert facts is not None
    assert {name: facts.value(name) for name in told} == told
    listed = {item.name: item.version for item in read_listing(paste, "paste.txt").distributions}
    assert listed == versions if versions else "torch" in listed


@pytest.mark.parametrize(
    ("system", "platform", "is_wsl"),
    [
        ("Microsoft Windows 11 Pro", "Windows-10-10.0.22631-SP0", None),
        ("Ubuntu 22.04.5 LTS (x86_64)", "Linux-5.15.90.1-microsoft-standard-WSL2-x86_64-with-glibc2.35", True),
    ],
)
def test_a_windows_of_its_maker_s_name_is_no_wsl(system: str, platform: str, is_wsl: bool | None) -> None:
    facts = facts_of_paste(f"PyTorch version: 2.3.1\nOS: {system}\nPython platform: {platform}\n")
    assert facts is not None
    assert facts.value("host.wsl") is is_wsl


def test_a_finished_install_of_many_is_read_to_its_end() -> None:
    put_in = " ".join(f"package{number}-1.{number}" for number in range(600))
    found = read_listing(f"Collecting package1\nSuccessfully installed {put_in}\n", "paste.txt").distributions
    assert [item.name for item in found] == [f"package{number}" for number in range(600)]
