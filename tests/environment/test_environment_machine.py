"""A listing with the facts of its machine: what fits the card and the driver, and what nobody told. Through the CLI."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from envdoctor.cli.main import main

LAPTOP = {"os": "linux", "gpu": [{"name": "RTX 4090", "vendor": "nvidia", "compute_capability": "8.9"}]}
RADEON = {"os": "linux", "gpu": [{"name": "RX 9070", "vendor": "amd", "architecture": "gfx1201"}]}
GRAPHICS = {"os": "linux", "gpu": [{"name": "Raphael", "vendor": "amd", "architecture": "gfx1036"}]}
SPARK = {"os": "linux", "gpu": [{"name": "NVIDIA GB10", "vendor": "nvidia", "compute_capability": "12.1"}]}
BOTH = {"os": "linux", "gpu": [*LAPTOP["gpu"], *GRAPHICS["gpu"]]}  # type: ignore[misc]


@pytest.mark.parametrize("with_project", [False, True])
@pytest.mark.parametrize(
    ("facts", "more", "open_"),
    [
        (None, (), {"the Python version", "the operating system"}),
        (None, ("--target-os", "linux"), {"the Python version"}),
        (None, ("--target-python", "3.11"), {"the operating system"}),
        (None, ("--target-os", "linux", "--target-python", "3.11"), set()),
        ({"os": "linux", "python": "3.11.4"}, (), set()),
    ],
)
def test_what_options_or_facts_tell_is_no_open_question(tmp_path, capsys, with_project, facts, more, open_):
    (tmp_path / "installed.txt").write_text("numpy==1.26.4\n", encoding="utf-8")
    arguments = ["--offline", "--format", "json", "--installed", str(tmp_path / "installed.txt"), *more]
    if facts is not None:
        (tmp_path / "facts.json").write_text(json.dumps(facts), encoding="utf-8")
        arguments += ["--facts", str(tmp_path / "facts.json")]
    if with_project:
        (tmp_path / "project").mkdir()
        (tmp_path / "project" / "requirements.txt").write_text("", encoding="utf-8")
        arguments.append(str(tmp_path / "project"))
    main(["check", *arguments])
    (note,) = [item for item in json.loads(capsys.readouterr().out)["findings"] if item["rule"] == "ENV011"]
    assert {text for text in ("the Python version", "the operating system") if text in note["message"]} == open_
    assert "which files its distributions own" in note["message"]


@pytest.fixture
def by_mail(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    def check(listing: str, facts: object = None, *more: str) -> list[tuple[str, str, str]]:
        (tmp_path / "installed.txt").write_text(listing, encoding="utf-8")
        arguments = ["check", "--offline", "--format", "json", "--installed", str(tmp_path / "installed.txt"), *more]
        if facts is not None:
            (tmp_path / "facts.json").write_text(json.dumps(facts), encoding="utf-8")
            arguments += ["--facts", str(tmp_path / "facts.json")]
        assert main(arguments) in (0, 1)
        report = json.loads(capsys.readouterr().out)
        return [
            (item["severity"], item["rule"], item["subject"]) for item in report["findings"] if item["rule"] != "ENV011"
        ]

    return check


@pytest.mark.parametrize(
    ("listing", "facts", "found"),
    [
        ("torch==2.6.0+cpu\n", LAPTOP, ("warning", "GPU102", "torch")),
        ("torch==2.9.1\n", SPARK, ("error", "ADV002", "torch")),
        ("torch==2.6.0\n", {**LAPTOP, "os": "windows"}, ("error", "ADV001", "torch")),
        ("torch==2.6.0+cu124\n", RADEON, ("warning", "GPU102", "torch")),
        ("torch==2.6.0+cu124\n", GRAPHICS, ("info", "GPU102", "torch")),
        # No build of PyTorch's own is for the card, and AMD's are: still a card that would stay idle.
        ("torch==2.7.1+cu128\n", {"gpu": [{"name": "RX 6700 XT", "vendor": "amd"}]}, ("warning", "GPU102", "torch")),
        ("torch==2.6.0+rocm6.2.4\n", LAPTOP, ("warning", "GPU102", "torch")),
        ("torch==2.5.1+rocm6.2\n", RADEON, ("error", "RES208", "torch")),
        ("torch==2.6.0+cu124\n", SPARK, ("error", "RES208", "torch")),
    ],
)
def test_a_build_for_another_device_is_named(by_mail, listing, facts, found):
    told = by_mail(listing, facts)
    assert found in told
    assert len(told) == 1


@pytest.mark.parametrize(
    ("listing", "facts", "more"),
    [
        ("torch==2.6.0+cu124\n", LAPTOP, ()),
        ("torch==2.7.0+rocm6.3\n", RADEON, ()),
        ("torch==2.6.0+cpu\n", LAPTOP, ("--target-backend", "cpu")),
        ("torch==2.4.1+cpu\ntorch-directml==0.2.5.dev240914\n", {**RADEON, "os": "windows"}, ()),
        ("torch==2.3.1+cu118\n", {**RADEON, "os": "windows", "zluda": {"libraries": ["nvcuda.dll"]}}, ()),
        ("torch==2.6.0+cpu\n", {"os": "linux", "gpu": {"count": 0}}, ()),
        ("torch==2.6.0+rocm6.2.4\n", {**RADEON, "environment": {"HSA_OVERRIDE_GFX_VERSION": "11.0.0"}}, ()),
    ],
)
def test_a_build_that_suits_the_machine_or_was_asked_for_is_passed_over(by_mail, listing, facts, more):
    assert [item for item in by_mail(listing, facts, *more) if item[1] in ("GPU102", "RES208")] == []


@pytest.mark.parametrize("gpu", ["RX 6700 XT", "Radeon 610M"])
def test_a_card_that_a_person_names_is_no_note(by_mail, gpu):
    assert by_mail("torch==2.7.1+cu128\n", None, "--gpu", gpu) == [("warning", "GPU102", "torch")]


def test_a_second_card_that_cannot_run_the_build_is_a_note(by_mail):
    assert by_mail("torch==2.6.0+cu124\n", BOTH) == []
    old = {"os": "linux", "gpu": [*LAPTOP["gpu"], {"vendor": "nvidia", "compute_capability": "3.0"}]}
    assert by_mail("torch==2.6.0+cu124\n", old) == [("info", "RES208", "torch")]


def test_the_cuda_runtime_beside_torch_tells_its_build(by_mail):
    listing = "torch==2.6.0\nnvidia-cuda-runtime-cu12==12.4.127\n"
    facts = {"gpu": [{"vendor": "nvidia", "compute_capability": "12.0"}]}
    assert ("error", "RES208", "torch") in by_mail(listing, facts)


def test_the_python_of_an_environment_elsewhere_is_not_this_one(by_mail):
    assert by_mail("fairseq==0.12.2\n") == []
    assert by_mail("fairseq==0.12.2\n", None, "--target-python", "3.11") == [("error", "ADV027", "fairseq")]


def test_the_system_of_an_environment_elsewhere_is_not_this_one(by_mail):
    # The default index's torch is for the CPU on Windows and on aarch64, and for CUDA 12.1 on Linux elsewhere.
    driver = {"driver": {"version": "470.0"}, "arch": "x86_64"}
    assert by_mail("torch==2.4.1\n", driver) == []
    assert ("error", "ADV056", "driver") in by_mail("torch==2.4.1\n", {"os": "linux", **driver})
    assert ("error", "ADV056", "driver") in by_mail("torch==2.4.1\ntriton==3.0.0\n", driver)
    assert by_mail("torch==2.4.1\npywin32==308\n", driver) == []


def test_rocm_cards_of_collect_env_are_read(by_mail):
    text = (
        "PyTorch version: 2.5.1+rocm6.2\nOS: Ubuntu 24.04 LTS (x86_64)\n"
        "GPU models and configuration: AMD Radeon RX 9070 XT (gfx1201)\nNvidia driver version: Could not collect\n"
        "[pip3] torch==2.5.1+rocm6.2\n"
    )
    assert by_mail(text) == [("error", "RES208", "torch")]


def test_facts_that_speak_of_torch_stand_for_an_environment_with_it(tmp_path, capsys):
    card = {"name": "NVIDIA GeForce RTX 5080"}
    facts = {"os": "windows", "python": "3.10", "gpu": [card], "driver": "580.97", "torch": {"version": "2.6.0+cu124"}}
    (tmp_path / "facts.json").write_text(json.dumps(facts), encoding="utf-8")
    assert main(["check", "--facts", str(tmp_path / "facts.json"), "--format", "json"]) == 1
    report = json.loads(capsys.readouterr().out)
    (finding,) = report["findings"]
    assert (finding["rule"], report["target"]["os"], report["target"]["python"]) == ("RES208", "windows", "3.10")
    assert finding["remedy"]["summary"].startswith("take torch>=2.7 from the cu128 index or a newer one, and the torch")


@pytest.mark.parametrize(
    ("torch", "facts", "fires"),
    [
        ("2.6.0+cu124", {"torch": {"is_available": False}}, True),
        ("2.6.0+cu124", {"torch": {"is_available": True}}, False),
        ("2.6.0+cpu", {"torch": {"is_available": False}}, False),
        ("2.11.0+cu130", {"torch": {"is_available": False}, "driver": "550.54"}, False),
    ],
)
def test_a_torch_that_sees_no_card_where_nothing_else_explains_it(by_mail, torch, facts, fires):
    found = by_mail(f"torch=={torch}\n", {**LAPTOP, **facts})
    assert (("warning", "GPU103", "torch") in found) is fires


def test_what_a_choice_of_distributions_leaves_out_is_not_absent(by_mail):
    whole = "faster-whisper==1.0.3\nctranslate2==4.4.0\n"
    assert ("error", "ADV112", "faster-whisper") in by_mail(whole)
    assert by_mail("PyTorch version: N/A\n[pip3] faster-whisper==1.0.3\n") == []


@pytest.mark.parametrize(
    ("facts", "more", "kept"),
    [
        (LAPTOP, (), "onnxruntime-gpu"),
        (None, ("--target-os", "windows", "--target-backend", "directml"), "onnxruntime-directml"),
        (None, ("--target-backend", "cpu"), "onnxruntime"),
        (None, (), "THE-ONE-TO-KEEP"),
    ],
)
def test_which_onnxruntime_to_keep_follows_from_the_backend(tmp_path, capsys, facts, more, kept):
    (tmp_path / "installed.txt").write_text("onnxruntime==1.20.1\nonnxruntime-gpu==1.20.1\n", encoding="utf-8")
    arguments = ["check", "--offline", "--format", "json", "--installed", str(tmp_path / "installed.txt"), *more]
    if facts is not None:
        (tmp_path / "facts.json").write_text(json.dumps(facts), encoding="utf-8")
        arguments += ["--facts", str(tmp_path / "facts.json")]
    assert main(arguments) == 1
    findings = json.loads(capsys.readouterr().out)["findings"]
    (finding,) = [item for item in findings if item["rule"] == "ENV005"]
    assert finding["remedy"]["commands"][1].endswith(f" {kept}")


@pytest.mark.parametrize(
    ("listing", "rule", "remedy", "never"),
    [
        # NVIDIA's build for Jetson and AMD's are on no index of PyTorch's: torch stays, the companion moves.
        (
            "torch==2.9.1+rocm7.2.1.lw.gitff65f5bc\ntorchvision==0.24.1\n",
            "ABI008",
            "keep `torch` 2.9.1+rocm7.2.1",
            "index with",
        ),
        ("torch==2.9.1+rocm6.4\ntorchvision==0.24.1\n", "ABI008", "index with +rocm6.4 builds", "keep"),
        ("torch==2.8.0+cpu\ntorchvision==0.23.0\n", "ABI008", "index with +cpu builds", "keep"),
    ],
)
def test_a_torch_that_is_on_no_index_of_pytorchs_is_kept(tmp_path, capsys, listing, rule, remedy, never):
    (tmp_path / "installed.txt").write_text(listing, encoding="utf-8")
    main(
        [
            "check",
            "--offline",
            "--format",
            "json",
            "--installed",
            str(tmp_path / "installed.txt"),
            "--target-os",
            "linux",
            "--target-arch",
            "x86_64",
        ]
    )
    (told,) = [item for item in json.loads(capsys.readouterr().out)["findings"] if item["rule"] == rule]
    assert remedy in told["remedy"]["summary"]
    assert never not in told["remedy"]["summary"]


@pytest.mark.parametrize(
    ("pins", "remedy"),
    [
        # Of three that belong together one is of another CUDA: that one goes, whichever index it is from.
        (
            "torch==2.5.1+cu124\ntorchvision==0.20.1+cu124\ntorchaudio==2.5.1+cu121",
            "install `torchaudio` from the index with +cu124 builds",
        ),
        (
            "torch==2.5.1\ntorchvision==0.20.1\ntorchaudio==2.5.1+cu121",
            "install `torchaudio` from the index with +cu124 builds",
        ),
        # A list that names torch had pip put the default index's in the place of the others' own.
        ("torch==2.5.1\ntorchaudio==2.5.1+cu121", "install `torch` 2.5.1 from the index with +cu121 builds"),
        # A torch of conda's has its companions from conda, too.
        (
            (
                "# packages in environment at /c/envs/t:\npytorch 2.3.1 py3.10_cuda12.1_cudnn8_0 pytorch\n"
                "torchvision 0.18.1+cu118 pypi_0 pypi"
            ),
            "uninstall pip's `torchvision`, and ask conda for",
        ),
        (
            (
                "# packages in environment at /c/envs/t:\npytorch 2.3.1 py3.10_cuda12.1_cudnn8_0 pytorch\n"
                "torchvision 0.18.1 py310_cpu pytorch"
            ),
            "ask conda for the `torchvision` that goes with its torch",
        ),
        # There is no torch 2.5.1 for CUDA 11.6: of two releases neither is to be had as the other is.
        ("torch==2.5.1+cu124\ntorchaudio==0.13.1+cu116", "install `torch` and `torchaudio` of one release"),
    ],
)
def test_the_build_that_stands_alone_is_the_one_to_replace(tmp_path, capsys, pins, remedy):
    numpy = "numpy 2.1.2 py310_0 defaults" if pins.startswith("#") else "numpy==2.1.2"
    (tmp_path / "installed.txt").write_text(f"{pins}\n{numpy}\n", encoding="utf-8")
    options = ("--target-os", "linux", "--target-arch", "x86_64", "--target-backend", "cuda")
    main(["check", "--offline", "--format", "json", "--installed", str(tmp_path / "installed.txt"), *options])
    told = [item for item in json.loads(capsys.readouterr().out)["findings"] if item["rule"] == "ABI008"]
    assert [item["remedy"]["summary"][: len(remedy)] for item in told] == [remedy]


_CONDA_ROWS = "# packages in environment at /c/envs/t:\nnumpy  1.26.4  py310hb13e2d6_0  conda-forge\n"
_COLLECTED = """PyTorch version: 2.3.1
CUDA used to build PyTorch: 12.1
OS: Microsoft Windows 11 Pro
Python platform: Windows-10-10.0.22631-SP0
Is CUDA available: True
GPU models and configuration: GPU 0: NVIDIA GeForce RTX 4070
[pip3] torch==2.3.1
[pip3] torchvision==0.18.1
[conda] pytorch  2.3.1  py3.10_cuda12.1_cudnn8_0  pytorch
[conda] torchvision  0.18.1  py310_cu121  pytorch
"""
_EXPORTED = """name: t
dependencies:
  - python=3.10.14=he1021f5_1
  - pytorch=2.3.1=py3.10_cuda12.1_cudnn8_0
  - torchvision=0.18.1=py310_cu121
  - pip:
    - diffusers==0.29.0
