"""Absent means "looked, and there is none"; unknown means "could not look". No source may take one for the other."""

from __future__ import annotations

import json
import os
import stat
import sys
import threading
import time
import venv
from pathlib import Path

import pytest
from host_samples import GPU_INFORMATION, LINUX_VERSION, OPEN_MODULE, SMI, WSL_VERSION, kfd, write

from envdoctor.adapters.probe import gpu_nvidia, host_facts
from envdoctor.adapters.probe.binary_loader import loader_gap
from envdoctor.adapters.probe.gpu_nvidia import NvidiaAnswer, parse_nvml, parse_smi
from envdoctor.adapters.probe.host_facts import facts_of
from envdoctor.adapters.probe.host_machine import Machine
from envdoctor.adapters.probe.host_tools import parse_tool_version
from envdoctor.cli.main import main
from envdoctor.model.fact import Facts, FactState
from envdoctor.verbs.host import cards_were_asked

NODES = "/sys/class/kfd/kfd/topology/nodes"
posix = pytest.mark.skipif(os.name != "posix", reason="CreateProcess starts no shell script")


def long_enough(reason: str, short: float) -> float:
    """Return seconds: few for what never ends; a busy machine needs more for what does."""
    return short if "did not end within" in reason else 20.0


def facts(root: Path, files: dict[str, str] | None = None, *, seconds: float = 5.0, **environ: str) -> Facts:
    write(root, files or {})
    machine = Machine(
        root=str(root),
        environ={"PATH": "", **environ},
        system="linux",
        architecture="x86_64",
        deadline=time.monotonic() + seconds,
        grace_s=1.0,
    )
    return facts_of(machine)


def fake(folder: Path, name: str, script: str) -> str:
    """Write a program and return a PATH on which it comes first."""
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def loop(root: Path, path: str) -> None:
    """Make a path that cannot be looked at, for root neither: a link to itself."""
    target = root / path.lstrip("/")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.symlink_to(target)


BROKEN = [
    ("sleep 60 & sleep 60", "did not end within"),
    ("trap '' TERM INT; while :; do sleep 1; done", "did not end within"),
    ("kill -SEGV $$", "SIGSEGV"),
    ("head -c 300000 /dev/zero", "nvidia-smi says"),
    ("head -c 300000 /dev/zero | tr '\\0' a", "nvidia-smi says `aaa"),
    ("printf '\\000\\033]0;x\\007\\n'", "nvidia-smi says"),
    ("echo '\u00b2, card, 1, 9.0, 1, 1, x'", "nvidia-smi says"),
    ("exit 0", "nvidia-smi says nothing"),
    ("echo 'Failed to initialize NVML: Driver/library version mismatch' >&2; exit 18", "version mismatch"),
    ("exec /nonexistent/program", "nvidia-smi says"),
    ("yes", "did not end within"),
    ("echo '0, X, 580.1, 9.0, 1, 1, Enabled'; sleep 60", "did not end within"),
]


@posix
@pytest.mark.parametrize(("script", "reason"), BROKEN)
def test_where_nvidia_smi_fails_nobody_knows_the_cards_or_the_driver(tmp_path, script, reason):
    path = fake(tmp_path / "bin", "nvidia-smi", script)
    started = time.monotonic()
    found = facts(tmp_path / "root", seconds=long_enough(reason, 1.0), PATH=path)
    assert time.monotonic() - started < 30
    for name in ("gpu.count", "driver.version", "driver.cuda"):
        fact = found.get(name)
        assert (fact.state, reason in (fact.reason or "")) == (FactState.UNKNOWN, True), (name, fact)
        assert (fact.reason or "").isprintable()
    assert not [fact for fact in found if fact.name.startswith("probe.")]


@posix
def test_an_nvidia_smi_that_is_no_program_is_no_answer(tmp_path):
    path = fake(tmp_path / "bin", "nvidia-smi", "")
    (tmp_path / "bin" / "nvidia-smi").write_bytes(b"\x7fELF\0\0\0 not really")
    fact = facts(tmp_path / "root", PATH=path).get("gpu.count")
    assert (fact.state, fact.reason) == (FactState.UNKNOWN, "nvidia-smi: Exec format error")


