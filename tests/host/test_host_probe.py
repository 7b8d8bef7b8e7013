"""Whole machines: real ones that are bounded, and foreign ones by their files."""

from __future__ import annotations

import os
import platform
import runpy
import shutil
import stat
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path

import pytest
from host_samples import (
    GPU_INFORMATION,
    JETSON_MODULE,
    LINUX_VERSION,
    NVML_SOURCE,
    OPEN_MODULE,
    SMI,
    WSL_VERSION,
    kfd,
    write,
)

from envdoctor.adapters.probe import gpu_nvidia_child, host_facts
from envdoctor.adapters.probe.gpu_nvidia import parse_nvml
from envdoctor.adapters.probe.gpu_other import windows_adapters
from envdoctor.adapters.probe.gpu_zluda import zluda_library
from envdoctor.adapters.probe.host_facts import facts_of, probe_host
from envdoctor.adapters.probe.host_machine import Machine
from envdoctor.adapters.probe.host_overrides import FOREIGN, override_variable
from envdoctor.adapters.probe.host_system import VARIABLES
from envdoctor.adapters.probe.host_tools import TOOLS
from envdoctor.adapters.probe.host_values import CARD_FACTS, FACT_NAMES
from envdoctor.model.fact import Facts, FactState

NODES = "/sys/class/kfd/kfd/topology/nodes"


def facts(root: Path, files: dict[str, str], **environ: str) -> Facts:
    write(root, files)
    machine = Machine(root=str(root), environ={"PATH": "", **environ}, system="linux", architecture="x86_64")
    return facts_of(machine)


def program(folder: Path, name: str, script: str) -> str:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(folder)


def test_host_without_gpu(tmp_path):
    found = facts(tmp_path, {"/proc/version": LINUX_VERSION, "/proc/meminfo": "MemTotal: 1024 kB\n"})
    assert found.get("gpu.count").state is FactState.ABSENT
    assert found.get("driver.version").state is FactState.ABSENT
    assert found.get("driver.version").source == "/proc/driver/nvidia"
    assert (found.value("host.wsl"), found.value("host.memory_bytes")) == (False, 1 << 20)
    assert found.get("tool.ffmpeg.version").state is FactState.ABSENT
    assert found.get("environment.PYTHONUTF8").state is FactState.ABSENT
    assert not [fact for fact in found if fact.name.startswith("probe.")]


def test_host_nvidia_by_files_alone(tmp_path):
    found = facts(
        tmp_path,
        {
            "/proc/driver/nvidia/version": OPEN_MODULE,
            "/proc/driver/nvidia/gpus/0000:19:00.0/information": GPU_INFORMATION,
        },
    )
    assert (found.value("driver.version"), found.value("driver.cuda")) == ("580.95.05", "13.0")
    assert (found.value("gpu[0].vendor"), found.value("gpu[0].name")) == ("nvidia", "NVIDIA H100 80GB HBM3")
    capability = found.get("gpu[0].compute_capability")
    assert (capability.state, found.value("gpu.count")) == (FactState.UNKNOWN, 1)
    assert capability.reason


@pytest.mark.skipif(os.name != "posix", reason="CreateProcess starts no shell script")
def test_host_nvidia_by_smi(tmp_path):
    path = program(tmp_path / "bin", "nvidia-smi", f"cat <<'END'\n{SMI}END")
    found = facts(tmp_path, {"/proc/driver/nvidia/version": OPEN_MODULE}, PATH=f"{path}:{os.environ['PATH']}")
    assert [found.value(f"gpu[{index}].architecture") for index in (0, 1)] == ["sm_90", "sm_80"]
    assert found.get("gpu[1].compute_capability").source == "nvidia-smi"
    assert (found.value("gpu[0].mig"), found.value("gpu[1].mig")) == (False, True)