prefix: C:\\c\\envs\\t
"""
_FROZEN = "certifi @ file:///b/certifi_1707229248467/work/certifi\ntorch==2.2.2\ntorchvision==0.17.2\n"
WINDOWS_CUDA = ("--target-os", "windows", "--target-arch", "x86_64", "--target-backend", "cuda")
LINUX_CUDA = ("--target-os", "linux", "--target-arch", "x86_64", "--target-backend", "cuda")


@pytest.mark.parametrize(
    ("listing", "options", "told"),
    [
        # What conda built is no wheel of the default index, which for Windows has torch for the CPU alone.
        (_COLLECTED, (), set()),
        (_COLLECTED.replace("PyTorch: 12.1", "PyTorch: Could not collect").replace("True", "False"), (), set()),
        (_EXPORTED, WINDOWS_CUDA, set()),
        (_FROZEN, WINDOWS_CUDA, set()),
        (_FROZEN.replace("/b/certifi_", "/b/rattler-build_certifi_").replace("248467/", "248/"), WINDOWS_CUDA, set()),
        (_FROZEN.replace("/b/certifi_1707229248467/work", "/b/certifi/work"), WINDOWS_CUDA, {"ADV001"}),
        # A label is of no build of conda's, whatever else is.
        (_FROZEN.replace("torch==2.2.2", "torch==2.2.1+cu121"), LINUX_CUDA, {"ADV007"}),
        (f"{_CONDA_ROWS}torch  2.5.1  pypi_0  pypi\n", WINDOWS_CUDA, {"ADV001"}),
        (f"{_CONDA_ROWS}pytorch  2.3.1  py3.10_cuda12.1_cudnn8.9.2_0  pytorch\n", LINUX_CUDA, set()),
        (f"{_CONDA_ROWS}pytorch  2.3.1  py3.10_cpu_0  pytorch\n", LINUX_CUDA, {"RES202"}),
        (f"{_CONDA_ROWS}pytorch  2.5.1  cpu_generic_py312_hbc5b47c_12  conda-forge\n", LINUX_CUDA, {"RES202"}),
        (
            f"{_CONDA_ROWS}pytorch  2.3.1  py3.10_cuda12.1_cudnn8.9.2_0  pytorch\n",
            (*LINUX_CUDA, "--gpu", "RTX 5090"),
            {"RES208"},
        ),
        # ComfyUI runs with pip's torchvision for the CPU beside conda's torch.
        (
            f"{_CONDA_ROWS}pytorch  2.4.1  py3.12_cuda12.4_cudnn9_0  pytorch\ntorchvision  0.19.1  pypi_0  pypi\n",
            WINDOWS_CUDA,
            set(),
        ),
        # conda-forge holds torch and torchvision together by their series.
        (
            (
                f"{_CONDA_ROWS}pytorch  2.7.1  cuda129_mkl_py312_h4edc8c8_304  conda-forge\n"
                "torchvision  0.22.0  cuda126_py312_h2cb9a9b_0  conda-forge\n"
            ),
            LINUX_CUDA,
            set(),
        ),
        (
            (
                f"{_CONDA_ROWS}pytorch  2.7.1  cuda129_mkl_py312_h4edc8c8_304  conda-forge\n"
                "torchvision  0.21.0  cuda126_py312_h2cb9a9b_0  conda-forge\n"
            ),
            LINUX_CUDA,
            {"ADV007"},
        ),
    ],
)
def test_what_conda_built_is_judged_by_its_build(tmp_path, capsys, listing, options, told):
    (tmp_path / "installed.txt").write_text(listing, encoding="utf-8")
    main(["check", "--offline", "--format", "json", "--installed", str(tmp_path / "installed.txt"), *options])
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert {item["rule"] for item in findings if item["severity"] == "error"} == told


@pytest.mark.parametrize(
    ("pins", "options", "rows"),
    [
        # On Windows it is for the CPU, on Linux for CUDA 12.4: whichever it is, torchaudio was built for neither.
        ("torch==2.5.1\ntorchaudio==2.5.1+cu121", (), ["warning"]),
        ("torch==2.5.1\ntorchvision==0.20.1+cu121", (), []),
        ("torch==2.5.1\ntorchvision==0.20.1+cu121", ("--target-os", "windows"), ["warning"]),
        ("torch==2.9.1\ntorchvision==0.24.1+rocm6.4", (), ["warning"]),
        ("torch==2.8.0\ntorchvision==0.23.0+xpu", ("--target-os", "linux"), ["warning"]),
        # The CUDA runtime beside it tells which CUDA it is for.
        ("torch==2.5.1\ntorchaudio==2.5.1+cu121\nnvidia-cuda-runtime-cu12==12.4.127", (), ["error"]),
        ("torch==2.5.1\ntorchaudio==2.5.1+cu124\nnvidia-cuda-runtime-cu12==12.4.127", (), []),
        (f"{_FROZEN}torchaudio==2.2.2+cu121", ("--target-os", "windows"), []),
    ],
)
def test_a_torch_of_the_default_index_beside_a_labelled_companion_was_exchanged(tmp_path, capsys, pins, options, rows):
    (tmp_path / "installed.txt").write_text(f"{pins}\nnumpy==2.1.2\n", encoding="utf-8")
    arch = ("--target-arch", "x86_64")
    main(["check", "--offline", "--format", "json", "--installed", str(tmp_path / "installed.txt"), *arch, *options])
    told = [item for item in json.loads(capsys.readouterr().out)["findings"] if item["rule"] == "ABI008"]
    assert [item["severity"] for item in told] == rows
    labels = [pin.partition("+")[2] for pin in pins.splitlines() if "+" in pin]
    assert all(f"install `torch` {item['message'].split('`torch` ')[1].split()[0]} from the index with "
               f"+{labels[0]} builds" in item["remedy"]["summary"] for item in told)  # fmt: skip


@pytest.mark.parametrize(
    ("listing", "subjects"),
    [
        ("numpy==2.0.1\npandas==2.1.4\nscipy==1.11.4\nscikit-learn==1.3.2\n", {"pandas", "scipy", "scikit-learn"}),
        ("numpy==2.0.1\npandas==2.2.2\nscipy==1.13.0\nopencv-python==4.10.0.84\n", set()),
        ("numpy==1.26.4\npandas==2.1.4\n", set()),
        ("numpy==2.0.1\nopencv-python==4.9.0.80\nonnxruntime==1.17.1\n", {"opencv-python", "onnxruntime"}),
        # Of builds of others nothing is known: conda's, and those with a label.
        (f"{_CONDA_ROWS.replace('1.26.4', '2.0.1')}pandas  2.1.4  py310hcc13569_0  conda-forge\n", set()),
        ("numpy==2.0.1\nscipy==1.11.4+mkl\n", set()),
        # Up to 2.11 TensorFlow's own metadata says nothing of NumPy 2.
        ("numpy==2.0.1\ntensorflow==2.10.1\ntensorflow-gpu==2.10.1\n", {"tensorflow", "tensorflow-gpu"}),
        ("numpy==2.0.1\ntensorflow==2.18.0\n", set()),
        ("numpy==2.1.0\nspacy==3.7.4\njaxlib==0.4.25\nml-dtypes==0.4.0\n", {"spacy", "jaxlib"}),
    ],
)
def test_a_listing_with_numpy_2_tells_what_was_built_against_numpy_1(tmp_path, capsys, listing, subjects):
    (tmp_path / "installed.txt").write_text(listing, encoding="utf-8")
    main(["check", "--offline", "--format", "json", "--installed", str(tmp_path / "installed.txt")])
    told = [item for item in json.loads(capsys.readouterr().out)["findings"] if item["rule"] == "ABI005"]
    assert {item["subject"] for item in told} == subjects
    assert all("numpy<2" in item["remedy"]["summary"] for item in told)


@pytest.mark.parametrize(("other", "severity"), [("4.10.0.84", "warning"), ("4.9.0.80", "error")])
def test_of_two_that_give_one_module_a_list_does_not_tell_which_numpy_it_is_for(tmp_path, capsys, other, severity):
    pins = f"numpy==2.0.1\nopencv-python==4.8.0.76\nopencv-python-headless=={other}\n"
    (tmp_path / "installed.txt").write_text(pins, encoding="utf-8")
    main(["check", "--offline", "--format", "json", "--installed", str(tmp_path / "installed.txt")])
    told = [item for item in json.loads(capsys.readouterr().out)["findings"] if item["rule"] == "ABI005"]
    assert {item["severity"] for item in told} == {severity}