@posix
def test_an_nvidia_smi_that_finds_no_device_has_looked(tmp_path):
    path = fake(tmp_path / "bin", "nvidia-smi", "echo No devices were found; exit 6")
    found = facts(tmp_path / "root", {"/proc/driver/nvidia/version": OPEN_MODULE}, PATH=path)
    assert (found.get("gpu.count").state, found.value("driver.version")) == (FactState.ABSENT, "580.95.05")
    without = facts(tmp_path / "other", PATH=path)
    assert (without.get("gpu.count").state, without.get("driver.version").state) == (
        FactState.ABSENT,
        FactState.UNKNOWN,
    )


def test_a_card_that_has_fallen_off_the_bus_makes_the_count_unknown_and_leaves_the_other():
    text = f"{SMI.splitlines()[0]}\nUnable to determine the device handle for GPU 0000:02:00.0: Unknown Error\n"
    answer = parse_smi(text)
    assert (len(answer.cards), answer.failure) == (1, None)
    assert "Unable to determine" in (answer.uncounted or "")
    assert parse_smi(f"{SMI}WARNING: infoROM is corrupted at gpu 0000:19:00.0\n").uncounted is None


@posix
def test_a_count_that_is_not_whole_says_how_many_were_found(tmp_path):
    text = f"{SMI.splitlines()[0]}\nUnable to determine the device handle for GPU 0000:02:00.0: Unknown Error"
    path = fake(tmp_path / "bin", "nvidia-smi", f"cat <<'END'\n{text}\nEND")
    found = facts(tmp_path / "root", PATH=path)
    assert found.value("gpu[0].architecture") == "sm_90"
    assert (found.get("gpu.count").reason or "").startswith("1 found; nvidia-smi says `Unable")


@posix
def test_the_kernels_list_of_cards_answers_where_nvidia_smi_hangs(tmp_path):
    path = fake(tmp_path / "bin", "nvidia-smi", "sleep 60")
    files = {
        "/proc/driver/nvidia/version": OPEN_MODULE,
        "/proc/driver/nvidia/gpus/0000:19:00.0/information": GPU_INFORMATION,
    }
    found = facts(tmp_path / "root", files, seconds=0.5, PATH=path)
    assert (found.value("gpu.count"), found.value("gpu[0].name")) == (1, "NVIDIA H100 80GB HBM3")
    for key in ("architecture", "compute_capability", "memory_bytes", "memory_free_bytes", "mig"):
        fact = found.get(f"gpu[0].{key}")
        assert (fact.state, "did not end within" in (fact.reason or "")) == (FactState.UNKNOWN, True)
        assert fact.timed_out
    assert not cards_were_asked(found)
    assert not any(fact.timed_out for fact in found if fact.state is not FactState.UNKNOWN)


def test_a_driver_whose_cards_nothing_tells_leaves_their_number_open(tmp_path):
    found = facts(tmp_path, {"/proc/driver/nvidia/version": OPEN_MODULE})
    assert found.get("gpu.count").state is FactState.UNKNOWN
    (tmp_path / "proc/driver/nvidia/gpus").mkdir()
    assert facts(tmp_path).get("gpu.count").state is FactState.ABSENT


@pytest.mark.parametrize("text", ["", "NVRM version: who knows\n", "\0\0\0"])
def test_a_driver_that_does_not_say_its_version_is_not_absent(tmp_path, text):
    found = facts(tmp_path, {"/proc/driver/nvidia/version": text})
    for name in ("driver.version", "driver.cuda", "gpu.count"):
        fact = found.get(name)
        assert (fact.state, fact.reason) == (FactState.UNKNOWN, "/proc/driver/nvidia/version says no version")


def test_nvml_that_fails_leaves_the_cards_open(tmp_path, monkeypatch):
    failed = NvidiaAnswer("nvml", failure="NVML: did not end within 3 s")
    monkeypatch.setattr(gpu_nvidia, "_ask_nvml", lambda _machine: failed)
    found = facts(tmp_path, {"/proc/driver/nvidia/version": OPEN_MODULE})
    assert found.value("driver.version") == "580.95.05"
    assert found.get("gpu.count").reason == "NVML: did not end within 3 s"


def test_nvml_that_cannot_count_is_no_zero(tmp_path, monkeypatch):
    answer = parse_nvml('{"driver": "580.95.05", "cuda": "13.0", "uncounted": "Unknown Error"}')
    monkeypatch.setattr(gpu_nvidia, "_ask_nvml", lambda _machine: answer)
    found = facts(tmp_path, {"/proc/driver/nvidia/version": OPEN_MODULE})
    assert found.get("gpu.count").reason == "NVML: Unknown Error"
    assert parse_nvml("[" * 100000).failure == "NVML's answer cannot be read"
    assert parse_nvml('{"driver": ["x"], "cuda": "banana"}').driver is None