@pytest.mark.skipif(os.name != "posix", reason="CreateProcess starts no shell script")
@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("sleep 60 & sleep 60", "did not end within"),
        ("head -c 3000000 /dev/urandom", "nvidia-smi"),
        ("kill -SEGV $$", "SIGSEGV"),
        ("echo NVIDIA-SMI has failed because it could not communicate with the NVIDIA driver; exit 9", "has failed"),
        ("exit 0", "nothing"),
    ],
)
def test_host_nvidia_smi_that_hangs_or_babbles(tmp_path, script, reason):
    path = program(tmp_path / "bin", "nvidia-smi", script)
    environ = {"PATH": f"{path}{os.pathsep}{os.environ['PATH']}"}
    started = time.monotonic()
    found = probe_host(timeout_s=1.0, environ=environ)
    assert time.monotonic() - started < 30
    fact = found.get("driver.version")
    if fact.state is FactState.KNOWN:
        pytest.skip("this machine has the driver")
    assert fact.state is FactState.UNKNOWN
    assert reason in (fact.reason or "")
    assert found.value("os")


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not here")
def test_nvml_is_asked_in_a_child(tmp_path):
    built_for = subprocess.run(["gcc", "-dumpmachine"], capture_output=True, text=True, timeout=60, check=True).stdout
    if not built_for.startswith(platform.machine()):
        pytest.skip(f"the gcc here builds for {built_for.strip()}")
    source = tmp_path / "nvml.c"
    source.write_text(NVML_SOURCE)
    library = tmp_path / "libnvidia-ml.so.1"
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source], check=True, timeout=60)
    command = [sys.executable, "-I", "-S", gpu_nvidia_child.__file__, "libnone.so.1", str(library)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    answer = parse_nvml(done.stdout)
    assert (answer.driver, answer.cuda) == ("580.95.05", "13.0")
    assert answer.cards == (
        {
            "index": 0,
            "name": "NVIDIA H100",
            "compute_capability": "9.0",
            "memory_bytes": 85_899_345_920,
            "memory_free_bytes": 1024,
            "mig": True,
        },
    )


def test_host_probe_is_bounded():
    started = time.monotonic()
    found = probe_host()
    assert time.monotonic() - started < 30
    assert found.value("os")
    assert found.value("arch")


def test_host_wsl(tmp_path):
    packages = "/var/lib/dpkg/info"
    files = {
        "/proc/version": WSL_VERSION,
        "/dev/dxg": "",
        "/opt/rocm/.info/version": "6.4.2-120\n",
        f"{packages}/hsa-runtime-rocr4wsl-amdgpu.list": "",
        f"{packages}/libhsa-runtime64-1:amd64.list": "",
    }
    found = facts(tmp_path, files)
    assert found.value("host.wsl") is True
    assert found.value("device./dev/dxg") == "/dev/dxg"
    assert found.get("device./dev/kfd").state is FactState.ABSENT
    assert (found.value("rocm.version"), found.value("rocm.wsl_runtime")) == ("6.4.2", "hsa-runtime-rocr4wsl-amdgpu")
    assert found.value("system.libhsa-runtime64-1") == "libhsa-runtime64-1:amd64"


def test_host_jetson(tmp_path):
    found = facts(
        tmp_path,
        {
            "/proc/device-tree/model": "NVIDIA Jetson AGX Orin Developer Kit\0",
            "/proc/device-tree/compatible": "nvidia,p3737-0000+p3701-0005\0nvidia,tegra234\0",
            "/etc/nv_tegra_release": "# R36 (release), REVISION: 4.3, GCID: 38968081\n",
            "/proc/driver/nvidia/version": JETSON_MODULE,
        },
    )
    assert (found.value("host.jetpack"), found.value("host.l4t")) == ("6.2", "36.4.3")
    assert (found.value("gpu[0].architecture"), found.value("gpu[0].compute_capability")) == ("sm_87", "8.7")
    assert found.get("gpu[0].compute_capability").source == "device tree"


def test_host_amd_cards(tmp_path):
    nodes = {"0": kfd(0, "cpu"), "1": kfd(100300, "navi21", 17163091968), "10": kfd(90010, "aldebaran")}
    files = {f"{NODES}/{node}/{name}": text for node, part in nodes.items() for name, text in part.items()}
    found = facts(tmp_path, {**files, "/sys/module/amdgpu/version": "6.12.12\n"})
    assert [found.value(f"gpu[{index}].architecture") for index in (0, 1)] == ["gfx1030", "gfx90a"]
    assert (found.value("gpu[0].memory_bytes"), found.value("gpu.count")) == (17163091968, 2)
    assert found.value("amdgpu.version") == "6.12.12"


def test_host_cards_of_several_vendors_are_numbered_in_one_row(tmp_path):
    files = {f"{NODES}/1/{name}": text for name, text in kfd(110000, "navi31").items()}
    found = facts(
        tmp_path,
        {
            **files,
            "/proc/driver/nvidia/version": OPEN_MODULE,
            "/proc/driver/nvidia/gpus/0/information": GPU_INFORMATION,
            "/sys/class/drm/card1/device/vendor": "0x8086\n",
            "/sys/class/drm/card1/device/device": "0x56a0\n",
            "/sys/class/drm/card1/device/uevent": "DRIVER=xe\nPCI_CLASS=30000\n",
            "/sys/class/drm/card1-DP-1/status": "connected\n",
        },
    )
    assert [found.value(f"gpu[{index}].vendor") for index in range(3)] == ["nvidia", "amd", "intel"]
    assert (found.value("gpu[2].driver"), found.value("gpu.count")) == ("xe", 3)


def test_host_windows_by_its_registry(tmp_path, monkeypatch):
    adapters = [
        {"name": "AMD Radeon(TM) Graphics", "vendor": "amd", "driver_version": "32.0.12033.1030"},
        {"name": "NVIDIA GeForce RTX 5080", "vendor": "nvidia", "driver_version": "580.97", "memory_bytes": 1 << 34},
    ]
    monkeypatch.setattr(host_facts, "windows_adapters", lambda _machine: adapters)
    hip = r"C:\Program Files\AMD\ROCm\6.2"
    machine = Machine(root=str(tmp_path), environ={"PATH": "", "HIP_PATH": hip}, system="win32", architecture="AMD64")
    found = facts_of(machine)
    assert (found.value("os"), found.value("arch")) == ("windows", "x86_64")
    assert [found.value(f"gpu[{index}].vendor") for index in (0, 1)] == ["amd", "nvidia"]
    assert found.get("gpu[0].architecture").state is FactState.UNKNOWN
    assert (found.value("driver.version"), found.value("driver.cuda")) == ("580.97", "13.0")
    assert (found.value("rocm.version"), found.get("library.amdhip64_7").state) == ("6.2", FactState.ABSENT)


class _Registry:
    """The display adapters of a Windows registry, as ``winreg`` shows them."""

    HKEY_LOCAL_MACHINE = 0

    def __init__(self, *adapters: dict[str, object]) -> None:
        self.adapters = adapters

    def OpenKey(self, parent, name):  # noqa: N802 - winreg's name
        if not parent:
            return nullcontext(self)
        if int(name) >= len(self.adapters):
            raise FileNotFoundError(name)
        return nullcontext(list(self.adapters[int(name)].items()))

    def QueryInfoKey(self, key):  # noqa: N802 - winreg's name
        return 0, len(key), 0

    def EnumValue(self, key, index):  # noqa: N802 - winreg's name
        return (*key[index], 1)


def test_host_windows_adapters_without_those_that_draw_in_software(tmp_path, monkeypatch):
    card = {"DriverDesc": "NVIDIA GeForce RTX 5080", "MatchingDeviceId": "pci\\ven_10de&dev_2c02"}
    registry = _Registry(
        {**card, "DriverVersion": "32.0.15.8097", "HardwareInformation.qwMemorySize": 16 << 30},
        {"DriverDesc": "Microsoft Basic Render Driver", "MatchingDeviceId": "ROOT\\BASICRENDER"},
    )
    monkeypatch.setitem(sys.modules, "winreg", registry)
    (found,) = windows_adapters(Machine(root=str(tmp_path), environ={}, system="win32", architecture="AMD64"))
    assert (found["vendor"], found["driver_version"], found["memory_bytes"]) == ("nvidia", "580.97", 16 << 30)


def test_host_source_that_fails_costs_its_own_facts_alone(tmp_path, monkeypatch):
    def broken(_machine):
        raise RuntimeError("odd machine")

    monkeypatch.setattr(host_facts, "apple_card", broken)
    found = facts(tmp_path, {"/proc/driver/nvidia/version": OPEN_MODULE})
    assert found.get("probe.other").reason == "RuntimeError: odd machine"
    assert found.value("driver.version") == "580.95.05"


@pytest.mark.parametrize(
    ("variable", "value", "name", "expected"),
    [
        ("ENVDOCTOR_FACT_GPU_0_COMPUTE_CAPABILITY", "12.0", "gpu[0].compute_capability", "12.0"),
        ("ENVDOCTOR_FACT_GPU_0_MEMORY_BYTES", "1024", "gpu[0].memory_bytes", 1024),
        ("ENVDOCTOR_FACT_HOST_WSL", "true", "host.wsl", True),
        ("ENVDOCTOR_FACT_TORCH_ARCH_LIST", "sm_80 sm_90", "torch.arch_list", ["sm_80", "sm_90"]),
        ("ENVDOCTOR_FACT_TOOL_CMAKE_VERSION", "4.0.1", "tool.cmake.version", "4.0.1"),
        ("ENVDOCTOR_FACT_DEVICE_DEV_DXG", "/dev/dxg", "device./dev/dxg", "/dev/dxg"),
        ("CONDA_OVERRIDE_CUDA", "12.4", "driver.cuda", "12.4"),
        ("UV_CUDA_DRIVER_VERSION", "525.60.13", "driver.version", "525.60.13"),
        ("NV_VARIANT_PROVIDER_FORCE_CUDA_DRIVER_VERSION", "12.8", "driver.cuda", "12.8"),
        ("NV_VARIANT_PROVIDER_FORCE_SM_ARCH", "9.0", "gpu[0].architecture", "sm_90"),
        ("NV_VARIANT_PROVIDER_FORCE_SM_ARCH", "120", "gpu[0].compute_capability", "12.0"),
        ("ROCM_BOOTSTRAP_FORCE_GFX_ARCH", "gfx1100", "gpu[0].architecture", "gfx1100"),
    ],
)
def test_host_overrides(tmp_path, variable, value, name, expected):
    fact = facts(tmp_path, {}, **{variable: value}).get(name)
    assert (fact.state, fact.value, fact.overridden_by) == (FactState.KNOWN, expected, variable)


def test_host_override_by_nothing_means_absent_and_our_own_counts_most(tmp_path):
    fact = facts(tmp_path, {"/proc/driver/nvidia/version": OPEN_MODULE}, ENVDOCTOR_FACT_DRIVER_VERSION="").get(
        "driver.version"
    )
    assert (fact.state, fact.overridden_by) == (FactState.ABSENT, "ENVDOCTOR_FACT_DRIVER_VERSION")
    both = facts(tmp_path, {}, CONDA_OVERRIDE_CUDA="12.4", ENVDOCTOR_FACT_DRIVER_CUDA="13.0")
    assert both.value("driver.cuda") == "13.0"


def test_host_zluda_is_known_by_what_it_asks_for_and_by_its_name(tmp_path):
    pe = runpy.run_path(str(Path(__file__).parents[1] / "binary" / "binary_samples.py"))["pe"]
    (tmp_path / "nvcuda.dll").write_bytes(pe(needed=("amdhip64_6.dll", "KERNEL32.dll")))
    (tmp_path / "cublas64_11.dll").write_bytes(pe(sections={".text": b"zluda_blas\0amdhip64_7.dll\0"}))
    (tmp_path / "nvrtc64_112_0.dll").write_bytes(pe(needed=("KERNEL32.dll",)))
    assert zluda_library(tmp_path / "nvcuda.dll") == (True, "amdhip64_6.dll")
    assert zluda_library(tmp_path / "cublas64_11.dll") == (True, "amdhip64_7.dll")
    assert zluda_library(tmp_path / "nvrtc64_112_0.dll") == (False, None)
    assert zluda_library(tmp_path / "none.dll") == (False, None)
    found = facts(tmp_path, {}, ZLUDA_PATH=str(tmp_path))
    assert [Path(item).name for item in found.value("zluda.libraries")] == ["nvcuda.dll", "cublas64_11.dll"]
    assert found.value("zluda.hip_library") in ("amdhip64_6.dll", "amdhip64_7.dll")


def test_every_fact_is_documented():
    text = (Path(__file__).parents[2] / "docs" / "facts.md").read_text(encoding="utf-8")
    names = [*FACT_NAMES, *(f"gpu[N].{item}" for item in CARD_FACTS)]
    assert [name for name in names if f"`{name}`" not in text] == []
    assert [name for name in (*FOREIGN, *VARIABLES, *TOOLS) if f"`{name}`" not in text] == []
    assert [name for name in FACT_NAMES if override_variable(name) not in text] == []


def test_every_measured_fact_has_a_documented_name(tmp_path):
    found = probe_host()
    known = {*FACT_NAMES}
    strange = [
        fact.name
        for fact in found
        if fact.name not in known and not fact.name.startswith(("gpu[", "tool.", "environment."))
    ]
    assert strange == []


def test_a_library_that_a_variable_names_is_there_if_it_is(tmp_path):
    environ = {"PHONEMIZER_ESPEAK_LIBRARY": "/opt/espeak/libespeak-ng.so.1"}
    assert facts(tmp_path, {"/proc/version": LINUX_VERSION}, **environ).value("library.libespeak-ng") is None
    found = facts(tmp_path, {"/opt/espeak/libespeak-ng.so.1": ""}, **environ).get("library.libespeak-ng")
    assert (found.value, found.source) == ("/opt/espeak/libespeak-ng.so.1", "PHONEMIZER_ESPEAK_LIBRARY")
