"""A log is judged by the machine that it shows, and its remedy by what is there."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from diagnose_fixtures import examination_of

from envdoctor.diagnose.advisories.book import shipped_advisories
from envdoctor.diagnose.advisories.log_reading import installed_by, read_log, with_what_log_tells
from envdoctor.diagnose.engine import examine
from envdoctor.model.finding import Finding, Severity
from envdoctor.model.target import Backend, OperatingSystem, TargetProperty

SM_120 = "NVIDIA GeForce RTX 5090 with CUDA capability sm_120 is not compatible with the current PyTorch installation."
OTHER_CUDA = "The detected CUDA version (11.5) mismatches the version that was used to compile PyTorch (12.1)."
GFX1031 = "rocBLAS error: Cannot read TensileLibrary.dat: No such file or directory for GPU arch : gfx1031"


def _told(log: str, **data: object):
    return with_what_log_tells(examination_of({"log": log, **data}), log)


@pytest.mark.parametrize(
    ("log", "system"),
    [
        (r'File "D:\app\venv\lib\site-packages\x.py"', OperatingSystem.WINDOWS),
        ("OSError: [WinError 126] The specified module could not be found", OperatingSystem.WINDOWS),
        ('File "/Users/me/.venv/lib/python3.10/x.py"', OperatingSystem.MACOS),
        ("cc -I/usr/local/include -I/opt/homebrew/include -c x.c", OperatingSystem.MACOS),
        ("creating build/lib.macosx-11.0-arm64-cpython-313/x", OperatingSystem.MACOS),
        ('File "/home/me/.venv/lib/python3.10/x.py"', OperatingSystem.LINUX),
        ("ImportError: libfoo.so.1: cannot open shared object file", OperatingSystem.LINUX),
        ('File "/mnt/c/Users/me/x.py"', OperatingSystem.LINUX),
    ],
)
def test_a_log_shows_its_system_whatever_the_target_is(log: str, system: OperatingSystem) -> None:
    found = _told(
        log, target="linux/x86_64/3.11/cuda" if system is not OperatingSystem.LINUX else "macos/arm64/3.11/mps"
    )
    assert found.target is not None
    assert found.target.os is system
    assert TargetProperty.OS not in _told(log).assumed


@pytest.mark.parametrize("line", ["Device: cuda:0 {} : native", "- **Name:** cuda:0 {} : cudaMallocAsync"])
def test_a_program_of_nodes_names_its_card_and_its_torch(line: str) -> None:
    log = f"- **PyTorch Version:** 2.6.0+rocm6.2.4\n{line.format('AMD Radeon RX 9070 XT')}\nHIP error: invalid argument"
    found = _told(log)
    assert found.target is not None
    assert found.target.gpu_architecture == "gfx1201"
    assert found.environment is not None
    assert [(item.name, item.version) for item in found.environment.distributions] == [("torch", "2.6.0+rocm6.2.4")]
    two = f"{line.format('AMD Radeon RX 9070 XT')}\n{line.format('NVIDIA GeForce RTX 3090').replace(':0', ':1')}"
    assert getattr(_told(two).target, "gpu_architecture", None) is None


def test_paths_of_two_systems_tell_none() -> None:
    assert TargetProperty.OS in _told("C:\\w\\x.py\n/home/me/x.py").assumed


def test_a_log_shows_python_wsl_and_backend() -> None:
    found = _told("/home/me/lib/python3.9/x.py\nLinux 5.15.153.1-microsoft-standard-WSL2\nHIP error: invalid argument")
    assert found.target is not None
    assert (found.target.python, found.target.wsl, found.target.backend) == ((3, 9), True, Backend.ROCM)
    assert found.assumed == {TargetProperty.ARCH, TargetProperty.BACKEND, TargetProperty.WSL}
    two = _told("/a/lib/python3.9/x.py /b/lib/python3.12/y.py")
    assert TargetProperty.PYTHON in two.assumed


@pytest.mark.parametrize(
    "log",
    [
        "Successfully installed filelock-3.13.1 torch-2.10.0+cu128 typing-extensions-4.12.2",
        " + torch==2.10.0+cu128",
        "Requirement already satisfied: torch>=2.8 in ./venv/lib/python3.12/site-packages (2.10.0+cu128)",
        "PyTorch version: 2.10.0+cu128",
        "pytorch version 2.10.0+cu128",
        "2. The PyTorch version (2.10.0+cu128) is not compatible with",
    ],
)
def test_a_log_shows_what_was_installed(log: str) -> None:
    environment = _told(log).environment
    assert environment is not None
    torch = environment.get("torch")
    assert torch is not None
    assert torch.version == "2.10.0+cu128"


def test_a_listing_counts_for_more_than_what_a_log_says() -> None:
    environment = _told("PyTorch version: 2.4.0", installed=["torch==2.10.0"]).environment
    assert environment is not None
    torch = environment.get("torch")
    assert torch is not None
    assert torch.version == "2.10.0"


def _said(log: str, **data: object) -> dict[str, Finding]:
    return {item.rule: item for item in read_log(examination_of({"log": log, **data}))}


def _remedy(code: str, log: str, **data: object) -> str:
    remedy = _said(log, **data)[code].remedy
    assert remedy is not None
    return " ".join((remedy.summary, *remedy.commands))


AMD = {"gpu[0].vendor": "amd", "gpu[0].name": "AMD Radeon RX 6750 XT", "gpu[0].architecture": "gfx1031"}
NO_CUDA = "AssertionError: Torch not compiled with CUDA enabled"
NO_HIP = "RuntimeError: No HIP GPUs are available"


def test_no_cuda_is_answered_for_the_machine() -> None:
    assert "mps" in _remedy("ADV180", f'File "/Users/me/x.py"\n{NO_CUDA}')
    assert "aarch64" in _remedy("ADV180", NO_CUDA, target="linux/aarch64/3.12/cuda", installed=["torch==2.9.1"])
    assert "rocm index" in _remedy("ADV180", NO_CUDA, target="linux/x86_64/3.12/unknown", facts=AMD)
    assert "ZLUDA" in _remedy("ADV180", NO_CUDA, target="windows/x86_64/3.12/unknown", facts=AMD)
    assert "+cu118" in _remedy("ADV180", NO_CUDA, target="windows/x86_64/3.11/zluda", installed=["torch==2.7.1"])


def test_a_missing_card_of_rocm_is_answered_for_wsl_only_in_wsl() -> None:
    assert "render" in _remedy("ADV192", NO_HIP)
    assert "libhsa" not in _remedy("ADV192", NO_HIP, target="linux/x86_64/3.12/rocm", facts={"host.wsl": False})
    assert "libhsa" in _remedy("ADV192", f"5.15-microsoft-standard-WSL2\n{NO_HIP}")


def test_a_driver_that_knows_cuda_11_alone_is_offered_no_build_for_cuda_12() -> None:
    error = "RuntimeError: The NVIDIA driver on your system is too old (found version {}). Please update"
    for remedy in (
        _remedy("ADV056", error.format(11040)),
        _remedy("ADV056", error.format(""), facts={"driver.version": "470.86"}),
        _remedy("ADV056", error.format(11060), installed=["torch==2.11.0+cu130"]),
    ):
        assert "cu118" in remedy
        assert "cu126" not in remedy
    assert "cu126" in _remedy("ADV056", error.format(12040), installed=["torch==2.11.0+cu130"])


def test_a_card_without_code_is_named_in_the_remedy() -> None:
    error = "RuntimeError: HIP error: invalid device function"
    strix = {"gpu[0].vendor": "amd", "gpu[0].architecture": "gfx1151"}
    assert "torch[device-gfx1151]" in _remedy("ADV122", error, target="linux/x86_64/3.12/rocm", facts=strix)
    facts = AMD | {"host.wsl": False}
    assert "=10.3.0" in _remedy("ADV122", error, target="linux/x86_64/3.12/rocm", facts=facts)
    assert "HSA_OVERRIDE" not in _remedy("ADV122", error, target="windows/x86_64/3.12/unknown", facts=AMD)


def test_what_is_installed_already_is_not_proposed() -> None:
    error = "ValueError: we now require users to upgrade torch to at least v2.6 in order to use the function."
    assert "Take torch 2.6" in _remedy("ADV145", error, installed=["torch==2.4.0"])
    assert "is installed already (`torch>=2.6`)" in _remedy("ADV145", error, installed=["torch==2.10.0"])
    assert "is installed already" in _remedy("ADV145", f"PyTorch version: 2.10.0\n{error}")


def test_a_command_of_pip_tells_what_a_remedy_asks() -> None:
    error = "AttributeError: `np.float_` was removed in the NumPy 2.0 release."
    assert "numpy<2" in _remedy("ADV146", error, installed=["numpy==2.1.0"])
    assert "is installed already (`numpy<2`)" in _remedy("ADV146", error, installed=["numpy==1.26.4"])


def test_an_advisory_for_few_machines_needs_a_word_of_them() -> None:
    error = "RuntimeError: cuDNN error: CUDNN_STATUS_NOT_SUPPORTED"
    assert _said(error) == {}
    assert set(_said(f"device: Radeon RX 6600 [ZLUDA]\n{error}")) == {"ADV072"}
    assert _said(error, target="windows/x86_64/3.11/cuda") == {}


@pytest.mark.parametrize(
    "line",
    [
        "If you see `ImportError: libcudart.so.12: cannot open shared object file`, install the CUDA 12 wheels.",
        "- `RuntimeError: No HIP GPUs are available`: your user is not in the group render.",
        "If you get RuntimeError: No HIP GPUs are available, see the manual",
        "* Fix cannot import name 'cached_download' from 'huggingface_hub' with newer hubs (#123)",
        "tests/test_env.py::test_error[cannot import name 'cached_download' from 'huggingface_hub'] PASSED [ 20%]",
        "test_error (tests.Test.No HIP GPUs are available) ... ok",
        "    with pytest.raises(RuntimeError, match='No HIP GPUs are available'):",
        "**No module named 'pkg_resources'**: install setuptools below 82.",
        "| RuntimeError: No HIP GPUs are available | add your user to the group render |",
        "* work around \"No module named 'torchaudio.backend'\"",
        "- handle CUBLAS_STATUS_NOT_SUPPORTED under ZLUDA",
        "commit 1a2b3c4 Avoid OMP: Error #15: Initializing libiomp5md.dll twice",
        "5d6e7f8 Document RuntimeError: No HIP GPUs are available",
        "docs/faq.md:33:RuntimeError: No HIP GPUs are available",
        '    assert "CUDA_HOME environment variable is not set" in err',
        'I asked about "Torch not compiled with CUDA enabled" last week',
        "You may get an error like No module named 'pkg_resources' with setuptools 82.",
    ],
)
def test_a_text_about_an_error_is_no_error(line: str) -> None:
    assert _said(line) == {}


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("ERROR: fixing failed: RuntimeError: No HIP GPUs are available", "ADV192"),
        ("ImportError: libcudart.so.12: cannot open shared object file: if you see this, install CUDA", "ADV116"),
        ("[1a2b3c4] RuntimeError: No HIP GPUs are available", "ADV192"),
        ("- RuntimeError: No HIP GPUs are available", "ADV192"),
        ('{"level": "error", "message": "RuntimeError: No HIP GPUs are available"}', "ADV192"),
        ('level=error msg="RuntimeError: No HIP GPUs are available"', "ADV192"),
        ('Exception in thread Thread-1: RuntimeError("No HIP GPUs are available")', "ADV192"),
        ("app-1  | RuntimeError: No HIP GPUs are available", "ADV192"),
        ('warning: `whisperx==3.1.5` is yanked (reason: "unofficial release by third party")', "ADV025"),
    ],
)
def test_an_error_with_words_of_prose_in_it_is_one(line: str, code: str) -> None:
    assert set(_said(line)) == {code}


def test_what_a_listing_and_a_log_show_of_one_cause_is_one_finding() -> None:
    data = {
        "installed": ["torch==2.4.0", "torchcodec==0.9.1"],
        "log": "OSError: /v/torchcodec/libtorchcodec_core7.so: undefined symbol: _ZN3c10",
    }
    found = [item for item in examine(examination_of(data)) if item.rule == "ADV010"]
    assert len(found) == 1
    assert found[0].evidence[0].where == "log line 1"
    assert "0.9.1" in found[0].message


def test_what_was_only_reported_is_no_error_until_a_log_shows_it() -> None:
    planned = {"target": "linux/aarch64/3.12/cuda", "gpu": "sm_110", "plan": ["torch==2.10.0+cu130"]}
    (finding,) = (item for item in examine(examination_of(planned)) if item.rule == "ADV004")
    assert finding.severity.value == "warning"
    shown = "NVIDIA Thor: CUBLAS_STATUS_INVALID_VALUE when calling `cublasSgemm( handle, opa, opb)`"
    assert _said(f"RuntimeError: {shown}")["ADV004"].severity.value == "error"


NVIDIA = {"gpu[0].vendor": "nvidia", "gpu[0].architecture": "sm_86"}
MAC = {"target": "macos/arm64/3.11/unknown"}
NO_DRIVER = "RuntimeError: Found no NVIDIA driver on your system."
NO_CU118 = "ERROR: No matching distribution found for torch==2.7.1+cu118"
EMPTY = "      THIS PROJECT 'nvidia-cublas-cu13' IS DEPRECATED."
NO_COUNT = "RuntimeError: Unexpected error from cudaGetDeviceCount()."


@pytest.mark.parametrize(
    ("code", "log", "data", "says", "not_said"),
    [
        ("ADV157", NO_DRIVER, MAC, "A Mac has no CUDA", "Install the driver"),
        ("ADV158", "OSError: CUDA_HOME environment variable is not set.", MAC, "A Mac has no CUDA", "toolkit of torch"),
        ("ADV141", "RuntimeError: Attempting to deserialize object on a CUDA device", MAC, "mps", "CUDA build"),
        ("ADV174", NO_CU118, MAC, "Leave the label away", "cu118"),
        ("ADV005", "ERROR: No matching distribution found for torch==2.5.1",
         {"target": "macos/x86_64/3.11/unknown"}, "2.2.2 is the last for Intel Macs", "Choose a Python"),
        ("ADV192", NO_HIP, {"target": "linux/x86_64/3.12/cuda", "facts": NVIDIA}, "the card is NVIDIA's", "render"),
        ("ADV003", "RuntimeError: CUDA error: no kernel image is available for execution on the device",
         {"target": "linux/x86_64/3.12/cuda", "gpu": "sm_120", "installed": ["torch==2.10.0+cu128"]},
         "it is the extension", "Take torch"),
        ("ADV003", "GTX 1080 which is of cuda capability 6.1.", {"installed": ["torch==2.15.0+cu132"]},
         "cu126 index, torch 2.14 at most", "cu128"),
        ("ADV116", "ImportError: libcudart.so.11.0: cannot open shared object file",
         {"target": "linux/x86_64/3.12/cuda", "installed": ["torch==2.6.0+cu124"]}, "no other torch is needed", "cu13"),
        ("ADV122", "HIP error: invalid device function",
         {"target": "linux/x86_64/3.12/rocm", "wsl": True, "gpu": "gfx1031"}, "In WSL", "=10.3.0"),
        ("ADV006", "RuntimeError: Detected that PyTorch and TorchAudio were compiled with different CUDA versions.",
         {"installed": ["torch==2.15.0", "torchaudio==2.11.0"]}, "torchaudio 2.11.1 or later", "is for torch"),
        ("ADV117", "RuntimeError: module was compiled against NumPy C-API version 0x14 (NumPy 2.3)", {}, "0x14 2.3",
         "below 2 where"),
        ("ADV409", f"{EMPTY}\nnext: tensorrt", {}, "Ask for the name without", "10.13"),
        ("ADV409", f"Collecting nvidia-cublas-cu13 (from tensorrt-cu13==10.13.3.9)\n{EMPTY}", {}, "10.13.3.9.post1",
         "Ask for"),
        ("ADV421", "dlopen(/U/tensorflow-plugins/libmetal_plugin.dylib, 0x0006): Symbol not found: _TF_GetInput",
         {"target": "macos/arm64/3.12/mps"}, "Take tensorflow-metal away", "or take"),
        ("ADV423", f"{NO_COUNT} Error 34: CUDA driver is a stub library", {}, "`stubs` off", "restart"),
        ("ADV423", f"{NO_COUNT} Error 304: OS call failed", {}, "restart", "stubs"),
        ("ADV423", f"{NO_COUNT} Error 2: out of memory", {}, "who holds the card's memory", "stubs"),
    ],
)  # fmt: skip
def test_a_remedy_fits_the_machine_and_what_is_installed(code, log, data, says, not_said) -> None:
    remedy = _remedy(code, log, **data)
    assert says in remedy
    assert not_said not in remedy


def test_what_a_log_of_any_card_shows_is_not_called_after_one_card() -> None:
    of_a_card = re.compile(r"(?:^|-)(?:thor|orin|jetson|blackwell|gb10|rtx\w*|sm\d+|gfx\d+)(?:-|$)")
    asked = {item.id for item in shipped_advisories().advisories if item.symptoms and item.symptom_on is None}
    assert [name for name in asked if of_a_card.search(name)] == []
    log = (
        "UserWarning: NVIDIA GeForce RTX 5090 with CUDA capability sm_120 is not compatible with the current PyTorch"
        " installation.\nRuntimeError: CUDA error: no kernel image is available for execution on the device"
    )
    (found,) = read_log(examination_of({"log": log}))
    assert (found.rule, found.name) == ("ADV003", "no-kernel-for-the-card")
    assert "sm_120" in found.remedy.summary
    assert "Thor" not in found.remedy.summary


@pytest.mark.parametrize(
    ("log", "facts", "said"),
    [
        (SM_120, {"gpu[0].compute_capability": "8.6"}, [(Severity.WARNING, "sm_120, and not sm_86")]),
        (SM_120, {"gpu[0].compute_capability": "12.0"}, []),
        (SM_120, {"gpu[0].compute_capability": "8.6", "gpu[1].compute_capability": "12.0"}, []),
        (SM_120, {}, []),
        (GFX1031, {"gpu[0].architecture": "gfx1100"}, [(Severity.WARNING, "gfx1031, and not gfx1100")]),
        # An AMD card may pass for another one of its generation.
        (GFX1031, {"gpu[0].architecture": "gfx1030"}, [(Severity.INFO, "gfx1031, and not gfx1030")]),
        ("RuntimeError: CUDA error: out of memory", {"gpu[0].compute_capability": "8.6"}, []),
    ],
)
def test_a_log_of_another_card_than_was_given_is_told(log: str, facts: dict[str, str], said: list) -> None:
    found = [item for item in examine(examination_of({"log": log, "facts": facts})) if item.rule == "LOG004"]
    assert [(item.severity, item.message.rpartition(": ")[2]) for item in found] == said
    assert all(item.evidence[0].where == "log line 1" for item in found)


def test_the_line_that_names_another_card_is_quoted_where_a_start_message_names_it() -> None:
    log = "starting\nDevice: cuda:0 NVIDIA GeForce RTX 5090 : native\n"
    given = examination_of({"log": log, "facts": {"gpu[0].compute_capability": "8.6"}})
    (found,) = (item for item in examine(given) if item.rule == "LOG004")
    assert found.evidence[0].what == "Device: cuda:0 NVIDIA GeForce RTX 5090 : native"
    assert found.evidence[0].where == "log line 2"


def test_a_log_of_another_system_and_python_than_were_given_is_told_and_of_what_was_assumed_nothing() -> None:
    log = 'File "C:\\Users\\me\\Python310\\lib\\x.py"\nOSError: [WinError 126] The specified module could not be found'
    given = examination_of({"log": log, "target": "linux/x86_64/3.11/cuda"})
    said = [item.message for item in examine(given) if item.rule == "LOG004"]
    assert [text.rpartition(": ")[2] for text in said] == ["windows, and not linux", "3.10, and not 3.11"]
    assumed = replace(given, assumed=frozenset({TargetProperty.OS, TargetProperty.PYTHON}))
    assert [item for item in examine(assumed) if item.rule == "LOG004"] == []


CUINIT = (
    "E tensorflow/stream_executor/cuda/cuda_driver.cc:314] failed call to cuInit: CUDA_ERROR_NO_DEVICE: "
    "no CUDA-capable device is detected"
)
ON_CPU = (
    CUINIT,
    "E cuda_driver.cc:152] failed call to cuInit: INTERNAL: CUDA error: Failed call to cuInit: UNKNOWN ERROR (303)",
    "W dso_loader.cc:64] Could not load dynamic library 'libcudnn.so.8'; dlerror: libcudnn.so.8: cannot open shared",
    "W dso_loader.cc:64] Could not load dynamic library 'libcuda.so.1'; dlerror: libcuda.so.1: cannot open shared",
    "I tsl/cuda/cudart_stub.cc:32] Could not find cuda drivers on your machine, GPU will not be used.",
    "An NVIDIA GPU may be present on this machine, but a CUDA-enabled jaxlib is not installed. Falling back to cpu.",
    "RuntimeError: Unable to load cuSPARSE. Is it installed?",
    "ggml_init_cublas: no CUDA devices found, CUDA will be disabled",
    "warning: no usable GPU found, --gpu-layers option will be ignored",
    "ggml_vulkan: No devices found.",
    "[W:onnxruntime:Default, onnxruntime_pybind_state.cc:640 Create] Failed to create CUDAExecutionProvider.",
)
"""What programs write at their start where they find no card, and then go on without."""


@pytest.mark.parametrize("log", ON_CPU)
def test_a_card_that_is_not_there_is_a_failure_where_one_is_expected_and_none_on_the_cpu(log: str) -> None:
    def severities(target: str) -> set[Severity]:
        return {item.severity for item in examine(examination_of({"log": log, "target": target}))}

    assert severities("linux/x86_64/3.11/cpu") == {Severity.INFO}
    assert severities("linux/x86_64/3.11/cuda") == {Severity.ERROR}
    assert {item.name for item in examine(examination_of({"log": log}))} & {"failure-not-understood"} == set()


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (
            "I cuda_diagnostics.cc:156] kernel driver does not appear to be running on this host (a1b2)",
            "No NVIDIA driver",
        ),
        ('I cuda_diagnostics.cc:160] env: CUDA_VISIBLE_DEVICES="-1"', "CUDA_VISIBLE_DEVICES hides every card"),
        ("", "CUDA_VISIBLE_DEVICES is unset or names one that exists"),
    ],
)
def test_why_tensorflow_opens_no_card_is_read_from_the_lines_beside(more: str, says: str) -> None:
    (found,) = examine(examination_of({"log": f"{CUINIT}\n{more}", "target": "linux/x86_64/3.11/cuda"}))
    assert (found.rule, found.severity) == ("ADV364", Severity.ERROR)
    assert says in found.remedy.summary


def test_a_driver_of_two_versions_and_a_card_that_was_hidden_are_told_as_such() -> None:
    mismatch = (
        "E cuda_diagnostics.cc:312] kernel version 525.60.13 does not match DSO version 530.30.2 -- cannot find "
        "working devices in this configuration"
    )
    assert [item.rule for item in examine(examination_of({"log": f"{CUINIT}\n{mismatch}"}))] == ["ADV124"]
    hidden = f'{CUINIT}\nI cuda_diagnostics.cc:160] env: CUDA_VISIBLE_DEVICES="-1"'
    assert [item.severity for item in examine(examination_of({"log": hidden}))] == [Severity.INFO]


def test_a_kernel_that_an_extension_lacks_is_no_fault_of_torch() -> None:
    error = "CUDA error (/w/third_party/flash-attention/hopper/flash_fwd_launch_template.h:188): no kernel image"
    assert "extension" in _remedy(
        "ADV003",
        f"{error} is available for execution on the device",
        installed=["torch==2.7.0+cu128", "xformers==0.0.30"],
    )
    assert "cu128" in _remedy(
        "ADV003",
        "CUDA error: no kernel image is available for execution on the device",
        target="linux/x86_64/3.12/cuda",
    )


def test_dlls_of_intels_builds_are_answered_for_intels_builds() -> None:
    error = r'OSError: [WinError 126] not found. Error loading "C:\v\Lib\site-packages\torch\lib\{}.dll"'
    assert "SYCL" in _remedy("ADV121", error.format("c10_xpu"))
    ipex = ["torch==2.1.0.post3", "intel-extension-for-pytorch==2.1.40+xpu"]
    assert "libuv" in _remedy("ADV121", error.format("backend_with_compiler"), installed=ipex)
    assert "libuv" not in _remedy("ADV121", error.format("shm"), installed=["torch==2.9.0+cu128"])


def test_nvidias_torch_goes_with_no_wheel_of_the_index() -> None:
    installed = ["torch==2.1.0a0+41361538.nv23.6", "torchvision==0.16.2"]
    assert "from source" in _remedy("ADV007", "RuntimeError: Couldn't load custom C++ ops", installed=installed)


@pytest.mark.parametrize(
    ("log", "code", "remedy"),
    [
        # What names no onnxruntime is none of its failures.
        ("ImportError: libcudnn.so.8: cannot open shared object file", "ADV116", "nvidia-"),
        (
            "Status: Pulled dustynv/ros:noetic-l4t-r32.5.0\nOSError: libcurand.so.10: cannot open shared object file",
            "ADV116",
            "--runtime nvidia",
        ),
        ("ImportError: libcudss.so.0: cannot open shared object file", "ADV116", "nvidia-cudss-cu12 with CUDA 12"),
        (
            "RuntimeError: module compiled against API version 0xf but this version of numpy is 0xe",
            "ADV117",
            "older than the one",
        ),
        (
            "CUDA error: no kernel image is available for execution on the device\nLinux-5.10.192-tegra-aarch64-with\n",
            "ADV003",
            "TORCH_CUDA_ARCH_LIST=7.2",
        ),
        (
            "ROCm platform is not available: No module named 'amdsmi'\nRuntimeError: Failed to infer device type",
            "ADV306",
            "/opt/rocm/share/amd_smi",
        ),
        (
            ' parse(torch.version.cuda)\n File "packaging/version.py"\nTypeError: expected string or bytes-like object',
            "ADV415",
            "built without",
        ),
        (
            "YOLO 8 Python-3.13.9 torch-2.9.0 MPS (Apple M2)\nRuntimeError: BlobWriter not loaded",
            "ADV098",
            "coremltools 9.0",
        ),
        ("ImportError: /v/torch/lib/libtorch_hip.so: undefined symbol: rsmi_init", "ADV384", "LD_LIBRARY_PATH"),
        (
            "ImportError: /v/torch/lib/libc10.so: undefined symbol: _ZN2at4_ops5zeros4callEv",
            "ADV385",
            "until none is left",
        ),
        ("    torch.ops.load_library(path)\nOSError: [WinError 127] ?", "ADV386", "PYTHONNOUSERSITE"),
        (
            "FileNotFoundError: Could not find module 'E:\\v\\torchaudio\\lib\\libtorchaudio.pyd' (or a part)",
            "ADV006",
            "torchaudio of one release",
        ),
        (
            '  File "C:\\v\\torch\\__init__.py", line 81\n    from torch._C import *\nImportError: DLL load failed: ?',
            "ADV383",
            "fresh environment",
        ),
        (
            "FileNotFoundError: [Errno 2] No such file or directory: '/usr/local/cuda/bin/nvcc'",
            "ADV158",
            "install the toolkit",
        ),
        (
            "torch.__version__  = 2.7.0+rocm6.3\nOSError: CUDA_HOME environment variable is not set.",
            "ADV158",
            "a CUDA toolkit does not help",
        ),
        (
            "/v/libtorch_cuda.so: undefined symbol: ncclCommResume\nnvidia-nccl-cu12==2.29.3\nnvidia-nccl-cu13==2.29.7",
            "ADV160",
            "own the same folder",
        ),
    ],
)
def test_what_was_reported_gets_its_own_cause(log: str, code: str, remedy: str) -> None:
    (found,) = examine(examination_of({"log": log}))
    assert found.rule == code
    assert remedy in found.remedy.summary


def test_a_build_that_failed_is_no_second_failure_beside_its_cause() -> None:
    far = "\n".join(["      running build_ext"] * 30)
    log = f"  × Failed to build `flash-attn==2.7.4.post1`\n{far}\nOSError: CUDA_HOME environment variable is not set."
    assert [item.rule for item in examine(examination_of({"log": log}))] == ["ADV158"]
    assert [item.rule for item in examine(examination_of({"log": log.rpartition(chr(10))[0]}))] == ["LOG001"]


def test_a_dll_that_is_not_found_is_told_as_such_where_no_package_is_known() -> None:
    log = "FileNotFoundError: Could not find module 'C:\\v\\{}' (or one of its dependencies)."
    said = {name: [item.rule for item in examine(examination_of({"log": log.format(name)}))] for name in ("a.dll",)}
    assert said == {"a.dll": ["ADV387"]}
    assert [item.rule for item in examine(examination_of({"log": log.format("libtorchcodec_core6.dll")}))] == ["ADV011"]


def test_what_cmake_says_below_its_place_is_quoted() -> None:
    log = "  CMake Error at C:/t/cmake_install.cmake:241 (file):\n    file INSTALL cannot find amdhip64.dll\n"
    (found,) = examine(examination_of({"log": log}))
    assert "file INSTALL cannot find amdhip64.dll" in found.message


def test_a_torch_that_conda_built_for_the_cpu_is_named_as_the_cause() -> None:
    log = "  pytorch  conda-forge/linux-64::pytorch-2.6.0-cpu_mkl_py312_104\n>>> torch.cuda.is_available()\nFalse"
    (found,) = examine(examination_of({"log": log}))
    assert "pytorch=*=cuda*" in found.remedy.summary


@pytest.mark.parametrize(
    ("log", "code", "severity"),
    [
        (
            "2025-03-05 14:16:51: F xla/gpu/nvptx_compiler.cc:850] Couldn't get ptxas version :\nAborted (core dumped)",
            "ADV391",
            Severity.ERROR,
        ),
        ("XlaRuntimeError: INTERNAL: RET_CHECK failure (gpu_compiler.cc:626) dnn != nullptr", "ADV392", Severity.ERROR),
        (
            "FAIL : libonnxruntime_providers_tensorrt.so with error: ?\nFalling back to ['CUDAExecutionProvider', 'x']",
            "ADV393",
            Severity.INFO,
        ),
        (
            "CUDA error: no kernel image is available for execution on the device\n in function ggml_cuda_compute",
            "ADV394",
            Severity.ERROR,
        ),
        ("ggml_metal_init: error: MTLLibraryErrorDomain Code=3", "LOG001", Severity.WARNING),
        ("2025-03-05 14:16:51: F external/xla/xla/a.cc:1] Nobody knows this", "LOG001", Severity.WARNING),
    ],
)
def test_failures_of_xla_onnxruntime_and_llama_cpp_are_not_laid_to_torch(
    log: str, code: str, severity: Severity
) -> None:
    assert [(item.rule, item.severity) for item in examine(examination_of({"log": log}))] == [(code, severity)]


@pytest.mark.parametrize(
    ("log", "code", "severity"),
    [
        (
            "/v/libcublas.so.11: symbol cublasLtGetStatusString, version libcublasLt.so.11 not defined in file x",
            "ADV160",
            Severity.ERROR,
        ),
        ("/v/libcudnn_cnn_infer.so.8: undefined symbol: _ZTIN1a, version libcudnn_ops.so.8", "ADV160", Severity.ERROR),
        (f"RuntimeError: {OTHER_CUDA}", "ADV057", Severity.ERROR),
        (f"RuntimeError:\n{OTHER_CUDA}", "ADV057", Severity.ERROR),
        (OTHER_CUDA, "ADV057", Severity.WARNING),
    ],
)
def test_libraries_and_toolkits_of_another_cuda_are_as_bad_as_the_log_says(
    log: str, code: str, severity: Severity
) -> None:
    assert [(item.rule, item.severity) for item in examine(examination_of({"log": log}))] == [(code, severity)]


CARD_OF_LOG = (
    ("RuntimeError: HIP error: invalid device function", "sm_89", "one of AMD's, with ROCm, and not sm_89"),
    ("GPU: NVIDIA GeForce GTX 1080\nstarting", "sm_89", "sm_61, and not sm_89"),
    ("Device 0: NVIDIA GeForce GTX 1080, compute", "gfx1100", "sm_61, and not gfx1100"),
    ("device name: AMD Radeon RX 7900 XTX", "sm_89", "gfx1100, and not sm_89"),
)


@pytest.mark.parametrize(("log", "card", "said"), CARD_OF_LOG)
def test_a_log_that_names_its_card_or_has_the_words_of_another_maker_is_told(log: str, card: str, said: str) -> None:
    given = examination_of({"log": log, "facts": {"gpu[0].architecture": card}})
    (found,) = (item for item in examine(given) if item.rule == "LOG004")
    assert found.message.endswith(f"than was given: {said}")


@pytest.mark.parametrize(
    ("log", "card"),
    [
        ("RuntimeError: No HIP GPUs are available", "sm_89"),
        ("HIP error: no ROCm-capable device is detected", "sm_89"),
        ("torch 2.5.1+rocm6.2", "sm_89"),
        ("RuntimeError: HIP error: invalid device function", "gfx1100"),
        ("GPU: NVIDIA GeForce GTX 1080", "sm_61"),
    ],
)
def test_what_is_written_beside_the_given_card_too_tells_no_other(log: str, card: str) -> None:
    given = examination_of({"log": log, "facts": {"gpu[0].architecture": card}})
    assert [item for item in examine(given) if item.rule == "LOG004"] == []


@pytest.mark.parametrize(
    ("log", "data", "said"),
    [
        ("CUDA error: no kernel image is available for execution on the device", {"gpu": "gfx1100"}, "is AMD's"),
        ("CUDA error: no kernel image is available for execution on the device", {"backend": "cpu"}, "is the CPU"),
        ("HIP error: invalid device function", {"gpu": "sm_89"}, "is NVIDIA's"),
        ("HIP error: invalid device function", {"backend": "cpu"}, "is the CPU"),
    ],
)
def test_a_remedy_for_kernels_is_for_the_given_card_or_none(log: str, data: dict[str, str], said: str) -> None:
    facts = {"facts": {"gpu[0].architecture": data["gpu"]}} if "gpu" in data else {}
    target = f"linux/x86_64/3.11/{data['backend']}" if "backend" in data else "linux/x86_64/3.11/unknown"
    (found,) = (
        item for item in examine(examination_of({"log": log, "target": target, **facts})) if item.rule[:3] == "ADV"
    )
    assert found.remedy is not None
    assert said in found.remedy.summary
    assert "HSA_OVERRIDE" not in found.remedy.summary
    assert "cu128" not in found.remedy.summary


def test_a_program_that_finds_no_card_fails_where_one_is_given_though_an_install_succeeded() -> None:
    log = "Successfully installed foo-1.0\nmodel loaded on cpu because no GPU found\n"
    given = examination_of({"log": log, "target": "linux/x86_64/3.11/cuda", "facts": {"gpu[0].vendor": "nvidia"}})
    assert [(item.rule, item.severity) for item in examine(given)] == [("ADV396", Severity.ERROR)]


def test_memory_that_ran_out_is_called_so() -> None:
    log = "terminate called after throwing an instance of 'std::bad_alloc'"
    (found,) = (item for item in examine(examination_of({"log": log})) if item.rule == "LOG001")
    assert found.message == f"the log shows that memory or space ran out: `{log}`"


@pytest.mark.parametrize(
    ("log", "told", "other"),
    [
        ("[12/73] nvcc -c flash_bwd.cu\nKilled\nninja: build stopped: subcommand failed.", "MAX_JOBS=2", "shape"),
        ("Collecting torch\n  Downloading torch-2.1.0.whl (755.5 MB)\nKilled", "--no-cache-dir", "MAX_JOBS"),
        ("Loading checkpoint shards\nKilled", "a smaller one or a shorter shape", "MAX_JOBS"),
        ("Building wheel for x\nvirtual memory exhausted: Cannot allocate memory", "MAX_JOBS=2", "batch"),
    ],
)
def test_what_helps_against_lack_of_memory_is_said_of_what_was_at_work(log: str, told: str, other: str) -> None:
    (remedy,) = (item.remedy for item in examine(examination_of({"log": log})) if item.rule[:3] == "ADV")
    assert remedy is not None
    assert told in remedy.summary
    assert other not in remedy.summary


_SIZE_CHANGED = (
    "ValueError: numpy.dtype size changed, may indicate binary incompatibility. "
    "Expected 96 from C header, got 88 from PyObject"
)
_IN_MTRAND = f"numpy/random/mtrand.pyx in init numpy.random.mtrand()\n\n{_SIZE_CHANGED}"
_IN_RANDOMGEN = f"randomgen/common.pyx:1: in init randomgen.common\n    ???\nE   {_SIZE_CHANGED}"


@pytest.mark.parametrize(
    ("log", "installed", "says", "not_said"),
    [
        # neural-amp-modeler#543, Colab: NumPy was installed while the session had another one loaded.
        (_IN_MTRAND, [], "Restart the kernel", "numpy<2"),
        (_IN_MTRAND, ["numpy==2.3.1"], "Restart the kernel", "numpy<2"),
        # opendp#2173: 96 bytes are NumPy 1's, 88 those of the NumPy 2 that is loaded.
        (_IN_RANDOMGEN, ["numpy==2.3.1"], "numpy<2", "estart"),
        (_IN_RANDOMGEN, ["numpy==1.26.4"], "A NumPy 2 was loaded", "built with a newer NumPy"),
        (
            (
                "ValueError: numpy.ndarray size changed, may indicate binary incompatibility. "
                "Expected 96 from C header, got 88 from PyObject"
            ),
            ["numpy==1.21.6"],
            "built with a newer NumPy than 1.21.6",
            "A NumPy 2",
        ),
    ],
)
def test_which_numpy_is_older_is_read_from_the_sizes(log, installed, says, not_said) -> None:
    remedy = _remedy("ADV117", log, installed=installed)
    assert says in remedy
    assert not_said not in remedy


@pytest.mark.parametrize(
    ("installed", "says"),
    [
        # pytorch#157648 and vision#9077: the pair is the right one.
        (["torch==2.7.1", "torchvision==0.22.1"], "own library was not loaded"),
        (["torch==2.7.0+cpu", "torchvision==0.22.0+cpu"], "own library was not loaded"),
        (["torch==2.7.0+cu128", "torchvision==0.22.0+cpu"], "of one release and of different builds"),
        (["torch==2.7.0+cpu", "torchvision==0.22.0+cu128"], "of one release and of different builds"),
        (["torch==2.6.0", "torchvision==0.22.0"], "For torch 2.6.0 take torchvision ==0.21.0"),
        ([], "of one release together"),
    ],
)
def test_a_pair_that_fits_is_not_blamed(installed, says) -> None:
    assert says in _remedy("ADV007", "RuntimeError: operator torchvision::nms does not exist", installed=installed)


def test_a_fitting_pair_whose_library_is_of_another_build_is_said_so() -> None:
    installed = ["torch==2.7.1", "torchvision==0.22.1"]
    for log, cause in (
        ("OSError: /v/site-packages/torchvision/_C.so: undefined symbol: _ZN3c10x", "does not go with what is loaded"),
        ("RuntimeError: operator torchvision::nms does not exist", "compiled operators are not there"),
    ):
        assert cause in _said(log, installed=installed)["ADV007"].message


_TRIO = "Successfully installed torch-2.6.0 torchvision-0.15.2\n"


@pytest.mark.parametrize(
    ("log", "there"),
    [
        (_TRIO, {"torch": "2.6.0", "torchvision": "0.15.2"}),
        (f"{_TRIO}  Successfully uninstalled torchvision-0.15.2\n", {"torch": "2.6.0"}),
        (
            f"{_TRIO}  Attempting uninstall: torchvision\nSuccessfully installed torchvision-0.21.0\n",
            {"torch": "2.6.0", "torchvision": "0.21.0"},
        ),
        (f"{_TRIO} - torchvision==0.15.2\n + torchvision==0.21.0\n", {"torch": "2.6.0", "torchvision": "0.21.0"}),
        # An install that fails in its midst puts back what it took away for another version.
        (
            (
                f"{_TRIO}  Attempting uninstall: torchvision\n      Successfully uninstalled torchvision-0.15.2\n"
                "  Rolling back uninstall of torchvision\n"
            ),
            {"torch": "2.6.0", "torchvision": "0.15.2"},
        ),
        (
            (
                "Successfully installed torch-2.6.0\n  Attempting uninstall: numpy\n"
                "      Successfully uninstalled numpy-1.26.4\n  Rolling back uninstall of numpy\n"
            ),
            {"torch": "2.6.0", "numpy": "1.26.4"},
        ),
        # Another environment begins where a version is put in beside the other.
        (f"{_TRIO}Successfully installed torch-2.1.0\n", {"torch": "2.1.0"}),
        # A list of what somebody has, and uv's of what it took away.
        (f"{_TRIO}- torch==2.6.1\n", {"torch": "2.6.0", "torchvision": "0.15.2"}),
    ],
)
def test_what_a_log_has_put_in_is_what_it_did_not_take_away_again(log: str, there: dict[str, str]) -> None:
    environment = installed_by(log)
    assert environment is not None
    assert {item.name: item.version for item in environment.distributions} == there


def test_what_is_read_across_the_lines_of_a_log_puts_nothing_in_again() -> None:
    first = "Successfully installed a-1.0 bb-1.0 ccc-1.0 dddd-1.0 eeeee-1.0 torch-2.6.0 torchvision-0.15.2"
    log = (
        f"{first}\nthen\n  Attempting uninstall: torchvision\nSuccessfully installed torchvision-0.21.0\n"
        "RuntimeError: operator torchvision::nms does not exist\n"
    )
    (finding,) = (item for item in read_log(examination_of({"log": log})) if item.rule == "ADV007")
    assert "torchvision 0.21.0 belong together" in finding.remedy.summary