@posix
def test_a_driver_of_thousands_of_digits_is_none(tmp_path):
    script = "printf '0, X, %s.1, 9.0, 1, 1, Enabled\\n' $(head -c 9999 /dev/zero | tr '\\0' 9)"
    found = facts(tmp_path / "root", PATH=fake(tmp_path / "bin", "nvidia-smi", script))
    assert (found.value("gpu.count"), found.get("driver.version").state) == (1, FactState.UNKNOWN)
    files = {"/opt/rocm/.info/version": "9" * 9999, "/etc/nv_tegra_release": f"# R{'9' * 9999} (release), REVISION: 1"}
    odd = facts(tmp_path / "odd", files)
    assert (odd.get("rocm.version").state, odd.get("host.l4t").state) == (FactState.UNKNOWN, FactState.UNKNOWN)


def test_an_old_driver_whose_cuda_is_in_no_table_leaves_it_open(tmp_path):
    module = OPEN_MODULE.replace("580.95.05", "390.157")
    fact = facts(tmp_path, {"/proc/driver/nvidia/version": module}).get("driver.cuda")
    assert (fact.state, fact.reason) == (FactState.UNKNOWN, "what CUDA driver 390.157 runs is not known")


def test_a_card_of_nvidia_that_another_driver_runs_is_not_nothing(tmp_path):
    folder = "/sys/class/drm/card0/device"
    card = {f"{folder}/vendor": "0x10de\n", f"{folder}/device": "0x2684\n", f"{folder}/uevent": "DRIVER=nouveau\n"}
    found = facts(tmp_path, card)
    assert found.get("gpu.count").reason == f"{folder}: nvidia 2684 (nouveau): a card without NVIDIA's driver"
    assert found.get("driver.version").state is FactState.ABSENT


@posix
@pytest.mark.parametrize(
    ("script", "state", "reason"),
    [
        ("sleep 60", FactState.UNKNOWN, "rocminfo: did not end within"),
        ("kill -ABRT $$", FactState.UNKNOWN, "rocminfo: SIGABRT"),
        ("echo hsa api call failure at: rocminfo.cc:1282; exit 16", FactState.UNKNOWN, "hsa api call failure"),
        ("head -c 200000 /dev/urandom", FactState.UNKNOWN, "rocminfo says"),
        ("exit 0", FactState.UNKNOWN, "rocminfo says nothing"),
        ("echo 'ROCk module is NOT loaded, possibly no GPU devices'; exit 1", FactState.ABSENT, ""),
        ("printf 'Agent 1\\n  Name:   Ryzen\\n  Device Type:  CPU\\n'", FactState.ABSENT, ""),
        ("printf 'Agent 1\\n  Name:   gfx\\033[31m\\n  Device Type:  GPU\\n'", FactState.ABSENT, ""),
    ],
)
def test_where_rocminfo_fails_nobody_knows_the_cards(tmp_path, script, state, reason):
    path = fake(tmp_path / "bin", "rocminfo", script)
    fact = facts(tmp_path / "root", seconds=long_enough(reason, 0.7), PATH=path).get("gpu.count")
    assert (fact.state, reason in (fact.reason or "")) == (state, True)


@posix
def test_rocminfo_of_wsl_that_reaches_no_card_leaves_the_cards_open(tmp_path):
    path = fake(tmp_path / "bin", "rocminfo", "echo 'ROCk module is NOT loaded, possibly no GPU devices'; exit 1")
    wsl = {"/proc/version": WSL_VERSION, "/dev/dxg": ""}
    assert facts(tmp_path / "root", wsl, PATH=path).get("gpu.count").state is FactState.UNKNOWN
    bare = facts(tmp_path / "bare", wsl).get("gpu.count")
    assert bare.reason == "/dev/dxg is there, and no program that tells the cards behind it"


@posix
def test_the_graphics_drivers_list_answers_where_rocminfo_fails(tmp_path):
    path = fake(tmp_path / "bin", "rocminfo", "exit 3")
    folder = "/sys/class/drm/card0/device"
    found = facts(tmp_path / "root", {f"{folder}/vendor": "0x1002\n", f"{folder}/device": "0x73df\n"}, PATH=path)
    assert found.value("gpu.count") == 1
    assert found.get("gpu[0].architecture").reason == "rocminfo says nothing"


