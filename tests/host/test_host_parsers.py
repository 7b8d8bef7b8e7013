"""One pure parser per source, with raw texts."""

from __future__ import annotations

import pytest
from host_samples import (
    CLOSED_MODULE,
    GPU_INFORMATION,
    JETSON_MODULE,
    LINUX_VERSION,
    OPEN_MODULE,
    ROCMINFO,
    SMI,
    SMI_FAILED,
    SMI_JETSON,
    TOOL_TEXTS,
    WSL_VERSION,
)

from envdoctor.adapters.probe.gpu_amd import gfx_name, parse_hip_path, parse_rocminfo
from envdoctor.adapters.probe.gpu_nvidia import (
    cuda_of_driver,
    parse_nvml,
    parse_proc_information,
    parse_proc_version,
    parse_smi,
)
from envdoctor.adapters.probe.gpu_other import nvidia_version_of_windows, vendor_of
from envdoctor.adapters.probe.host_system import is_wsl, jetpack_of, parse_meminfo, parse_tegra_release
from envdoctor.adapters.probe.host_tools import parse_cuda_json, parse_tool_version


@pytest.mark.parametrize(
    ("text", "version"),
    [
        (OPEN_MODULE, "580.95.05"),
        (CLOSED_MODULE, "470.256.02"),
        (JETSON_MODULE, "540.4.0"),
        ("", None),
        ("x" * 99, None),
    ],
)
def test_nvidia_kernel_module(text, version):
    assert parse_proc_version(text) == version


def test_nvidia_card_of_proc():
    assert parse_proc_information(GPU_INFORMATION)["Model"] == "NVIDIA H100 80GB HBM3"


def test_nvidia_smi():
    answer = parse_smi(SMI)
    assert (answer.driver, answer.failure) == ("580.95.05", None)
    first, second = answer.cards
    assert (first["compute_capability"], first["memory_bytes"], first["mig"]) == ("9.0", 81559 << 20, False)
    assert second["mig"] is True


def test_nvidia_smi_of_a_jetson_leaves_out_what_it_does_not_tell():
    (card,) = parse_smi(SMI_JETSON).cards
    assert card == {"index": 0, "name": "NVIDIA Thor", "compute_capability": "11.0"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (SMI_FAILED, "NVIDIA-SMI has failed"),
        ("", "nothing"),
        ("\x00\x1b[31m\xff garbage\n" * 1000, "garbage"),
        ("0, only three, fields\n", "only three"),
    ],
)
def test_nvidia_smi_that_says_something_else(text, said):
    failure = parse_smi(text).failure
    assert failure is not None
    assert said in failure
    assert failure.isprintable()


def test_nvml():
    text = (
        '{"driver": "580.95.05", "cuda": "13.0", "cards": [{"index": 0, "name": "H100", "compute_capability": "9.0"}]}'
    )
    answer = parse_nvml(f"noise\n{text}\n")
    assert (answer.driver, answer.cuda, answer.cards[0]["name"]) == ("580.95.05", "13.0", "H100")
    assert parse_nvml('{"error": "Driver Not Loaded"}').failure == "NVML: Driver Not Loaded"
    for bad in ("", "x", "[]", '{"cards": 3}', '{"cards": [1]}'):
        assert parse_nvml(bad).failure == "NVML's answer cannot be read"


@pytest.mark.parametrize(
    ("driver", "cuda"),
    [("580.97", "13.0"), ("576.02", "12.9"), ("550.54.15", "12.4"), ("470.256.02", "11.4"), ("390.1", None)],
)
def test_cuda_of_driver(driver, cuda):
    assert cuda_of_driver(driver) == cuda


@pytest.mark.parametrize(
    ("text", "release", "jetpack"),
    [
        ("# R36 (release), REVISION: 4.3, GCID: 38968081, BOARD: generic, EABI: aarch64, DATE: Wed", "36.4.3", "6.2"),
        ("# R36 (release), REVISION: 3.0, GCID: 36923193", "36.3.0", "6.0"),
        ("# R35 (release), REVISION: 4.1, GCID: 33958178, BOARD: t186ref", "35.4.1", "5.1.2"),
        ("# R38 (release), REVISION: 2.0, GCID: 41844464", "38.2.0", "7.0"),
        ("# R32 (release), REVISION: 7.1, GCID: 29818004", "32.7.1", "4.6"),
        ("# R99 (release), REVISION: 1.0", "99.1.0", None),
    ],
)
def test_jetson_release(text, release, jetpack):
    assert parse_tegra_release(text) == release
    assert jetpack_of(release) == jetpack


@pytest.mark.parametrize(
    ("version", "name"),
    [
        (100300, "gfx1030"),
        (90010, "gfx90a"),
        (90012, "gfx90c"),
        (110001, "gfx1101"),
        (120000, "gfx1200"),
        (90402, "gfx942"),
    ],
)
def test_gfx_name(version, name):
    assert gfx_name(version) == name


def test_rocminfo():
    assert parse_rocminfo(ROCMINFO) == [{"architecture": "gfx1100", "name": "AMD Radeon RX 7900 XTX"}]
    assert parse_rocminfo("ROCk module is NOT loaded, possibly no GPU devices\n") == []


@pytest.mark.parametrize(
    ("path", "version"),
    [
        ("C:\\Program Files\\AMD\\ROCm\\6.2\\", "6.2"),
        ("C:/Program Files/AMD/ROCm/5.7", "5.7"),
        ("/opt/rocm", None),
        ("", None),
    ],
)
def test_hip_path(path, version):
    assert parse_hip_path(path) == version


def test_vendors():
    assert vendor_of("PCI\\VEN_8086&DEV_56A0") == "intel"
    assert vendor_of("Qualcomm(R) Adreno(TM) X1-85 GPU") == "qualcomm"
    assert vendor_of("Some Card") == "other"
    assert nvidia_version_of_windows("31.0.15.5222") == "552.22"
    assert nvidia_version_of_windows("10.0") is None


def test_wsl_and_memory():
    assert is_wsl(WSL_VERSION)
    assert not is_wsl(LINUX_VERSION)
    assert parse_meminfo("MemTotal:       16384 kB\nMemFree: 1 kB\nMemAvailable:    8192 kB\n") == (16 << 20, 8 << 20)
    assert parse_meminfo("") == (None, None)


@pytest.mark.parametrize("name", sorted(TOOL_TEXTS))
def test_tool_versions(name):
    text, version = TOOL_TEXTS[name]
    assert parse_tool_version(name, text) == version
    assert parse_tool_version(name, "no digits here") is None or name == "ffmpeg"


def test_cuda_toolkit():
    assert parse_cuda_json('{"cuda": {"version": "12.6.3"}, "cuda_nvcc": {"version": "12.6.85"}}') == "12.6.85"
    assert parse_cuda_json("x") is parse_cuda_json("[]") is None