def test_kernel_files_with_odd_numbers_cost_nothing_else(tmp_path):
    odd = {f"{NODES}/1/properties": f"gfx_target_version \u00b2\nsimd_count {'9' * 5000}\n"}
    good = {f"{NODES}/2/{name}": text for name, text in kfd(110000, "navi31").items()}
    found = facts(tmp_path, {**odd, **good, "/proc/meminfo": f"MemTotal: {'9' * 5000} kB\n"})
    assert (found.value("gpu[0].architecture"), found.value("gpu.count")) == ("gfx1100", 1)
    assert found.get("host.memory_bytes").state is FactState.UNKNOWN


@posix
@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("/proc/driver/nvidia/version", ("driver.version", "driver.cuda", "gpu.count")),
        (NODES, ("gpu.count",)),
        ("/sys/class/drm", ("gpu.count",)),
        ("/sys/module/amdgpu", ("amdgpu.version",)),
        ("/opt/rocm", ("rocm.version",)),
        ("/opt/rocm/lib", ("rocm.wsl_runtime",)),
        ("/var/lib/dpkg/info", ("system.libhsa-runtime64-1",)),
        ("/usr/local", ("cuda.toolkits",)),
        ("/dev/kfd", ("device./dev/kfd",)),
        ("/dev/dxg", ("device./dev/dxg",)),
        ("/proc/device-tree/compatible", ("host.jetson", "host.tegra")),
        ("/etc/nv_tegra_release", ("host.l4t", "host.jetpack")),
        ("/proc/version", ("host.wsl",)),
        ("/proc/sys/kernel/osrelease", ("host.kernel",)),
        ("/etc/os-release", ("host.distribution",)),
        ("/proc/meminfo", ("host.memory_bytes", "host.memory_available_bytes")),
    ],
)
def test_what_cannot_be_looked_at_is_unknown_with_the_reason(tmp_path, path, names):
    loop(tmp_path, path)
    found = facts(tmp_path)
    for name in names:
        fact = found.get(name)
        assert (fact.state, "symbolic links" in (fact.reason or "")) == (FactState.UNKNOWN, True), fact


def test_a_machine_without_any_of_it_has_looked_everywhere(tmp_path):
    found = facts(tmp_path, {"/proc/version": LINUX_VERSION})
    names = ("gpu.count", "driver.version", "driver.cuda", "amdgpu.version", "rocm.version", "rocm.wsl_runtime",
             "host.jetson", "host.tegra", "host.l4t", "host.jetpack", "host.macos", "cuda.toolkits",
             "zluda.libraries", "zluda.hip_library", "device./dev/kfd")  # fmt: skip
    assert {name: found.get(name).state for name in names} == dict.fromkeys(names, FactState.ABSENT)
    for name in ("library.amdhip64_7", "library.libavutil", "host.glibc"):
        assert "another root" in (found.get(name).reason or "")


@pytest.mark.parametrize(
    ("files", "unknowns"),
    [
        ({"/etc/nv_tegra_release": "# R36 (release), REVISION: 4.3, GCID: 1\n"}, ("host.jetson", "host.tegra")),
        ({"/etc/nv_tegra_release": "# R99 (release), REVISION: 1.0, GCID: 1\n"}, ("host.jetpack",)),
        ({"/etc/nv_tegra_release": "banana\n"}, ("host.l4t", "host.jetpack")),
        ({"/proc/device-tree/compatible": "nvidia,tegra264\n"}, ("host.l4t", "host.jetpack")),
        ({"/usr/local/cuda/bin/nvcc": ""}, ("cuda.toolkits",)),
        ({"/usr/local/cuda/version.json": "[" * 100000}, ("cuda.toolkits",)),
        ({"/opt/rocm/.info/version": "banana"}, ("rocm.version",)),
        ({"/etc/os-release": "NAME=x\n"}, ("host.distribution",)),
    ],
)
def test_a_source_that_does_not_say_leaves_it_open(tmp_path, files, unknowns):
    found = facts(tmp_path, files)
    assert {name: found.get(name).state for name in unknowns} == dict.fromkeys(unknowns, FactState.UNKNOWN)
    assert not any(found.get(name).reason == "not probed" for name in unknowns)


def test_windows_lists_its_cards_itself(tmp_path, monkeypatch):
    failed = NvidiaAnswer("nvml", failure="NVML: exception 0xC0000005")
    monkeypatch.setattr(gpu_nvidia, "_ask_nvml", lambda _machine: failed)
    machine = Machine(root=str(tmp_path), environ={"PATH": "", "HIP_PATH": "D:\\hip"}, system="win32")
    monkeypatch.setattr(host_facts, "windows_adapters", lambda _machine: [])
    found = facts_of(machine)
    assert (found.get("gpu.count").state, found.get("driver.version").state) == (FactState.ABSENT, FactState.UNKNOWN)
    assert (found.value("hip_sdk.path"), found.get("rocm.version").state) == ("D:\\hip", FactState.UNKNOWN)

    def locked(_machine: Machine) -> list[dict[str, object]]:
        raise PermissionError(13, "Access is denied")

    monkeypatch.setattr(host_facts, "windows_adapters", locked)
    assert facts_of(machine).get("gpu.count").reason == "the registry's display adapters: Access is denied"


@pytest.mark.skipif(sys.platform == "win32", reason="there a drive is no folder of the test's")
def test_toolkits_of_windows_lie_below_its_programs(tmp_path, monkeypatch):
    monkeypatch.setattr(host_facts, "windows_adapters", lambda _machine: [])
    toolkits = tmp_path / "programs/NVIDIA GPU Computing Toolkit/CUDA"
    (toolkits / "v12.4").mkdir(parents=True)
    (toolkits / "v13.0").mkdir()
    (toolkits / "v13.0/version.json").write_text('{"cuda": {"version": "13.0.2"}}')
    # What lies where Linux has it is nobody's there.
    (tmp_path / "usr/local/cuda/bin").mkdir(parents=True)
    (tmp_path / "usr/local/cuda/bin/nvcc").touch()
    machine = Machine(root=str(tmp_path), environ={"PATH": "", "PROGRAMFILES": "/programs"}, system="win32")
    found = facts_of(machine)
    assert found.value("cuda.toolkits") == ["12.4", "13.0.2"]
    assert found.get("tool.nvcc.path").state is FactState.ABSENT


@pytest.mark.skipif(sys.platform != "linux", reason="there sysctl answers, or is a program of another system")
def test_a_mac_whose_sysctl_does_not_answer_leaves_its_card_open(tmp_path):
    machine = Machine(root=str(tmp_path), environ={"PATH": ""}, system="darwin", architecture="arm64")
    found = facts_of(machine)
    assert (found.get("gpu.count").reason or "").startswith("sysctl: ")
    assert (found.get("host.glibc").state, found.get("host.memory_bytes").state) == (
        FactState.ABSENT,
        FactState.UNKNOWN,
    )


def test_a_source_that_fails_leaves_the_cards_open(tmp_path, monkeypatch):
    def broken(_machine: Machine) -> list[object]:
        raise RuntimeError("odd machine")

    monkeypatch.setattr(host_facts, "amd_cards", broken)
    fact = facts(tmp_path).get("gpu.count")
    assert (fact.state, fact.reason) == (FactState.UNKNOWN, "RuntimeError: odd machine")


@pytest.mark.parametrize("source", ["amd_cards", "zluda_facts", "library_facts", "windows_adapters"])
def test_a_source_that_never_ends_is_left_behind(tmp_path, monkeypatch, source):
    stop = threading.Event()
    monkeypatch.setattr(host_facts, source, lambda *_: stop.wait(60))
    started = time.monotonic()
    found = facts(tmp_path, {"/proc/version": LINUX_VERSION}, seconds=0.1)
    stop.set()
    assert time.monotonic() - started < 30
    (probe,) = (fact for fact in found if fact.name.startswith("probe."))
    assert "did not end within" in (probe.reason or "")
    assert probe.timed_out
    assert found.value("os") == "linux"


@posix
def test_pipes_in_the_place_of_files_are_not_opened(tmp_path):
    root = tmp_path / "root"
    for path in ("/opt/rocm/.info/version", "/proc/driver/nvidia/version", "/proc/meminfo", "/etc/os-release"):
        (root / path.lstrip("/")).parent.mkdir(parents=True, exist_ok=True)
        os.mkfifo(root / path.lstrip("/"))
    os.mkfifo(tmp_path / "nvcuda.dll")
    started = time.monotonic()
    found = facts(root, seconds=60.0, CUDA_HOME=str(tmp_path), ZLUDA_PATH=str(tmp_path))
    assert time.monotonic() - started < 30
    assert found.get("rocm.version").state is FactState.UNKNOWN


@posix
def test_a_zluda_library_that_cannot_be_opened_may_be_one(tmp_path):
    loop(tmp_path, "nvcuda.dll")
    found = facts(tmp_path / "root", ZLUDA_PATH=str(tmp_path))
    assert (found.get("zluda.libraries").state, found.get("zluda.hip_library").state) == (
        FactState.UNKNOWN,
        FactState.UNKNOWN,
    )


@posix
@pytest.mark.parametrize(
    ("name", "script", "reason"),
    [
        ("cmake", "sleep 60", "cmake: did not end within"),
        ("cmake", "echo 'cmake: error while loading shared libraries: libx.so.1.2' >&2; exit 127", "exit status 127"),
        ("git", "echo 'git: exists in these Python versions: 3.10.2'; exit 127", "exit status 127"),
        ("rustc", "echo no default toolchain 1.2.3", "does not say its version"),
        ("ninja", "head -c 2000000 /dev/urandom", "does not say its version"),
        ("g++", "kill -KILL $$", "SIGKILL"),
        ("g++", "echo banana; echo 5", "does not say its version"),
        ("gcc", "head -c 9999 /dev/zero | tr '\\0' 9", "does not say its version"),
        ("ffmpeg", "printf 'ffmpeg version \\033[31m\\n'", "does not say its version"),
    ],
)
def test_a_program_that_is_broken_is_there_without_a_version(tmp_path, name, script, reason):
    path = fake(tmp_path / "bin", name, script)
    found = facts(tmp_path / "root", seconds=long_enough(reason, 1.5), PATH=path)
    fact = found.get(f"tool.{name}.version")
    assert (fact.state, reason in (fact.reason or "")) == (FactState.UNKNOWN, True), fact
    assert found.value(f"tool.{name}.path") == str(tmp_path / "bin" / name)


@pytest.mark.parametrize(
    ("name", "text", "version"),
    [
        ("pkg-config", "1.8.1\n", "1.8.1"),
        ("gcc", "12\n", "12"),
        ("cmake", "cmake version 3.31.6-msvc6\r\n\r\nCMake suite\r\n", "3.31.6"),
        ("git", "git version 2.39.5 (Apple Git-154)\n", "2.39.5"),
        ("ffmpeg", "ffmpeg version N-117986-g5a5c5ec3a9-20241203 Copyright\n", "N-117986-g5a5c5ec3a9-20241203"),
        ("pkg-config", "", None),
    ],
)
def test_what_sound_programs_say(name, text, version):
    assert parse_tool_version(name, text) == version


def test_a_loader_without_its_cache_may_know_more_than_its_folders_show(tmp_path):
    (tmp_path / "odd").write_bytes(b"banana")
    assert loader_gap(str(tmp_path / "odd")) == f"{tmp_path / 'odd'} is not a loader's cache"
    if hasattr(os, "confstr") and sys.platform == "linux" and os.confstr("CS_GNU_LIBC_VERSION"):
        assert loader_gap(str(tmp_path / "none")) == f"{tmp_path / 'none'} is not there"


def test_a_disk_that_is_not_there_is_not_measured(tmp_path):
    machine = Machine(root=str(tmp_path), environ={"PATH": ""}, system="linux")
    fact = facts_of(machine, disk_at=str(tmp_path / "none")).get("host.disk_free_bytes")
    assert fact.state is FactState.UNKNOWN
    assert fact.reason == "No such file or directory" or (
        os.name == "nt" and fact.reason
    )  # In the user's language there.


@posix
@pytest.mark.skipif(Path("/proc/driver/nvidia/version").exists(), reason="this machine has the driver")
def test_a_check_whose_nvidia_smi_hangs_is_not_complete_and_says_why(tmp_path, monkeypatch, capsys):
    venv.create(tmp_path / "env")
    monkeypatch.setenv("PATH", fake(tmp_path / "bin", "nvidia-smi", "sleep 60"))
    monkeypatch.setenv("ENVDOCTOR_FACT_TORCH_IS_AVAILABLE", "no")
    assert main(["check", "--offline", "--env", str(tmp_path / "env"), "--format", "json"]) == 3
    out, err = capsys.readouterr()
    assert json.loads(out)["complete"] is False
    assert err == "note: `driver.version` is not known: nvidia-smi: did not end within 3 s\n"


@posix
@pytest.mark.skipif(Path("/proc/driver/nvidia/version").exists(), reason="this machine has the driver")
def test_a_host_whose_nvidia_smi_hangs_could_not_be_checked(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PATH", fake(tmp_path / "bin", "nvidia-smi", "sleep 60"))
    assert main(["host", "--timeout", "1", "--format", "json"]) == 3
    report = json.loads(capsys.readouterr().out)
    count = next(item for item in report["facts"] if item["name"] == "gpu.count")
    assert (report["complete"], count["state"]) == (False, "unknown")
